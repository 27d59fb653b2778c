import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { HOUR_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { PullMemory } from '../../../src/sync/connector.ts';
import { healthchecks } from '../../../src/sync/connectors/healthchecks/connector.ts';
import { contextOf, drive, failure, NOW, type Respond } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

const check = (key: string, more: Row = {}): Row => ({ unique_key: key, name: `Job ${key}`, status: 'up', ...more });
const at = (ago: number): string => toIso(toEpochMs(NOW - ago));

function pull(checks: readonly Row[], flips: Respond = () => [], memory: Partial<PullMemory> = {}) {
  const options = healthchecks.optionsSchema.parse({ apiKey: 'key-1' });
  const respond: Respond = (question, index) => (question.name === 'list checks' ? { checks } : flips(question, index));
  return drive<Learned>(healthchecks.pull(options, contextOf(memory)), respond);
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
  it('is made of flips, once for each check', async () => {
    const flips = [
      { timestamp: at(HOUR_MS), up: 1 },
      { timestamp: at(3 * HOUR_MS), up: 0 },
    ];
    const { result, questions } = await pull([check('a'), check('b')], () => flips, {
      detailFetchedAt: new Map([['b', NOW]]),
    });
    expect(questions.length).toBe(2);
    expect(result.details.map(({ id }) => id)).toEqual(['up/a']);
    expect(result.details[0]?.reportedSpans.map(({ state, from, to }) => `${state} ${(to - from) / HOUR_MS}`)).toEqual([
      'major_outage 2',
      'operational 1',
    ]);
    expect(result.isBackfilled).toBe(true);
  });

  it('is asked of ten checks a pass, and again where there was no answer', async () => {
    const many = Array.from({ length: 12 }, (_, index) => check(`k${index}`));
    const first = await pull(many);
    expect([first.questions.length, first.result.isBackfilled]).toEqual([11, false]);
    const failed = await pull([check('a')], () => failure('UPSTREAM_FAILED'));
    expect([failed.result.details, failed.result.isBackfilled]).toEqual([[], false]);
  });
});
