import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { serverMonitor } from '../../../src/sync/connectors/server-monitor/connector.ts';
import { contextOf, drive, failure, type Respond, refusal } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

const ok = (data: unknown): Row => ({ success: true, data });
const monitor = (id: number, status = 'up', more: Row = {}): Row => ({
  id,
  name: `Monitor ${id}`,
  type: 'http',
  target: 'https://x.test',
  status,
  is_active: 1,
  ...more,
});
const incident = (id: number, more: Row = {}): Row => ({
  id,
  monitor_id: 1,
  started_at: '2026-11-21T09:00:00',
  ended_at: null,
  title: 'Down',
  ...more,
});

interface World {
  readonly monitors?: readonly Row[];
  readonly count?: unknown;
  /** What `/status` counts, as it is asked the first time, the second time …; the last one stays. */
  readonly summaries: readonly Row[];
  readonly active?: readonly unknown[];
  /** Incidents that are found by themselves. */
  readonly found?: readonly Row[];
}

function api({ monitors = [monitor(1), monitor(2)], count, summaries, active = [], found = [] }: World): Respond {
  let asked = 0;
  return ({ url }) => {
    const { pathname } = new URL(url);
    if (pathname.endsWith('/status')) {
      const status = summaries[Math.min(asked, summaries.length - 1)];
      asked += 1;
      return ok({ status, active_incidents: active, timestamp: '2026-11-21T09:13:00+00:00' });
    }
    if (pathname.endsWith('/monitors')) return ok({ monitors, ...(count === undefined ? {} : { count }) });
    if (pathname.endsWith('/incidents')) return ok({ incidents: [], pagination: { total: 0, total_pages: 0 } });
    const id = pathname.split('/').at(-1);
    if (pathname.includes('/monitors/')) return ok({ monitor: monitors.find((one) => String(one['id']) === id) });
    const one = found.find((row) => String(row['id']) === id);
    return one === undefined ? refusal(404) : ok({ incident: one });
  };
}

async function pull(world: World, options: Row = {}) {
  const parsed = serverMonitor.optionsSchema.parse({ baseUrl: 'https://edge.test/api', apiKey: 'key', ...options });
  const { result, questions } = await drive<Learned>(
    serverMonitor.pull(parsed, contextOf({ isBackfilled: true })),
    api(world),
  );
  return {
    states: result.monitors.map(({ state }) => state).join(' '),
    told: result.problems.map(({ place, message }) => `${place}: ${message}`),
    asked: questions.filter(({ name }) => name === 'status' || name === 'list monitors').length,
    incidents: result.incidents.map(({ id }) => id),
  };
}

const WELL = { total: 2, up: 2, down: 0, pending: 0, paused: 0, overall_status: 'operational', uptime_percentage: 100 };
const one = (status: string, more: Row = {}) => [monitor(1), monitor(2, status, more)];

describe('the counts of /status', () => {
  it('that agree with the list cost nothing and say nothing', async () => {
    expect(await pull({ summaries: [WELL], count: 2 })).toEqual({
      states: 'operational operational',
      told: [],
      asked: 2,
      incidents: [],
    });
  });

  it.each([
    [{ total: 3 }, 'status.total: counts 3, the list has 2'],
    [{ total: 1 }, 'status.total: counts 1, the list has 2'],
    [{ down: 1 }, 'status.down: counts 1, the list has 0'],
    [{ pending: 1 }, 'status.pending: counts 1, the list has 0'],
    [
      { overall_status: 'degraded' },
      'status.overall_status: says degraded, but no monitor in the list is down or pending',
    ],
  ])('that know of more, %j, are told, and nothing of the list is well', async (fields, message) => {
    expect(await pull({ summaries: [{ ...WELL, ...fields }] })).toEqual({
      states: 'unknown unknown',
      told: [message],
      asked: 4,
      incidents: [],
    });
  });

  it('of the list itself that differ from it are told, and nothing is well', async () => {
    expect(await pull({ summaries: [WELL], count: 3 })).toMatchObject({
      states: 'unknown unknown',
      told: ['monitors.count: counts 3, the list has 2'],
    });
  });

  it('leave what is known to be down or paused as it is', async () => {
    const monitors = [monitor(1), monitor(2, 'down'), monitor(3, 'paused')];
    const summary = { total: 3, up: 0, down: 2, pending: 0, paused: 1, overall_status: 'degraded' };
    expect(await pull({ monitors, summaries: [summary] })).toMatchObject({
      states: 'unknown major_outage paused',
      told: ['status.up: counts 0, the list has 1', 'status.down: counts 2, the list has 1'],
    });
  });

  it.each([
    [
      WELL,
      [
        'status.up: counts 2, the list has 1',
        'status.down: counts 0, the list has 1',
        'status.overall_status: says operational, but monitors in the list are down',
      ],
    ],
    [{ ...WELL, up: 1, down: 1 }, ['status.overall_status: says operational, but monitors in the list are down']],
  ])('that know of less, %j, are told, and the list counts', async (summary, told) => {
    expect(await pull({ monitors: one('down'), summaries: [summary] })).toMatchObject({
      states: 'operational major_outage',
      told,
    });
  });

  it('that changed between the two questions are asked for once more', async () => {
    const down = { ...WELL, up: 1, down: 1, overall_status: 'degraded' };
    expect(await pull({ summaries: [down, WELL] })).toMatchObject({
      states: 'operational operational',
      told: [],
      asked: 4,
    });
  });

  it.each([
    ['paused', { up: 1, paused: 1 }],
    ['by their word', {}],
  ])('may take monitors that are not active for %s', async (_, fields) => {
    const monitors = one('up', { is_active: 0 });
    expect(await pull({ monitors, summaries: [{ ...WELL, ...fields }] })).toMatchObject({
      states: 'operational paused',
      told: [],
    });
  });

  it.each(['up', 'down', 'pending', 'paused', 'total'])('may be unreadable in %s, which is told', async (field) => {
    expect(await pull({ summaries: [{ ...WELL, [field]: 'many' }] })).toMatchObject({
      states: 'operational operational',
      told: [`status.${field}: not a number, so the counts were not compared`],
      asked: 2,
    });
  });

  it('may be missing', async () => {
    expect(await pull({ summaries: [{}] })).toMatchObject({ states: 'operational operational', told: [] });
  });

  it('in a word that nobody knows are told', async () => {
    expect(await pull({ summaries: [{ ...WELL, overall_status: 'splendid' }] })).toMatchObject({
      states: 'operational operational',
      told: ['status.overall_status: unknown word "splendid"'],
      asked: 2,
    });
  });

  it('are not compared with a part of the list, nor where the options say so', async () => {
    const world = { summaries: [{ ...WELL, down: 1 }] };
    expect(await pull(world, { type: 'http' })).toMatchObject({ states: 'operational operational', told: [] });
    expect(await pull(world, { compareStatus: false })).toMatchObject({ states: 'operational operational', told: [] });
  });
});

describe('the open incidents of /status', () => {
  it('that are in no list are asked for by themselves, and shown', async () => {
    expect(await pull({ summaries: [WELL], active: [incident(7)], found: [incident(7)] })).toEqual({
      states: 'operational operational',
      told: ['active_incidents.7: is missing from all lists of incidents'],
      asked: 2,
      incidents: ['up/7'],
    });
  });

  it('that are not to be found anywhere leave nothing well', async () => {
    expect(await pull({ summaries: [WELL], active: [incident(7)] })).toMatchObject({
      states: 'unknown unknown',
      told: ['active_incidents.7: is missing from all lists of incidents and can’t be found by id'],
      incidents: [],
    });
  });

  it('that cannot be read, or come without a list to hold them against, say nothing', async () => {
    expect(await pull({ summaries: [WELL], active: [null, 'x', {}] })).toMatchObject({ told: [] });
    const parsed = serverMonitor.optionsSchema.parse({ baseUrl: 'https://edge.test/api', apiKey: 'key' });
    const respond = api({ summaries: [WELL], active: [incident(7)] });
    const { questions } = await drive<Learned>(serverMonitor.pull(parsed, contextOf()), (question, index) =>
      question.name === 'list open incidents' ? failure('UPSTREAM_FAILED') : respond(question, index),
    );
    expect(questions.map(({ name }) => name)).not.toContain('incident');
  });
});
