import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { HOUR_MS, SECOND_MS } from '../../../src/model/time.ts';
import type { PullMemory } from '../../../src/sync/connector.ts';
import { uptimerobot } from '../../../src/sync/connectors/uptimerobot/connector.ts';
import { contextOf, drive, NOW, type Respond } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

const monitor = (id: number, more: Row = {}): Row => ({ id, friendly_name: `Monitor ${id}`, status: 2, ...more });
const KEY = 'ur-key-1';

/** Pages as they are asked for. */
const serve =
  (monitors: readonly Row[], more: Row = {}): Respond =>
  ({ body }) => {
    const { offset, limit } = body as { offset: number; limit: number };
    return {
      stat: 'ok',
      pagination: { offset, limit, total: monitors.length },
      monitors: monitors.slice(offset, offset + limit),
      ...more,
    };
  };

function pull(respond: Respond, memory: Partial<PullMemory> = {}) {
  const options = uptimerobot.optionsSchema.parse({ apiKey: KEY });
  return drive<Learned>(uptimerobot.pull(options, contextOf(memory)), respond);
}

describe('a monitor', () => {
  it('is in the state of its number, and unknown for any other', async () => {
    const numbers = [0, 1, 2, 8, 9, 3, '2', 'up', null, true];
    const { result } = await pull(serve(numbers.map((status, index) => monitor(index, { status }))));
    expect(result.monitors.map(({ state }) => state)).toEqual([
      'paused',
      'unknown',
      'operational',
      'unknown',
      'major_outage',
      'unknown',
      'operational',
      'unknown',
      'unknown',
      'unknown',
    ]);
  });
});

describe('a list of more than a page', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => monitor(index + 1));

  it('is read in pages of fifty, and page 1 once more', async () => {
    const { result, questions } = await pull(serve(many(101)), { isBackfilled: true });
    expect(result.monitors.length).toBe(101);
    expect(questions.map(({ body }) => (body as { offset: number }).offset)).toEqual([0, 50, 100, 0]);
    expect((await pull(serve(many(50)))).questions.length).toBe(1);
  });

  it('fits the ten requests a minute of the free plan with its 50 monitors and with 400', () => {
    expect(uptimerobot.limits).toEqual({ perMinute: 10, perHour: null });
    expect(400 / 50 + 1).toBeLessThanOrEqual(10);
  });
});

describe('what is refused with status 200', () => {
  it('fails the pass, in the words of the service, without the key', async () => {
    const error = { type: 'invalid_parameter', message: `api_key ${KEY} is invalid.` };
    const fault = pull(() => ({ stat: 'fail', error }));
    await expect(fault).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' });
    await expect(fault).rejects.toThrow('api_key *** is invalid');
  });
});

describe('the past', () => {
  const seconds = (ago: number): number => Math.floor((NOW - ago) / SECOND_MS);
  const logs = [
    { type: 2, datetime: seconds(HOUR_MS), duration: 3_600 },
    { type: 1, datetime: seconds(3 * HOUR_MS), duration: 7_200 },
    { type: 98, datetime: seconds(5 * HOUR_MS), duration: 7_200 },
  ];

  it('is what the logs say, asked for once', async () => {
    const first = await pull(serve([monitor(1, { logs })]));
    expect(first.questions[0]?.body).toMatchObject({ logs: 1 });
    expect(
      first.result.details[0]?.reportedSpans.map(({ state, from, to }) => `${state} ${(to - from) / HOUR_MS}`),
    ).toEqual(['operational 2', 'major_outage 2', 'operational 1']);
    const later = await pull(serve([monitor(1)]), { isBackfilled: true });
    expect(later.questions[0]?.body).toMatchObject({ logs: 0 });
    expect(later.result.details).toEqual([]);
  });

  it('tells what of it cannot be read, and never overlaps', async () => {
    const odd = [
      ...logs,
      { type: 1, datetime: 'then', duration: 1 },
      { type: 1, datetime: seconds(4 * HOUR_MS), duration: 1e9 },
    ];
    const { result } = await pull(serve([monitor(1, { logs: odd })]));
    expect(result.problems).toMatchObject([{ kind: 'note', message: '1 entries are unreadable' }]);
    const spans = result.details[0]?.reportedSpans ?? [];
    expect(spans.slice(1).every(({ from }, index) => from >= (spans[index]?.to ?? 0))).toBe(true);
  });
});
