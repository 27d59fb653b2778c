import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { type EpochMs, HOUR_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { PullMemory } from '../../../src/sync/connector.ts';
import { healthchecks } from '../../../src/sync/connectors/healthchecks/connector.ts';
import { contextOf, drive, failure, NOW, type Respond } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

const check = (key: string, more: Row = {}): Row => ({ unique_key: key, name: `Job ${key}`, status: 'up', ...more });
const at = (ago: number): string => toIso(toEpochMs(NOW - ago));

function pull(
  checks: readonly Row[],
  flips: Respond = () => ({ flips: [] }),
  memory: Partial<PullMemory> = {},
  now: EpochMs = NOW,
) {
  const options = healthchecks.optionsSchema.parse({ apiKey: 'key-1' });
  const respond: Respond = (question, index) => (question.name === 'list checks' ? { checks } : flips(question, index));
  return drive<Learned>(healthchecks.pull(options, { ...contextOf(memory), now }), respond);
}

describe('a check', () => {
  it('is in the state of its word, and unknown for any other', async () => {
    const words = ['up', 'grace', 'down', 'paused', 'new', 'started', 'well', undefined];
    const { result } = await pull(words.map((status, index) => check(`k${index}`, { status })));
    expect(result.monitors.map(({ state }) => state)).toEqual([
      'operational',
      'degraded',
      'major_outage',
      'paused',
      'unknown',
      'unknown',
      'unknown',
      'unknown',
    ]);
  });

  it('has the same name whatever key is used, and never the id that it is pinged by', async () => {
    const uuid = '803f680d-e89b-492b-82ef-2be7b774a92d';
    const key = createHash('sha1').update('803f680de89b492b').digest('hex');
    const { result } = await pull([{ uuid, ping_url: `https://hc-ping.test/${uuid}`, name: 'Job', status: 'up' }]);
    expect(result.monitors.map(({ id }) => id)).toEqual([`up/${key}`]);
    expect(JSON.stringify(result)).not.toContain('803f680d');
  });

  it('without a name is called by its slug', async () => {
    const { result } = await pull([check('a', { name: '', slug: 'nightly' }), check('b', { name: '' })]);
    expect(result.monitors.map(({ name }) => name)).toEqual(['nightly', 'Unnamed check']);
  });
});

describe('the past', () => {
  const spansOf = async (status: string, flips: unknown): Promise<readonly string[]> => {
    const { result } = await pull([check('a', { status })], () => flips);
    expect(result.problems).toEqual([]);
    return (result.details[0]?.reportedSpans ?? []).map(({ state, from, to }) => `${state} ${(to - from) / HOUR_MS}`);
  };
  /** Newest first, as the program answers; hours ago and whether it was up from then on. */
  const flipped = (...changes: readonly (readonly [number, 0 | 1])[]) =>
    changes.map(([hours, up]) => ({ timestamp: at(hours * HOUR_MS), up }));

  it('is made of flips, once for each check', async () => {
    const flips = flipped([1, 1], [3, 0], [9, 1]);
    const { result, questions } = await pull([check('a'), check('b')], () => ({ flips }), {
      detailFetchedAt: new Map([['b', NOW]]),
    });
    expect(questions.length).toBe(2);
    expect(result.details.map(({ id }) => id)).toEqual(['up/a']);
    expect(result.details[0]?.reportedSpans.map(({ state, from, to }) => `${state} ${(to - from) / HOUR_MS}`)).toEqual([
      'operational 6',
      'major_outage 2',
      'operational 1',
    ]);
    expect(result.isBackfilled).toBe(true);
  });

  it('is read from the list that the documentation shows, and from the object that the program answers', async () => {
    const flips = flipped([1, 1], [3, 0], [9, 1]);
    expect(await spansOf('up', { flips })).toEqual(await spansOf('up', flips));
    expect(await spansOf('up', { flips })).toEqual(['operational 6', 'major_outage 2', 'operational 1']);
  });

  it('keeps the order of flips within one second, whose fraction is cut off', async () => {
    // It failed, recovered and failed again in the same second; the newest stands first.
    expect(await spansOf('down', { flips: flipped([2, 0], [2, 1], [2, 0], [9, 1]) })).toEqual([
      'operational 7',
      'major_outage 2',
    ]);
  });

  it.each([
    [
      'a job that was paused for twenty hours and resumed',
      'up',
      flipped([1, 1], [1.5, 0], [21.5, 0], [40, 1]),
      ['operational 18.5', 'operational 1'],
    ],
    [
      'a job that failed and was then paused',
      'up',
      flipped([1, 1], [2, 0], [4, 0], [6, 0], [9, 1]),
      ['operational 3', 'operational 1'],
    ],
    ['one that is paused now', 'paused', flipped([5, 0], [9, 1]), ['operational 4', 'paused 5']],
    ['one that was resumed and has not pinged yet', 'new', flipped([2, 0], [5, 0], [9, 1]), ['operational 4']],
    [
      'one that is down now, after a pause',
      'down',
      flipped([1, 0], [2, 0], [5, 0], [9, 1]),
      ['operational 4', 'major_outage 1'],
    ],
    ['a first flip, of which nobody knows what was before', 'up', flipped([1, 1], [3, 0]), ['operational 1']],
    ['one without flips', 'up', [], []],
  ])('invents no outage: %s', async (_, status, flips, expected) => {
    expect(await spansOf(status, { flips })).toEqual(expected);
  });

  it('is asked of ten checks a pass, and again where there was no answer, which is a problem', async () => {
    const many = Array.from({ length: 12 }, (_, index) => check(`k${index}`));
    const first = await pull(many);
    expect([first.questions.length, first.result.isBackfilled]).toEqual([11, false]);
    const failed = await pull([check('a')], () => failure('UPSTREAM_FAILED'));
    expect([failed.result.details, failed.result.isBackfilled]).toEqual([[], false]);
    expect(failed.result.problems).toEqual([{ kind: 'note', place: 'flips.a', message: 'UPSTREAM_FAILED' }]);
  });
});
