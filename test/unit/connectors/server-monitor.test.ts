import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import type { PullMemory } from '../../../src/sync/connector.ts';
import { serverMonitor } from '../../../src/sync/connectors/server-monitor/connector.ts';
import { contextOf, drive, failure, NOW, probeOf, type Respond, refusal } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

interface World {
  readonly timestamp?: string;
  readonly monitors?: readonly Row[];
  /** Newest first. */
  readonly incidents?: readonly Row[];
  readonly details?: Readonly<Record<string, Row>>;
  readonly maintenance?: unknown;
}

const monitor = (id: number, more: Row = {}): Row => ({
  id,
  name: `Monitor ${id}`,
  type: 'http',
  target: 'https://x.test',
  status: 'up',
  is_active: 1,
  created_at: '2026-01-01 00:00:00',
  ...more,
});
const naive = (ms: number): string => new Date(ms).toISOString().slice(0, 19);
const incident = (id: number, startedMs: number, endedMs: number | null, monitorId = 1): Row => ({
  id,
  monitor_id: monitorId,
  monitor_name: `Monitor ${monitorId}`,
  target: 'https://x.test',
  started_at: naive(startedMs),
  ended_at: endedMs === null ? null : naive(endedMs),
  title: `Incident ${id}`,
  description: null,
});
const ok = (data: unknown): Row => ({ success: true, data });

/** An API over a small world; `before` may answer in its place. */
function api(world: World, before: Respond = () => undefined): Respond {
  const { timestamp = '2026-11-21T09:13:00+00:00', monitors = [monitor(1)], incidents = [], details = {} } = world;
  return (question, index) => {
    const early = before(question, index);
    if (early !== undefined) return early;
    const { pathname, searchParams } = new URL(question.url);
    const [, , resource = '', id] = pathname.split('/');
    if (resource === 'status') return ok({ status: { total: monitors.length }, active_incidents: [], timestamp });
    if (resource === 'monitors' && id === undefined) return ok({ monitors, count: monitors.length });
    if (resource === 'monitors')
      return ok({ monitor: { ...monitors.find((one) => String(one['id']) === id), ...details[id ?? ''] } });
    if (resource === 'maintenance') return world.maintenance ?? refusal(404);
    if (id !== undefined) {
      const found = incidents.find((one) => String(one['id']) === id);
      return found === undefined ? refusal(404) : ok({ incident: found });
    }
    const listed = incidents.filter(
      (one) =>
        (!searchParams.has('active') || one['ended_at'] === null) &&
        (!searchParams.has('monitor_id') || String(one['monitor_id']) === searchParams.get('monitor_id')),
    );
    return paged(listed, Number(searchParams.get('page')), Number(searchParams.get('per_page')));
  };
}

function paged(items: readonly Row[], page: number, per: number): Row {
  const pagination = {
    total: items.length,
    per_page: per,
    current_page: page,
    total_pages: Math.ceil(items.length / per),
  };
  return ok({ incidents: items.slice((page - 1) * per, page * per), pagination });
}

async function pull(respond: Respond, memory: Partial<PullMemory> = {}, options: Row = {}) {
  const parsed = serverMonitor.optionsSchema.parse({ baseUrl: 'https://edge.test/api', apiKey: 'key', ...options });
  return drive<Learned>(serverMonitor.pull(parsed, contextOf(memory)), respond);
}

const names = (questions: readonly { name: string }[]): string[] => questions.map(({ name }) => name);

describe('times without a zone', () => {
  it.each([
    ['2026-11-21T09:13:00+00:00', '2026-11-20T10:00:00.000Z'],
    ['2026-11-21T11:13:00+02:00', '2026-11-20T08:00:00.000Z'],
    ['2026-11-21T03:43:00-05:30', '2026-11-20T15:30:00.000Z'],
    ['2026-11-21T09:13:00Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-21T11:13:00+0200', '2026-11-20T08:00:00.000Z'],
  ])('take the offset of %s', async (timestamp, expected) => {
    const incidents = [{ ...incident(1, 0, null), started_at: '2026-11-20T10:00:00' }];
    const { result } = await pull(api({ timestamp, incidents }));
    expect(new Date(result.incidents[0]?.startedAt ?? 0).toISOString()).toBe(expected);
  });

  it('are in the configured zone across a change of clocks, and an offset of their own wins', async () => {
    const incidents = [
      { ...incident(1, 0, 0), started_at: '2026-10-24T12:00:00', ended_at: '2026-10-25T12:00:00' },
      { ...incident(2, 0, null), started_at: '2026-11-20T12:00:00+09:00' },
    ];
    const { result } = await pull(
      api({ timestamp: '2026-11-21T10:13:00+01:00', incidents }),
      {},
      { timezone: 'Europe/Berlin' },
    );
    expect(result.incidents.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
      [Date.UTC(2026, 9, 24, 10), Date.UTC(2026, 9, 25, 11)],
      [Date.UTC(2026, 10, 20, 3), null],
    ]);
  });

  it('without any offset to go by are refused rather than guessed', async () => {
    await expect(pull(api({ timestamp: '2026-11-21T09:13:00' }))).rejects.toMatchObject({ code: 'UPSTREAM_SHAPE' });
  });
});

describe('states', () => {
  it.each([
    [{ status: 'up' }, 'operational'],
    [{ status: 'down' }, 'major_outage'],
    [{ status: 'pending' }, 'unknown'],
    [{ status: 'paused' }, 'paused'],
    [{ status: 'UP' }, 'operational'],
    [{ status: 'up', is_active: 0 }, 'paused'],
    [{ status: 'down', is_active: '0' }, 'paused'],
    [{ status: 'up', is_active: 'maybe' }, 'unknown'],
    [{ status: 'up', is_active: null }, 'unknown'],
    [{ status: 'constructor' }, 'unknown'],
    [{ status: null }, 'unknown'],
  ])('%j is %s', async (fields, state) => {
    const { result } = await pull(api({ monitors: [monitor(1, fields)] }));
    expect(result.monitors.map((one) => one.state)).toEqual([state]);
  });
});

describe('the first pass', () => {
  it('asks states first, then incidents, then details, with the key in its header', async () => {
    const { questions } = await pull(api({}));
    expect(names(questions)).toEqual([
      'status',
      'list monitors',
      'list open incidents',
      'list all incidents',
      'monitor detail',
    ]);
    expect(questions.every(({ headers }) => headers['x-api-key'] === 'key')).toBe(true);
    const bearer = await pull(api({}), {}, { auth: 'bearer' });
    expect(bearer.questions.every(({ headers }) => headers['authorization'] === 'Bearer key')).toBe(true);
  });

  it('filters by type where that is configured', async () => {
    const { questions } = await pull(api({}), {}, { type: 'http' });
    expect(questions.find(({ name }) => name === 'list monitors')?.url).toBe(
      'https://edge.test/api/monitors?type=http',
    );
  });

  it('reads every incident of a past of many pages once', async () => {
    const incidents = Array.from({ length: 250 }, (_, index) =>
      incident(250 - index, NOW - index * HOUR_MS - 1, NOW - index * HOUR_MS),
    );
    const { result, questions } = await pull(api({ incidents }));
    expect(result.incidents.length).toBe(250);
    expect(result.isBackfilled).toBe(true);
    // Three pages and a second look at the first.
    expect(names(questions).filter((name) => name === 'list all incidents').length).toBe(4);
  });

  it('is not done while the quota does not allow the past, and keeps what it read', async () => {
    const incidents = Array.from({ length: 250 }, (_, index) =>
      incident(250 - index, NOW - index * HOUR_MS - 1, NOW - index * HOUR_MS),
    );
    const { result } = await pull(
      api({ incidents }, ({ name, url }) =>
        name === 'list all incidents' && url.includes('page=2&') ? 'skipped' : undefined,
      ),
    );
    expect(result.isBackfilled).toBe(false);
    expect(result.incidents.length).toBe(100);
    expect(result.stale).toEqual([]);
  });
});

describe('a list that shifts while it is read', () => {
  const past = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      incident(count - index, NOW - index * HOUR_MS - 2, NOW - index * HOUR_MS - 1),
    );

  /** Records appear (at the top) between requests, `times` of them. */
  function growing(times: number): Respond {
    let grown = 0;
    let items = past(150);
    const still = api({});
    return (question, index) => {
      if (question.name !== 'list all incidents') return still(question, index);
      const { searchParams } = new URL(question.url);
      const answer = paged(items, Number(searchParams.get('page')), 100);
      if (grown < times) {
        grown += 1;
        items = [incident(1_000 + grown, NOW - 1_000, NOW - 500), ...items];
      }
      return answer;
    };
  }

  it('is read once more, and then whole: nothing lost, nothing twice', async () => {
    const { result } = await pull(growing(1));
    expect(result.incidents.length).toBe(151);
    expect(result.isBackfilled).toBe(true);
  });

  it('that never holds still is told, and asked again in the next pass', async () => {
    const { result } = await pull(growing(100));
    expect(result.isBackfilled).toBe(false);
    expect(result.problems.map(({ message }) => message)).toContain('changed twice while it was read');
    expect(new Set(result.incidents.map(({ id }) => id)).size).toBe(result.incidents.length);
  });

  it('of open incidents ends none of them', async () => {
    let items = Array.from({ length: 150 }, (_, index) => incident(150 - index, NOW - 5_000, null));
    const still = api({});
    const { result } = await pull((question, index) => {
      if (question.name !== 'list open incidents') return still(question, index);
      const { searchParams } = new URL(question.url);
      const answer = paged(items, Number(searchParams.get('page')), 100);
      items = items.slice(1);
      return answer;
    });
    expect(result.stale).toContain('incidents');
  });
});

describe('later passes', () => {
  const memory: Partial<PullMemory> = {
    isBackfilled: true,
    detailFetchedAt: new Map([['1', toEpochMs(NOW - MINUTE_MS)]]),
  };
  const long = Array.from({ length: 1_000 }, (_, index) =>
    incident(1_000 - index, NOW - index * 6 * HOUR_MS - 2, NOW - index * 6 * HOUR_MS - 1),
  );

  it('read no more of the past than what may be new', async () => {
    const { questions, result } = await pull(api({ incidents: long }), memory);
    expect(names(questions)).toEqual(['status', 'list monitors', 'list open incidents', 'list recent incidents']);
    expect(result.isBackfilled).toBe(true);
  });

  it('read all of it when the newest are not first, since the order is not documented', async () => {
    const { questions, result } = await pull(api({ incidents: long.toReversed() }), memory);
    expect(names(questions).filter((name) => name === 'list recent incidents').length).toBe(10);
    expect(result.incidents.length).toBe(1_000);
  });

  it('learn of an incident that began and ended between two passes', async () => {
    const incidents = [incident(2_000, NOW - 50_000, NOW - 20_000), ...long];
    const { result } = await pull(api({ incidents }), memory);
    expect(result.incidents.map(({ id }) => id)).toContain('up/2000');
  });

  it('ask for an incident that was open and is in no list any more', async () => {
    const old = incident(7, NOW - 40 * DAY_MS, NOW - MINUTE_MS);
    const incidents = [...long.slice(0, 200), old];
    const { result, questions } = await pull(api({ incidents }), { ...memory, openIncidents: new Set(['7']) });
    expect(names(questions)).toContain('incident');
    expect(result.incidents.find(({ id }) => id === 'up/7')).toMatchObject({
      status: 'resolved',
      endedAt: NOW - MINUTE_MS,
    });
  });

  it('tell an incident that was deleted there, and keep it when it cannot be asked', async () => {
    const gone = await pull(api({ incidents: long }), { ...memory, openIncidents: new Set(['77777']) });
    expect([gone.result.stale, gone.result.gone]).toEqual([[], ['up/77777']]);
    const unsure = await pull(
      api({ incidents: long }, ({ name }) => (name === 'incident' ? failure('UPSTREAM_FAILED') : undefined)),
      { ...memory, openIncidents: new Set(['77777']) },
    );
    expect([unsure.result.stale, unsure.result.gone]).toEqual([['incidents'], []]);
  });

  it('know how far back the list of recent ones is whole', async () => {
    const [cut] = (await pull(api({ incidents: long }), memory)).result.complete;
    // A day before the last look, and two hours for clocks that may have changed.
    expect(cut).toMatchObject({ part: 'incidents', prefix: 'up/', since: NOW - MINUTE_MS - 22 * HOUR_MS });
    expect(cut?.ids.length).toBe(100);
    const few = await pull(api({ incidents: long.slice(0, 3) }), memory);
    expect(few.result.complete).toMatchObject([{ since: null, ids: ['up/1000', 'up/999', 'up/998'] }]);
    const unread = await pull(
      api({ incidents: long }, ({ name }) => (name === 'list recent incidents' ? 'skipped' : undefined)),
      memory,
    );
    expect(unread.result.complete).toEqual([]);
    const nameless = await pull(api({ incidents: [{ ...long[0], id: {} }, ...long.slice(1, 3)] }), memory);
    expect(nameless.result.complete).toEqual([]);
  });

  it('read the whole past again once a day, when the quota allows', async () => {
    const readAt = (agoMs: number) => ({ incidentsReadAt: new Map([['5', toEpochMs(NOW - agoMs)]]) });
    const fresh = await pull(api({ incidents: long }), { ...memory, ...readAt(DAY_MS - 1) });
    expect(names(fresh.questions)).not.toContain('list all incidents');
    // What began since the day before the last look.
    expect(fresh.result.readAgain).toEqual(['up/1000', 'up/999', 'up/998', 'up/997', 'up/996']);
    const due = await pull(api({ incidents: long }), { ...memory, ...readAt(DAY_MS) });
    expect(due.result.complete).toMatchObject([{ since: null }]);
    expect([due.result.incidents.length, due.result.readAgain.length]).toEqual([1_000, 1_000]);
    expect(due.questions.filter(({ name }) => name === 'list all incidents').map(({ priority }) => priority)).toContain(
      'detail',
    );
    const short = await pull(
      api({ incidents: long }, ({ priority }) => (priority === 'detail' ? 'skipped' : undefined)),
      { ...memory, ...readAt(DAY_MS) },
    );
    expect(names(short.questions)).toContain('list recent incidents');
    expect(short.result.stale).toEqual([]);
  });

  it('tell an id that was given again by the digits of its start', async () => {
    const born = async (timestamp: string) =>
      (await pull(api({ timestamp, incidents: long.slice(0, 1) }), memory)).result.incidents[0];
    const [winter, summer] = [await born('2026-11-21T09:13:00+01:00'), await born('2026-11-21T09:13:00+02:00')];
    expect(winter?.bornAt).toBe(summer?.bornAt);
    expect(winter?.startedAt).not.toBe(summer?.startedAt);
  });

  it('keep the open incidents when their list fails, and the states all the same', async () => {
    const { result } = await pull(
      api({}, ({ name }) => (name === 'list open incidents' ? failure('UPSTREAM_FAILED') : undefined)),
      { ...memory, openIncidents: new Set(['1']) },
    );
    expect(result.stale).toEqual(['incidents']);
    expect(result.monitors[0]?.state).toBe('operational');
  });

  it('keep an open incident that cannot be read this time', async () => {
    const incidents = [{ ...incident(5, NOW - HOUR_MS, null), started_at: 'yesterday' }];
    const { result } = await pull(api({ incidents }), { ...memory, openIncidents: new Set(['5']) });
    expect(result.incidents).toEqual([]);
    expect(result.stale).toEqual(['incidents']);
  });

  it('ask details of those first that were asked longest ago, never again within five minutes, fifty at most', async () => {
    const monitors = Array.from({ length: 80 }, (_, index) => monitor(index + 1));
    const fetched = new Map(monitors.map((_, index) => [String(index + 1), toEpochMs(NOW - index * MINUTE_MS)]));
    fetched.delete('40');
    const { questions } = await pull(api({ monitors }), { isBackfilled: true, detailFetchedAt: fetched });
    const asked = questions
      .filter(({ name }) => name === 'monitor detail')
      .map(({ url }) => Number(/monitors\/(\d+)/.exec(url)?.[1]));
    expect(asked.length).toBe(50);
    expect(asked.slice(0, 3)).toEqual([40, 80, 79]);
    const few = await pull(api({ monitors: monitors.slice(0, 5) }), { isBackfilled: true, detailFetchedAt: fetched });
    expect(names(few.questions)).not.toContain('monitor detail');
  });
});

describe('the past that is reported', () => {
  const uptime = (total: number, up: number) => ({
    uptime: { period_days: 90, total_checks: total, up_checks: up, uptime_percentage: 99, avg_response_time: 10 },
  });
  const spansOf = async (world: World, memory: Partial<PullMemory> = {}) => {
    const { result, questions } = await pull(api(world), memory);
    return { spans: result.details[0]?.reportedSpans, questions, details: result.details };
  };

  it('is up since the monitor exists, except where an incident says down', async () => {
    const created = NOW - 30 * DAY_MS;
    const { spans } = await spansOf({
      monitors: [monitor(1, { created_at: naive(created).replace('T', ' ') })],
      incidents: [incident(2, NOW - HOUR_MS, null), incident(1, NOW - 10 * DAY_MS, NOW - 9 * DAY_MS)],
      details: { 1: uptime(1_000, 900) },
    });
    const ends = [created, NOW - 10 * DAY_MS, NOW - 9 * DAY_MS, NOW - HOUR_MS].map((ms) => ms - (ms % 1_000));
    expect(spans).toEqual([
      { state: 'operational', from: ends[0], to: ends[1] },
      { state: 'operational', from: ends[2], to: ends[3] },
    ]);
  });

  it('reaches no further back than the figures do', async () => {
    const { spans } = await spansOf({ details: { 1: uptime(1_000, 1_000) } });
    expect(spans).toEqual([{ state: 'operational', from: NOW - 90 * DAY_MS, to: NOW }]);
  });

  it.each([
    ['no check took place', uptime(0, 0)],
    ['every check failed', uptime(100, 0)],
    ['checks failed that no incident explains', uptime(100, 99)],
    ['there are no figures', {}],
  ])('is unknown when %s', async (_, details) => {
    const { spans } = await spansOf({ details: { 1: details } });
    expect(spans).toEqual([]);
  });

  it('is told once: a detail of a monitor whose past is known says nothing of it', async () => {
    const { spans } = await spansOf(
      { details: { 1: uptime(1_000, 1_000) } },
      { isBackfilled: true, backfilledMonitors: new Set(['1']) },
    );
    expect(spans).toEqual([]);
  });

  it('of a monitor that comes later asks for its own incidents, and waits when it may not', async () => {
    const world: World = {
      incidents: [incident(1, NOW - 10 * DAY_MS, NOW - 9 * DAY_MS)],
      details: { 1: uptime(1_000, 900) },
    };
    const memory = { isBackfilled: true, backfilledMonitors: new Set(['2']) };
    const { spans, questions } = await spansOf(world, memory);
    expect(questions.map(({ url }) => url)).toContain(
      'https://edge.test/api/incidents?monitor_id=1&page=1&per_page=100',
    );
    expect(spans?.length).toBe(2);
    const { result } = await pull(
      api(world, ({ url }) => (url.includes('monitor_id') ? 'skipped' : undefined)),
      memory,
    );
    expect([result.details[0]?.reportedSpans, result.backfilled]).toEqual([[], []]);
  });
});

describe('figures and logs', () => {
  it('reads response times out of records of several shapes and passes over the rest', async () => {
    const logs = [
      { checked_at: '2026-11-21 09:12:00', response_time: 120 },
      { timestamp: '2026-11-21T09:11:00', latency: '118' },
      { time: '2026-11-21T10:10:00+01:00', ms: 117 },
      { checked_at: 'soon', response_time: 1 },
      { checked_at: '2026-11-21 09:09:00', response_time: -4 },
      { response_time: 4 },
      'text',
      null,
    ];
    const { result } = await pull(api({ details: { 1: { logs } } }));
    expect(result.details[0]?.responseTimes).toEqual([
      { at: Date.UTC(2026, 10, 21, 9, 10), ms: 117 },
      { at: Date.UTC(2026, 10, 21, 9, 11), ms: 118 },
      { at: Date.UTC(2026, 10, 21, 9, 12), ms: 120 },
    ]);
    expect(result.problems).toEqual([]);
  });

  it('leaves out figures of no checks at all, which are zeros', async () => {
    const zeros = {
      uptime: { period_days: 90, total_checks: 0, up_checks: 0, uptime_percentage: 0, avg_response_time: 0 },
    };
    const { result } = await pull(api({ details: { 1: zeros } }));
    expect(result.details[0]?.uptime).toBeNull();
  });

  it('does not take the detail of another monitor for that of the one asked', async () => {
    const { result } = await pull(api({ details: { 1: { id: 2 } } }));
    expect(result.details).toEqual([]);
  });
});

describe('the maintenance address that is not documented', () => {
  const window = {
    id: 3,
    title: 'Upgrade',
    starts_at: '2026-11-22T01:00:00',
    ends_at: '2026-11-22T02:00:00',
    monitor_ids: [1, '2'],
  };

  it('is not asked unless configured', async () => {
    const { questions } = await pull(api({}));
    expect(names(questions)).not.toContain('maintenance');
  });

  it.each([
    ['missing', undefined],
    ['something else', { hello: true }],
    ['an envelope of something else', ok({ windows: 'none' })],
    ['items of something else', ok([{ id: 1 }, 'x', { id: 2, starts_at: 'a', ends_at: 'b' }])],
  ])('breaks nothing when it is %s', async (_, maintenance) => {
    const { result } = await pull(api({ maintenance }), {}, { maintenance: true });
    expect(result.maintenances).toEqual([]);
    expect(result.stale).toEqual([]);
    expect(result.problems.every(({ kind }) => kind === 'note')).toBe(true);
  });

  it.each([
    ['a list', ok([window])],
    ['maintenance', ok({ maintenance: [window] })],
    [
      'maintenances with other names',
      ok({
        maintenances: [
          {
            id: 3,
            name: 'Upgrade',
            start_time: '2026-11-22T01:00:00',
            end_time: '2026-11-22T02:00:00',
            monitors: [{ id: 1 }, 2],
          },
        ],
      }),
    ],
  ])('is read as %s', async (_, maintenance) => {
    const { result } = await pull(api({ maintenance }), {}, { maintenance: true });
    expect(result.maintenances).toMatchObject([
      { id: 'up/maintenance-3', title: 'Upgrade', startsAt: Date.UTC(2026, 10, 22, 1), monitors: ['up/1', 'up/2'] },
    ]);
  });

  it('takes back a window that runs or is to come, since it may not list those that are over', async () => {
    const listed = async (items: readonly Row[]) =>
      (await pull(api({ maintenance: ok(items) }), {}, { maintenance: true })).result.complete.filter(
        ({ part }) => part === 'maintenances',
      );
    const ids = ['up/maintenance-1'];
    expect(await listed([{ id: 1 }])).toEqual([{ part: 'maintenances', prefix: 'up/maintenance-', since: NOW, ids }]);
    expect(await listed([{ id: 1 }, { title: 'Whose?' }])).toEqual([]);
  });

  it('keeps the known windows when it fails for now', async () => {
    const { result } = await pull(
      api({}, ({ name }) => (name === 'maintenance' ? failure('UPSTREAM_FAILED') : undefined)),
      {},
      { maintenance: true },
    );
    expect(result.stale).toEqual(['maintenances']);
  });
});

describe('options and probe', () => {
  it.each([
    [{ baseUrl: 'ftp://edge.test' }],
    [{ baseUrl: 'https://user:pass@edge.test' }],
    [{ baseUrl: 'https://edge.test/?key=1' }],
    [{ apiKey: 'a\nb' }],
    [{ apiKey: '' }],
    [{ auth: 'basic' }],
    [{ timezone: 'Mars/Olympus' }],
  ])('refuses %j', (wrong) => {
    const options = { baseUrl: 'https://edge.test', apiKey: 'k', ...wrong };
    expect(serverMonitor.optionsSchema.safeParse(options).success).toBe(false);
  });

  it('says which client the key is of, and how many monitors there are', async () => {
    const options = serverMonitor.optionsSchema.parse({ baseUrl: 'https://edge.test/api/', apiKey: 'key' });
    const { result } = await drive(probeOf(serverMonitor, options, contextOf()), (question, index) =>
      question.name === 'test' ? ok({ message: 'OK', client_id: 7 }) : api({})(question, index),
    );
    expect(result).toEqual({ summary: 'key valid, client 7', warnings: [], monitorsTotal: 1, listCalls: 4 });
  });
});
