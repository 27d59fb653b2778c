/** Response times of a window: average, 95th percentile, and buckets for a chart. */

import type { ResponseTime } from './observation.ts';
import { type Interval, toEpochMs } from './time.ts';

export interface ResponseTimeFigures {
  readonly samplesTotal: number;
  readonly averageMs: number;
  /** Nearest rank: the smallest sample that at least 95 % of the samples do not exceed. */
  readonly p95Ms: number;
}

/** Figures of the samples inside `window`, in any order; null when there are none. */
export function responseTimeFigures(samples: readonly ResponseTime[], window: Interval): ResponseTimeFigures | null {
  const values: number[] = [];
  for (const { at, ms } of samples) if (at >= window.from && at < window.to) values.push(ms);
  return measureResponseTimes(values);
}

/** One stretch of a chart. */
export interface ResponseTimeBucket extends Interval {
  /** Null: no sample fell into it, which is a gap in the chart and not a zero. */
  readonly figures: ResponseTimeFigures | null;
}

/** `count` stretches of equal length, to the millisecond, that cover `window` without gap or overlap. */
export function bucketed(samples: readonly ResponseTime[], window: Interval, count: number): ResponseTimeBucket[] {
  const lengthMs = window.to - window.from;
  const values = Array.from({ length: count }, (): number[] => []);
  for (const { at, ms } of samples)
    if (at >= window.from && at < window.to) values[Math.floor(((at - window.from) * count) / lengthMs)]?.push(ms);
  const edge = (index: number) => toEpochMs(window.from + Math.ceil((index * lengthMs) / count));
  return values.map((inside, index) => ({
    from: edge(index),
    to: edge(index + 1),
    figures: measureResponseTimes(inside),
  }));
}

/** Sorted first, which also makes the sum independent of the order; as numbers, since months of samples are many. */
function measureResponseTimes(values: readonly number[]): ResponseTimeFigures | null {
  const samplesTotal = values.length;
  if (samplesTotal === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const sum = sorted.reduce((total, ms) => total + ms, 0);
  const rank = Math.ceil((samplesTotal * 95) / 100);
  return { samplesTotal, averageMs: sum / samplesTotal, p95Ms: sorted[rank - 1] ?? 0 };
}
