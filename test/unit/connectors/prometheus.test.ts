import { describe, expect, it } from 'vitest';
import type { Incident, Learned } from '../../../src/model/observation.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { PullMemory } from '../../../src/sync/connector.ts';
import { prometheus } from '../../../src/sync/connectors/prometheus/connector.ts';
import { parseSelector } from '../../../src/sync/connectors/prometheus/project.ts';
import { contextOf, drive, failure, NOW, Reply, type Respond, refusal } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;
const AT = NOW / SECOND_MS;

const answer = (resultType: string, result: unknown) => ({ status: 'success', data: { resultType, result } });
const vector = (...values: readonly string[]) =>
  answer(
    'vector',
    values.map((value, index) => ({ metric: { index: String(index) }, value: [AT, value] })),
  );
const alert = (more: Row = {}): Row => ({
  fingerprint: 'f1',
  startsAt: '2026-11-21T09:00:00.000Z',
  labels: { alertname: 'Down', job: 'api', severity: 'critical' },
  annotations: { summary: 'The API is down', description: 'No probe gets through.' },
  status: { state: 'active' },
  ...more,
});

interface Says {
  readonly now?: unknown;
  readonly past?: Respond;
  readonly alerts?: unknown;
  /** What Alertmanager says of itself. */
  readonly status?: unknown;
}

const started = (agoMs: number) => ({ uptime: toIso(toEpochMs(NOW - agoMs)), versionInfo: { version: '0.25.0' } });

const says =
  ({ now = vector('1'), past = () => answer('matrix', []), alerts = [], status = started(HOUR_MS) }: Says): Respond =>
  (question, index) => {
    const { pathname } = new URL(question.url);
    if (pathname === '/api/v1/query') return now;
    if (pathname === '/api/v2/status') return status;
    return pathname === '/api/v2/alerts' ? alerts : past(question, index);
  };

const MONITOR = { id: 'api', name: 'API', query: 'probe', alerts: ['Down{job="api"}'] };

function pull(respond: Respond, monitor: Row = {}, memory: Partial<PullMemory> = {}) {
  const options = prometheus.optionsSchema.parse({
    url: 'https://prom.test',
    alertmanager: 'https://alerts.test',
    monitors: [{ ...MONITOR, ...monitor }],
  });
  return drive<Learned>(prometheus.pull(options, contextOf(memory)), respond);
}
const stateOf = async (now: unknown, monitor: Row = {}) =>
  (await pull(says({ now }), monitor)).result.monitors[0]?.state;

describe('a value held to its thresholds', () => {
  it.each([
    ['>0', undefined, '1', 'operational'],
    ['>0', undefined, '0', 'major_outage'],
    ['>= 0.5', undefined, '0.5', 'operational'],
    ['< 5', '>0.5', '0.7', 'degraded'],
    ['<5', '>0.5', '0.5', 'operational'],
    ['<5', '>0.5', '5e0', 'major_outage'],
    ['==1', undefined, '1', 'operational'],
    ['!=0', undefined, '-3.5', 'operational'],
    ['<=-1', undefined, '-0.5', 'major_outage'],
  ])('up %s, degraded %s: %s is %s', async (up, degraded, value, state) => {
    expect(await stateOf(vector(value), { up, degraded })).toBe(state);
  });

  it('is unknown where it is no number, never well and never down', async () => {
    for (const value of ['NaN', '+Inf', '-Inf']) expect(await stateOf(vector(value))).toBe('unknown');
    expect(await stateOf(vector())).toBe('unknown');
    expect(await stateOf(answer('scalar', [AT, 'NaN']))).toBe('unknown');
    expect(await stateOf(answer('string', [AT, '1']))).toBe('unknown');
    expect(await stateOf(answer('vector', 'neither'))).toBe('unknown');
  });

  it('is of all series together: some down is a partial outage, one without a number is not well', async () => {
    expect(await stateOf(vector('1', '1'))).toBe('operational');
    expect(await stateOf(vector('1', '0'))).toBe('partial_outage');
    expect(await stateOf(vector('0', '0'))).toBe('major_outage');
    expect(await stateOf(vector('1', 'NaN'))).toBe('unknown');
    expect(await stateOf(vector('0', 'NaN', '1'))).toBe('partial_outage');
  });

  it('is read from a scalar too', async () => {
    expect(await stateOf(answer('scalar', [AT, '1']))).toBe('operational');
  });

  it('is unknown where it was evaluated long ago, by somebody who kept the answer', async () => {
    const evaluated = (at: number) => stateOf(answer('vector', [{ metric: {}, value: [at, '1'] }]));
    expect(await evaluated(AT - 299)).toBe('operational');
    expect(await evaluated(AT - 301)).toBe('unknown');
  });
});

describe('a query that cannot be carried out', () => {
  const two = prometheus.optionsSchema.parse({
    url: 'https://prom.test',
    monitors: [MONITOR, { id: 'bad', name: 'Bad', query: 'sum(' }],
  });
  const respond =
    (bad: unknown): Respond =>
    (question, index) =>
      question.url.includes('sum') ? bad : says({})(question, index);

  it('is unknown and told, and the others are not touched', async () => {
    const { result } = await drive<Learned>(
      prometheus.pull(two, contextOf()),
      respond(new Reply(422, { status: 'error', errorType: 'execution', error: 'many-to-many' })),
    );
    expect(result.monitors.map(({ id, state }) => `${id} ${state}`)).toEqual(['up/api operational', 'up/bad unknown']);
    expect(result.problems).toMatchObject([{ kind: 'note', place: 'monitors.bad' }]);
  });

  it('is told in the words of Prometheus, cut and without control characters', async () => {
    const error = `parse error: unclosed left\u001b parenthesis ${'x'.repeat(400)}`;
    const body = { status: 'error', errorType: 'bad_data', error };
    const { result } = await drive<Learned>(prometheus.pull(two, contextOf()), respond(new Reply(400, body)));
    expect(result.monitors.map(({ id, state }) => `${id} ${state}`)).toEqual(['up/api operational', 'up/bad unknown']);
    const [problem] = result.problems;
    expect(problem?.message).toMatch(/^Prometheus rejected the query: parse error: unclosed left parenthesis x+…$/);
    expect(problem?.message.length).toBeLessThan(350);
  });

  it('fails the pass where every query is like that', async () => {
    const body = { status: 'error', errorType: 'bad_data', error: 'parse error' };
    await expect(pull(says({ now: new Reply(400, body) }))).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: expect.stringContaining('parse error'),
    });
  });

  it('fails the pass where it is not the query that is at fault', async () => {
    for (const fault of [refusal(503), refusal(401), failure('UPSTREAM_UNREACHABLE'), failure('UPSTREAM_SHAPE')])
      await expect(drive(prometheus.pull(two, contextOf()), respond(fault))).rejects.toBe(fault);
  });
});

describe('the past', () => {
  const rangeOf = ({ url }: { url: string }) => {
    const query = new URL(url).searchParams;
    return { start: Number(query.get('start')), end: Number(query.get('end')), step: Number(query.get('step')) };
  };
  /** Up since `days` ago, down in the first hour of each day. */
  const since =
    (days: number): Respond =>
    (question) => {
      const { start, end, step } = rangeOf(question);
      const values: [number, string][] = [];
      for (let at = start; at <= end; at += step)
        if (at >= AT - (days * DAY_MS) / SECOND_MS) values.push([at, at % 86_400 < 3_600 ? '0' : '1']);
      return answer('matrix', values.length === 0 ? [] : [{ metric: {}, values }]);
    };

  it('is asked newest first in windows that Prometheus gives, until one is empty', async () => {
    const { result, questions } = await pull(says({ past: since(20) }));
    const ranges = questions.filter(({ priority }) => priority === 'backfill').map(rangeOf);
    expect(ranges.length).toBe(5);
    expect(ranges.every(({ start, end, step }) => (end - start) / step < 11_000)).toBe(true);
    const spans = result.details[0]?.reportedSpans ?? [];
    // Gapless and disjoint, also where two windows meet.
    expect(spans.slice(1).every(({ from }, index) => from === spans[index]?.to)).toBe(true);
    const down = spans.filter(({ state }) => state === 'major_outage').map(({ from, to }) => (to - from) / MINUTE_MS);
    expect(down.length).toBe(20);
    expect(down.every((minutes) => minutes === 60)).toBe(true);
    expect(spans.at(-1)?.to).toBe(NOW);
    expect(result.isBackfilled).toBe(true);
  });

  it('ends after 91 days and half a one', async () => {
    const { questions, result } = await pull(says({ past: since(400) }));
    expect(questions.filter(({ priority }) => priority === 'backfill').length).toBe(9);
    expect(NOW - (result.details[0]?.reportedSpans[0]?.from ?? NOW)).toBeLessThanOrEqual(91.5 * DAY_MS);
  });

  it('leaves out what has no number, and what was not asked for', async () => {
    const { result } = await pull(
      says({
        past: (question) => {
          const { start, end } = rangeOf(question);
          return answer('matrix', [
            {
              metric: {},
              values: [
                [start - 120, '1'],
                [start, 'NaN'],
                [end, '1'],
                [end + 120, '1'],
              ],
            },
          ]);
        },
      }),
    );
    const spans = result.details[0]?.reportedSpans ?? [];
    expect(spans.every(({ to, from }) => to - from <= 2 * MINUTE_MS)).toBe(true);
    expect(spans.every(({ to }) => to <= NOW)).toBe(true);
  });

  it('is asked once, waits for quota, and is asked of a monitor that is configured later', async () => {
    const known = await pull(says({}), {}, { detailFetchedAt: new Map([['api', NOW]]) });
    expect(known.questions.filter(({ priority }) => priority === 'backfill')).toEqual([]);
    const waiting = await pull(says({ past: () => 'skipped' }));
    expect([waiting.result.isBackfilled, waiting.result.details]).toEqual([false, []]);
    const later = await pull(
      says({ past: since(1) }),
      {},
      { isBackfilled: true, detailFetchedAt: new Map([['old', NOW]]) },
    );
    expect(later.result.details.map(({ id }) => id)).toEqual(['up/api']);
  });
});

describe('alerts', () => {
  const open = async (): Promise<Incident> => {
    const [incident] = (await pull(says({ alerts: [alert()] }))).result.incidents;
    if (incident === undefined) throw new Error('no incident');
    return incident;
  };

  it('that a monitor names are incidents, in the words of their annotations', async () => {
    expect(await open()).toMatchObject({
      title: 'The API is down',
      status: 'investigating',
      impact: 'critical',
      startedAt: Date.parse('2026-11-21T09:00:00Z'),
      endedAt: null,
      monitors: ['up/api'],
      updates: [{ body: 'No probe gets through.' }],
    });
  });

  it("of others are nobody else's business", async () => {
    const others = [{ labels: { alertname: 'Down', job: 'web' } }, { labels: { alertname: 'DiskFull', job: 'api' } }];
    const { result } = await pull(says({ alerts: others.map((more) => alert(more)) }));
    expect(result.incidents).toEqual([]);
  });

  it('that are muted do not appear, and do not end what was shown', async () => {
    const muted = [alert({ status: { state: 'suppressed' } })];
    expect((await pull(says({ alerts: muted }))).result.incidents).toEqual([]);
    const id = (await open()).id.slice('up/'.length);
    const shown = await pull(says({ alerts: muted }), {}, { openStories: new Map([[id, await open()]]) });
    expect(shown.result.incidents).toMatchObject([{ endedAt: null }]);
  });

  it('that are listed no more are over, in the words they had', async () => {
    const known = await open();
    const memory = { openStories: new Map([[known.id.slice('up/'.length), known]]) };
    const { result } = await pull(says({ alerts: [] }), {}, memory);
    expect(result.incidents).toMatchObject([{ id: known.id, title: known.title, status: 'resolved', endedAt: NOW }]);
    expect(result.incidents[0]?.updates.map(({ status }) => status)).toEqual(['investigating', 'resolved']);
  });

  it('end nothing while they cannot be read', async () => {
    const known = await open();
    const memory = { openStories: new Map([[known.id.slice('up/'.length), known]]) };
    for (const alerts of [failure('UPSTREAM_FAILED'), 'skipped', [{ fingerprint: 7 }], { not: 'a list' }]) {
      const { result } = await pull(says({ alerts }), {}, memory);
      expect([result.incidents, result.stale]).toEqual([[], ['incidents']]);
    }
  });

  it.each([
    [
      'it was restarted, and Prometheus has not sent them again',
      started(30_000),
      /Alertmanager started at 2026-11-21T09:12:30/,
    ],
    ['its clock is ahead of ours', started(-HOUR_MS), /Alertmanager started at/],
    ['it does not say when it started', failure('UPSTREAM_FAILED'), /UPSTREAM_FAILED/],
    ['there is no quota to ask', 'skipped', /quota/],
  ])('that are missing do not end while %s', async (_, status, words) => {
    const known = await open();
    const memory = { openStories: new Map([[known.id.slice('up/'.length), known]]) };
    const { result } = await pull(says({ alerts: [], status }), {}, memory);
    expect([result.incidents, result.stale]).toEqual([[], ['incidents']]);
    expect(result.problems).toEqual([{ kind: 'note', place: 'alerts', message: expect.stringMatching(words) }]);
  });

  it('need no second question while none is missing', async () => {
    const known = await open();
    const memory = { openStories: new Map([[known.id.slice('up/'.length), known]]) };
    const { result, questions } = await pull(
      says({ alerts: [alert()], status: failure('UPSTREAM_FAILED') }),
      {},
      memory,
    );
    expect(questions.map(({ name }) => name)).not.toContain('alertmanager status');
    expect([result.incidents.length, result.stale, result.problems]).toEqual([1, [], []]);
  });

  it('that fire again are another story', async () => {
    const again = [alert({ startsAt: '2026-11-21T09:10:00.000Z' })];
    const known = await open();
    const { result } = await pull(says({ alerts: again }), {}, { openStories: new Map([[known.id.slice(3), known]]) });
    expect(result.incidents.map(({ id, status }) => `${id === known.id} ${status}`)).toEqual([
      'true resolved',
      'false investigating',
    ]);
  });
});

describe('a selector of alerts', () => {
  it('is a name with labels', () => {
    expect(parseSelector('Down')).toEqual({ alertname: 'Down' });
    expect(parseSelector(' Down { job = "a b", x="" } ')).toEqual({ alertname: 'Down', job: 'a b', x: '' });
  });

  it('is refused where it says anything else', () => {
    for (const text of ['', '1x', 'Down{', 'Down{job=~"a"}', 'Down{job="a" x="b"}', 'Down{job}', 'Down{job="a"}x'])
      expect(parseSelector(text)).toBeNull();
  });
});
