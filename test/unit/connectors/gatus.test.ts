import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { PullMemory } from '../../../src/sync/connector.ts';
import { gatus } from '../../../src/sync/connectors/gatus/connector.ts';
import { contextOf, drive, NOW } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

const result = (success: unknown, ago: number): Row => ({
  success,
  duration: 12_400_000,
  timestamp: toIso(toEpochMs(NOW - ago)),
});
/** The last of them this long ago, one a minute, oldest first. */
const results = (lastAgo: number, ...outcomes: readonly unknown[]): Row[] =>
  outcomes.map((success, index) => result(success, lastAgo + (outcomes.length - 1 - index) * MINUTE_MS));
const endpoint = (more: Row): Row => ({ name: 'api', group: 'core', key: 'core_api', results: [], ...more });

function pull(answer: unknown, memory: Partial<PullMemory> = {}) {
  const options = gatus.optionsSchema.parse({ url: 'https://gatus.test' });
  return drive<Learned>(gatus.pull(options, contextOf(memory)), () => answer);
}
const stateOf = async (list: unknown) => (await pull([endpoint({ results: list })])).result.monitors[0]?.state;

describe('the state of an endpoint', () => {
  it('is that of its newest result, whatever the order', async () => {
    expect(await stateOf(results(10 * SECOND_MS, false, true))).toBe('operational');
    expect(await stateOf(results(10 * SECOND_MS, true, false))).toBe('major_outage');
    expect(await stateOf(results(10 * SECOND_MS, true, false).toReversed())).toBe('major_outage');
  });

  it('is unknown without results, where the newest is old or ahead, and where one cannot be read', async () => {
    expect(await stateOf([])).toBe('unknown');
    expect(await stateOf(results(HOUR_MS, true, true, true))).toBe('unknown');
    expect(await stateOf(results(-HOUR_MS, true, true))).toBe('unknown');
    expect(await stateOf([...results(10 * SECOND_MS, true), { success: false, timestamp: 'soon' }])).toBe('unknown');
    for (const word of ['yes', 1, null, undefined])
      expect(await stateOf([...results(MINUTE_MS, true), result(word, SECOND_MS)])).toBe('unknown');
  });

  it('of an endpoint that reports once a week holds until the next one is long overdue', async () => {
    const weekly = (ago: number) => [3, 2, 1, 0].map((weeks) => result(true, ago + weeks * 7 * DAY_MS));
    expect(await stateOf(weekly(6 * DAY_MS))).toBe('operational');
    expect(await stateOf(weekly(10 * DAY_MS))).toBe('operational');
    expect(await stateOf(weekly(11 * DAY_MS))).toBe('unknown');
  });

  it('is the worse of two results of one instant', async () => {
    expect(await stateOf([result(true, SECOND_MS), result(false, SECOND_MS)])).not.toBe('operational');
  });
});

describe('a list of endpoints', () => {
  it('has those of one name under their group', async () => {
    const { result: learned } = await pull([
      endpoint({}),
      endpoint({ key: 'eu_api', group: 'eu' }),
      endpoint({ key: '_web', name: 'web', group: undefined }),
    ]);
    expect(learned.monitors.map(({ id, name }) => `${id} ${name}`)).toEqual([
      'up/_web web',
      'up/core_api core - api',
      'up/eu_api eu - api',
    ]);
  });

  it('tells endpoints of remote instances apart, which come under the key of their local namesakes', async () => {
    const up = { results: results(SECOND_MS, true, true) };
    const down = { results: results(SECOND_MS, false, false) };
    const local = endpoint(up);
    const remote = endpoint({ ...down, name: 'paris-api' });
    for (const list of [
      [local, remote],
      [remote, local],
    ]) {
      const { result: learned } = await pull(list);
      expect(learned.monitors.map(({ id, state }) => `${id} ${state}`)).toEqual([
        'up/core_api operational',
        'up/core_api/paris-api major_outage',
      ]);
      expect(learned.problems).toEqual([]);
    }
    // The name of one does not depend on whether the other is there.
    const alone = await pull([remote]);
    expect(alone.result.monitors.map(({ id }) => id)).toEqual(['up/core_api/paris-api']);
  });

  it('brings the past once, and then response times since', async () => {
    const answer = [endpoint({ results: results(0, true, true, false, true) })];
    const first = await pull(answer);
    expect(new URL(first.questions[0]?.url ?? '').searchParams.get('pageSize')).toBe('100');
    expect(first.result.details[0]?.reportedSpans.map(({ state, from, to }) => `${state} ${to - from}`)).toEqual([
      `operational ${2 * MINUTE_MS}`,
      `major_outage ${MINUTE_MS}`,
    ]);
    // What failed took some time too, and is no response time.
    expect(first.result.details[0]?.responseTimes.map(({ ms }) => ms)).toEqual([12, 12, 12]);
    const known = { isBackfilled: true, detailFetchedAt: new Map([['core_api', toEpochMs(NOW - 6 * MINUTE_MS)]]) };
    const later = await pull(answer, known);
    expect(new URL(later.questions[0]?.url ?? '').searchParams.get('pageSize')).toBe('20');
    expect(later.result.details[0]?.reportedSpans).toEqual([]);
  });
});
