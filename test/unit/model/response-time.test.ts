import { describe, expect, it } from 'vitest';
import type { ResponseTime } from '../../../src/model/observation.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { bucketed, responseTimeFigures } from '../../../src/model/uptime.ts';
import { randomOf, shuffled } from './random-history.ts';

const WINDOW = { from: toEpochMs(1_000), to: toEpochMs(2_000) };

function sample(at: number, ms: number): ResponseTime {
  return { at: toEpochMs(at), ms };
}

describe('responseTimeFigures', () => {
  it('is null when nothing was measured, which is not zero', () => {
    expect(responseTimeFigures([], WINDOW)).toBeNull();
    expect(responseTimeFigures([sample(999, 5), sample(2_000, 5)], WINDOW)).toBeNull();
  });

  it('takes the window half open', () => {
    const samples = [sample(999, 1), sample(1_000, 10), sample(1_999, 20), sample(2_000, 1)];
    expect(responseTimeFigures(samples, WINDOW)).toEqual({ averageMs: 15, p95Ms: 20 });
  });

  it.each([
    [1, 1],
    [10, 10],
    [19, 19],
    [20, 19],
    [21, 20],
    [100, 95],
    [140, 133],
    [1_000, 950],
  ])('has, of 1 to %d, the 95th percentile at %d by nearest rank', (count, p95Ms) => {
    const samples = Array.from({ length: count }, (_, index) => sample(1_000, index + 1));
    expect(responseTimeFigures(samples, WINDOW)?.p95Ms).toBe(p95Ms);
  });

  it('does not depend on the order of the samples, to the last bit', () => {
    const random = randomOf(7);
    const samples = Array.from({ length: 500 }, () => sample(1_000 + random() * 1_000, (random() * 300) / 7));
    const figures = responseTimeFigures(samples, WINDOW);
    for (let run = 0; run < 20; run += 1)
      expect(responseTimeFigures(shuffled(random, samples), WINDOW)).toEqual(figures);
  });
});

describe('bucketed', () => {
  it('tiles the window, also where it does not divide evenly', () => {
    const buckets = bucketed([], WINDOW, 7);
    expect(buckets).toHaveLength(7);
    expect(buckets[0]?.from).toBe(WINDOW.from);
    expect(buckets.at(-1)?.to).toBe(WINDOW.to);
    for (const [index, bucket] of buckets.entries()) if (index > 0) expect(bucket.from).toBe(buckets[index - 1]?.to);
  });

  it('puts every sample of the window into the bucket that holds its instant', () => {
    for (const count of [1, 3, 7, 48, 999]) {
      const samples = Array.from({ length: 1_000 }, (_, index) => sample(1_000 + index, index));
      for (const bucket of bucketed(samples, WINDOW, count))
        expect(bucket.figures).toEqual(responseTimeFigures(samples, bucket));
    }
  });

  it('leaves a gap where nothing was measured', () => {
    const figures = bucketed([sample(1_100, 40), sample(1_900, 60)], WINDOW, 4).map((bucket) => bucket.figures);
    expect(figures.map((each) => each?.averageMs ?? null)).toEqual([40, null, null, 60]);
  });
});
