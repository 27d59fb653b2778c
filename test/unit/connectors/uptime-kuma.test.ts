import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { PullMemory } from '../../../src/sync/connector.ts';
import { uptimeKuma } from '../../../src/sync/connectors/uptime-kuma/connector.ts';
import { contextOf, drive, failure, NOW, type Respond, refusal } from '../../helpers/drive.ts';
import { loadCases, respondWith } from '../../helpers/upstream-cases.ts';

type Row = Readonly<Record<string, unknown>>;

/** As Kuma writes an instant: UTC, without saying so. */
const utc = (ago: number): string =>
  toIso(toEpochMs(NOW - ago))
    .replace('T', ' ')
    .replace('Z', '');
const beat = (status: unknown, ago: number, more: Row = {}): Row => ({
  status,
  time: utc(ago),
  msg: '',
  ping: 12,
  ...more,
});
/** The last of them this long ago, one a minute. */
const beats = (lastAgo: number, ...statuses: readonly unknown[]): Row[] =>
  statuses.map((status, index) => beat(status, lastAgo + (statuses.length - 1 - index) * MINUTE_MS));
const incident = (more: Row = {}): Row => ({
  id: 7,
  title: 'Slow',
  content: 'We look.',
  style: 'warning',
  createdDate: utc(HOUR_MS),
  ...more,
});

interface Says {
  readonly page?: Row;
  readonly monitors?: readonly Row[];
  readonly beats?: Readonly<Record<string, unknown>>;
  readonly metrics?: unknown;
  readonly history?: unknown;
}

const says =
  ({
    page = {},
    monitors = [{ id: 1, name: 'Shop', type: 'http' }],
    beats: lists = {},
    metrics,
    history = { ok: true, incidents: [] },
  }: Says): Respond =>
  ({ url }) => {
    if (url.endsWith('/metrics')) return metrics;
    if (url.endsWith('/incident-history')) return history;
    if (url.includes('/heartbeat/')) return { heartbeatList: lists, uptimeList: {} };
    return {
      config: { title: 'Acme' },
      incidents: [],
      maintenanceList: [],
      publicGroupList: [{ id: 90, monitorList: monitors }],
      ...page,
    };
  };

function pull(respond: Respond, memory: Partial<PullMemory> = {}, options: Row = {}) {
  const parsed = uptimeKuma.optionsSchema.parse({ url: 'https://kuma.test', page: 'acme', ...options });
  return drive<Learned>(uptimeKuma.pull(parsed, contextOf(memory)), respond);
}
const stateOf = async (list: unknown) => (await pull(says({ beats: { 1: list } }))).result.monitors[0]?.state;

describe('the state of a monitor', () => {
  it('is that of its newest beat, whatever the order', async () => {
    expect(await stateOf(beats(20 * SECOND_MS, 1, 0, 1))).toBe('operational');
    expect(await stateOf(beats(20 * SECOND_MS, 1, 1, 0))).toBe('major_outage');
    expect(await stateOf(beats(20 * SECOND_MS, 1, 1, 0).toReversed())).toBe('major_outage');
    expect(await stateOf(beats(20 * SECOND_MS, 1, 3))).toBe('maintenance');
  });

  it('is not known while it is pending, which is not down', async () => {
    expect(await stateOf(beats(20 * SECOND_MS, 1, 2))).toBe('unknown');
  });

  it('is as old as the beat, not as the answer: it holds for three intervals and what is cached', async () => {
    expect(await stateOf(beats(5 * MINUTE_MS, 1, 1, 1))).toBe('operational');
    expect(await stateOf(beats(6 * MINUTE_MS + SECOND_MS, 1, 1, 1))).toBe('unknown');
    const hourly = [beat(1, 3 * HOUR_MS), beat(1, 2 * HOUR_MS), beat(1, HOUR_MS)];
    expect(await stateOf(hourly)).toBe('operational');
  });

  it('holds by the usual interval, not by the shorter one of retries', async () => {
    // Every ten minutes; four retries a minute apart before it counts as down.
    const minutes = [60, 50, 40, 30, 20, 19, 18, 17, 16];
    const down = minutes.map((ago, index) => beat(index < 4 ? 1 : index < 8 ? 2 : 0, ago * MINUTE_MS));
    expect(await stateOf(down)).toBe('major_outage');
    const since = [beat(0, 36 * MINUTE_MS), ...down].map(({ status, ...more }) => ({ status, ...more }));
    expect(await stateOf(since)).toBe('major_outage');
  });

  it('holds for an hour where there is one beat, which tells no interval', async () => {
    expect(await stateOf([beat(1, HOUR_MS)])).toBe('operational');
    expect(await stateOf([beat(1, HOUR_MS + 4 * MINUTE_MS)])).toBe('unknown');
  });

  it('is not believed of the future, as times of another zone would be', async () => {
    expect(await stateOf(beats(-HOUR_MS, 1, 1))).toBe('unknown');
    expect(await stateOf(beats(-MINUTE_MS, 1, 1))).toBe('operational');
  });

  it('is unknown without beats, with the empty stretch 0 alone, and where one cannot be read', async () => {
    expect(await stateOf(undefined)).toBe('unknown');
    expect(await stateOf([])).toBe('unknown');
    expect(await stateOf([0, 0])).toBe('unknown');
    expect(await stateOf([0, ...beats(20 * SECOND_MS, 1)])).toBe('operational');
    expect(await stateOf([...beats(20 * SECOND_MS, 1), { status: 0, time: 'yesterday' }])).toBe('unknown');
    expect(await stateOf({ not: 'a list' })).toBe('unknown');
    for (const word of [4, -1, 'up', null, true]) expect(await stateOf(beats(20 * SECOND_MS, 1, word))).toBe('unknown');
  });
});

describe('the past', () => {
  it('is what the beats say, once; later only response times since', async () => {
    const respond = says({ beats: { 1: beats(0, 1, 1, 0, 0, 2, 1) } });
    const { result } = await pull(respond);
    expect(
      result.details[0]?.reportedSpans.map(({ state, from, to }) => `${state} ${(to - from) / MINUTE_MS}`),
    ).toEqual(['operational 2', 'major_outage 2']);
    const later = await pull(respond, { detailFetchedAt: new Map([['1', toEpochMs(NOW - 6 * MINUTE_MS)]]) });
    expect(later.result.details[0]).toMatchObject({ reportedSpans: [] });
    const soon = await pull(respond, { detailFetchedAt: new Map([['1', toEpochMs(NOW - MINUTE_MS)]]) });
    expect(soon.result.details).toEqual([]);
  });

  it('says nothing of a time without beats', async () => {
    const list = [...beats(3 * HOUR_MS, 1, 1, 1), ...beats(0, 1, 1, 1)];
    const { result } = await pull(says({ beats: { 1: list } }));
    expect(result.details[0]?.reportedSpans.map(({ from, to }) => (to - from) / MINUTE_MS)).toEqual([3, 2]);
  });
});

describe('a key', () => {
  const metrics = [
    '# HELP monitor_status Monitor Status (1 = UP, 0= DOWN, 2= PENDING, 3= MAINTENANCE)',
    'monitor_status{monitor_id="1",monitor_name="Shop"} 1',
    'monitor_status{monitor_id="8",monitor_name="Vault \\"in\\", a=\\\\b",monitor_type="http",monitor_url="https://vault.test/?key=x"} 0',
    'monitor_status{monitor_id="9",monitor_name="Cron",monitor_type="push"} 5',
    'monitor_response_time{monitor_id="9"} 3',
    '',
  ].join('\n');
  const respond = (text: unknown) => says({ beats: { 1: beats(0, 1) }, metrics: text });

  it('brings the monitors that are on no page, which are never public', async () => {
    const { result, questions } = await pull(respond(metrics), {}, { apiKey: 'uk1_secret-1' });
    expect(result.monitors).toMatchObject([
      { id: 'up/1', name: 'Shop', state: 'operational', isPublic: true },
      { id: 'up/8', name: 'Vault "in", a=\\b', state: 'major_outage', isPublic: false, target: null },
      { id: 'up/9', name: 'Cron', state: 'unknown', isPublic: false },
    ]);
    expect(questions.map(({ headers }) => headers['authorization'])).toEqual([
      undefined,
      undefined,
      undefined,
      `Basic ${Buffer.from(':uk1_secret-1').toString('base64')}`,
    ]);
  });

  it('reads the metrics of the running program', async () => {
    const [program] = loadCases('uptime-kuma').filter(({ name }) => name === 'ok-program');
    const { result } = await pull(respondWith(program?.answers ?? {}), {}, { apiKey: 'k' });
    expect(result.monitors.at(-1)).toMatchObject({ id: 'up/10', name: 'Vault', state: 'operational', isPublic: false });
    expect(result.problems).toEqual([]);
  });

  it('names the monitors of version 1, which have no id there, by their name', async () => {
    const old = metrics.replaceAll(/monitor_id="\d",/g, '');
    const { result } = await pull(respond(old), {}, { apiKey: 'k' });
    expect(result.monitors.map(({ id }) => id)).toEqual(['up/1', 'up/Cron', 'up/Vault "in", a=\\b']);
  });

  it('that is rejected, or brings no metrics, takes nothing from the page, and is told', async () => {
    for (const text of [
      '<!doctype html><title>Uptime Kuma</title>',
      '',
      '# HELP other x\nother 1\n',
      failure('UPSTREAM_REFUSED'),
      'skipped',
    ]) {
      const { result } = await pull(respond(text), {}, { apiKey: 'k' });
      expect(result.monitors).toMatchObject([{ id: 'up/1', state: 'operational' }]);
      expect(result.problems).toMatchObject([{ kind: 'note', place: 'metrics' }]);
      // The others were not asked: they are not gone.
      expect(result.isPartial).toBe(true);
    }
    expect((await pull(respond(metrics), {}, { apiKey: 'k' })).result.isPartial).toBe(false);
    expect((await pull(says({}))).result.isPartial).toBe(false);
  });
});

describe('what is written on the page', () => {
  it('is open while it is pinned, and over when it is not any more', async () => {
    const { result } = await pull(says({ page: { incidents: [incident()] } }));
    expect(result.incidents).toMatchObject([
      {
        id: 'up/incident/7',
        title: 'Slow',
        impact: 'minor',
        endedAt: null,
        monitors: ['up/1'],
        startedAt: NOW - HOUR_MS,
      },
    ]);
    const openStories = new Map(result.incidents.map((one) => ['incident/7', one]));
    const later = await pull(says({}), { openStories });
    expect(later.result.incidents).toMatchObject([
      { id: 'up/incident/7', status: 'resolved', endedAt: NOW, title: 'Slow' },
    ]);
    for (const page of [{ incidents: [{ id: 7 }] }, { incidents: null }]) {
      const unsure = await pull(says({ page }), { openStories });
      expect([unsure.result.incidents, unsure.result.stale]).toEqual([[], ['incidents']]);
    }
  });

  it('is read from the history of version 2, with its own end, also where it came and went between two passes', async () => {
    const past = incident({ pin: false, active: false, lastUpdatedDate: utc(40 * MINUTE_MS) });
    const history = { ok: true, incidents: [past], total: 1, nextCursor: null, hasMore: false };
    const { result } = await pull(says({ history }));
    expect(result.incidents).toMatchObject([
      { id: 'up/incident/7', status: 'resolved', startedAt: NOW - HOUR_MS, endedAt: NOW - 40 * MINUTE_MS },
    ]);
    const [known] = (await pull(says({ page: { incidents: [incident()] } }))).result.incidents;
    const openStories = new Map(known === undefined ? [] : [['incident/7', known]]);
    const ended = await pull(says({ history }), { openStories });
    expect(ended.result.incidents).toMatchObject([{ id: 'up/incident/7', endedAt: NOW - 40 * MINUTE_MS }]);
  });

  it('is read without the history where that fails, which is told, and where there is none', async () => {
    const page = { incidents: [incident()] };
    const { result } = await pull(says({ page, history: failure('UPSTREAM_FAILED') }));
    expect(result.incidents.length).toBe(1);
    expect(result.problems).toEqual([{ kind: 'note', place: 'incident-history', message: 'UPSTREAM_FAILED' }]);
    const old = await pull(says({ page: { incidents: undefined, incident: incident() } }));
    expect(old.questions.map(({ name }) => name)).toEqual(['page', 'heartbeats']);
    const none = await pull(says({ page, history: refusal(404) }));
    expect([none.result.incidents.length, none.result.problems]).toEqual([1, []]);
  });

  it('is one incident in older versions, and none where that is null', async () => {
    const { incidents: _, ...page } = { incidents: 0, incident: incident() };
    const old = await pull(says({ page: { ...page, incidents: undefined } }));
    expect(old.result.incidents.length).toBe(1);
    const none = await pull(says({ page: { incidents: undefined, incident: null } }));
    expect([none.result.incidents, none.result.stale]).toEqual([[], []]);
  });

  it('has windows of maintenance in their own zone, which hide no outage', async () => {
    const maintenanceList = [
      {
        id: 3,
        title: 'Swap',
        description: 'Soon',
        timezone: 'Europe/Berlin',
        timeslotList: [{ startDate: '2026-11-21 10:00:00', endDate: '2026-11-21 11:00:00' }],
      },
      { id: 4, title: 'By hand', timezone: 'UTC', timeslotList: [] },
      {
        id: 5,
        title: 'Odd',
        timezone: 'Mars',
        timeslotList: [{ startDate: '2026-11-21 10:00:00', endDate: '2026-11-21 11:00:00' }],
      },
    ];
    const { result } = await pull(says({ page: { maintenanceList } }));
    expect(result.maintenances).toMatchObject([
      { title: 'Swap', startsAt: Date.UTC(2026, 10, 21, 9), endsAt: Date.UTC(2026, 10, 21, 10), covers: false },
    ]);
    expect(result.problems).toMatchObject([{ kind: 'note', place: 'maintenanceList.5' }]);
  });
});
