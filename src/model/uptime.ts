/**
 * Uptime: up ÷ (observed − maintenance − paused), over any window of a time line.
 *
 * `operational` and `degraded` are up, `major_outage` is down, and `partial_outage` is 30 % down, the weight that
 * Statuspage and Instatus use, so that figures are comparable. Maintenance, paused and unknown time does not count; the
 * observed share is given as coverage. A declared impact counts unless it was declared not to: then the state below it
 * counts.
 *
 * A figure needs observation: below `COVERAGE_MIN` there is none. Reported time alone is not observation, because
 * upstreams report outages but not good times: a month for which only an outage is known has no uptime.
 */

import { LRUCache } from 'lru-cache';
import type { ResponseTime } from './observation.ts';
import type { TimelineSpan } from './overlap.ts';
import type { ComponentModel } from './page.ts';
import { STATES, type State } from './state.ts';
import { DAY_MS, type EpochMs, type Interval, toEpochMs } from './time.ts';
import { cutTimeline } from './timeline.ts';

// Response times of a window: average, 95th percentile, and buckets for a chart.

export interface ResponseTimeFigures {
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

/** One interval of a chart. */
export interface ResponseTimeBucket extends Interval {
  /** Null: there are no samples, which is a gap in the chart, not a zero. */
  readonly figures: ResponseTimeFigures | null;
}

/** `count` intervals of equal length, to the millisecond, that cover `window` without gaps or overlaps. */
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

/** Sorting makes the sum independent of the order. A typed array sorts months of samples fast. */
function measureResponseTimes(values: readonly number[]): ResponseTimeFigures | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const sum = sorted.reduce((total, ms) => total + ms, 0);
  const rank = Math.ceil((values.length * 95) / 100);
  return { averageMs: sum / values.length, p95Ms: sorted[rank - 1] ?? 0 };
}

// Writes ratios as percentages that never look better than they are.

/**
 * A ratio as a percentage, rounded down to `decimals` decimals: 0.99995 is "99.99%". Only exactly 1 gives "100%",
 * always without decimals. "–" for null and for anything that is not a ratio.
 *
 * @param locale  BCP 47; decides the decimal separator and the space before the percent sign
 */
export function formatUptime(ratio: number | null, decimals: number, locale = 'en'): string {
  if (ratio === null || !(ratio >= 0 && ratio <= 1)) return '–';
  if (ratio === 1) return percentFormat(locale, 0).format(1);
  return percentFormat(locale, decimals).format(floorTo(ratio, decimals + 2));
}

/** Rounds a ratio down to `digits` decimal places. A ratio that already has so few decimals stays the same. */
export function floorTo(ratio: number, digits: number): number {
  const scale = 10 ** digits;
  const floored = Math.floor(ratio * scale);
  // The product isn't exact: 0.57 × 100 gives 56.99…, and a value just below a step could reach it.
  if ((floored + 1) / scale <= ratio) return (floored + 1) / scale;
  return floored / scale <= ratio ? floored / scale : (floored - 1) / scale;
}

/** Creating a formatter takes about a thousand times as long as using it. Bounded, because badges can be requested in any locale. */
const formats = new LRUCache<string, Intl.NumberFormat>({ max: 64 });

function percentFormat(locale: string, decimals: number): Intl.NumberFormat {
  const key = `${locale} ${decimals}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat(locale, {
    style: 'percent',
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  formats.set(key, format);
  return format;
}

/** The version of the formula above. It changes whenever the same time line would give another figure. */
export const FORMULA_VERSION = 3;

/** The share of a window that must have been observed for a ratio. */
const COVERAGE_MIN = 0.01;

/** Whole milliseconds in each state. */
export type MsByState = Readonly<Record<State, number>>;

export interface Uptime {
  /** Length of the window. */
  readonly windowMs: number;
  /** As shown; the part of the window that no span covers is `unknown`. */
  readonly msByState: MsByState;
  /** As counted; differs only if an impact was declared not to count. */
  readonly countedMsByState: MsByState;
  /** Weighted down time. */
  readonly downMs: number;
  /** The part of the observed time that was seen, not only reported. */
  readonly seenMs: number;
  /** 0 to 1; null if no time counts or too little was observed. Exactly 1 only if nothing was down. */
  readonly ratio: number | null;
  /** The same with maintenance counted as up. */
  readonly ratioWithMaintenance: number | null;
  /** Observed share of the window, 0 to 1; 0 if the window is empty. */
  readonly coverageRatio: number;
}

/** Uptime of a sorted, disjoint time line over `window`. Like all time without a span, the future is `unknown`. */
export function uptimeOf(timeline: readonly TimelineSpan[], window: Interval): Uptime {
  const pieces = cutTimeline(timeline, window);
  const windowMs = Math.max(0, window.to - window.from);
  const shown = sumByState(pieces, windowMs);
  return uptimeOfMs(shown, sumCounted(pieces, shown), sumSeenMs(pieces));
}

function sumSeenMs(pieces: readonly TimelineSpan[]): number {
  return pieces.reduce((sum, piece) => (isSeen(piece) ? sum + piece.to - piece.from : sum), 0);
}

function isSeen({ state, isUnseen }: TimelineSpan): boolean {
  return state !== 'unknown' && isUnseen !== true;
}

/** Milliseconds in each state, from the pieces of a time line in a window; time without a piece is `unknown`. */
export function sumByState(pieces: readonly TimelineSpan[], windowMs: number): MsByState {
  const ms = emptyMsByState();
  ms.unknown = windowMs;
  for (const { state, from, to } of pieces) {
    ms.unknown -= to - from;
    ms[state] += to - from;
  }
  return ms;
}

/** The milliseconds that uptime counts, from those shown; the same object if they don't differ. */
export function sumCounted(pieces: readonly TimelineSpan[], shown: MsByState): MsByState {
  let ms: Record<State, number> | null = null;
  for (const { state, counted, from, to } of pieces) {
    if (counted === undefined) continue;
    ms ??= { ...shown };
    ms[state] -= to - from;
    ms[counted] += to - from;
  }
  return ms ?? shown;
}

export function emptyMsByState(): Record<State, number> {
  return { operational: 0, degraded: 0, partial_outage: 0, major_outage: 0, maintenance: 0, paused: 0, unknown: 0 };
}

/** Computes the figures from the time in each state, as shown and as counted. */
function uptimeOfMs(shown: MsByState, ms: MsByState, seenMs: number): Uptime {
  const countedMs = ms.operational + ms.degraded + ms.partial_outage + ms.major_outage;
  const downTenths = ms.major_outage * 10 + ms.partial_outage * 3;
  const windowMs = countedMs + ms.maintenance + ms.paused + ms.unknown;
  const isEnough = seenMs >= windowMs * COVERAGE_MIN;
  return {
    windowMs,
    msByState: shown,
    countedMsByState: ms,
    downMs: downTenths / 10,
    seenMs,
    ratio: isEnough ? shareUp(countedMs, downTenths) : null,
    ratioWithMaintenance: isEnough ? shareUp(countedMs + ms.maintenance, downTenths) : null,
    coverageRatio: windowMs > 0 ? (windowMs - shown.unknown) / windowMs : 0,
  };
}

/** In whole tenths of a millisecond. Fractions aren't exact, and rounding down could then lose a step. */
function shareUp(countedMs: number, downTenths: number): number | null {
  return countedMs > 0 ? (countedMs * 10 - downTenths) / (countedMs * 10) : null;
}

/**
 * Uptime of a group or a page: the mean of its components' ratios, weighted by the time that counts in each, so that a
 * component added yesterday has little effect on a 90-day figure. Times are sums over the components.
 */
export function combinedUptime(uptimes: readonly Uptime[]): Uptime {
  const [only] = uptimes;
  if (only !== undefined && uptimes.length === 1) return only;
  const shown = emptyMsByState();
  const counted = emptyMsByState();
  let seenMs = 0;
  for (const uptime of uptimes) {
    seenMs += uptime.seenMs;
    for (const state of STATES) {
      shown[state] += uptime.msByState[state];
      counted[state] += uptime.countedMsByState[state];
    }
  }
  return uptimeOfMs(shown, counted, seenMs);
}

/** The periods of uptime figures, in days of 24 hours that end now. */
export const UPTIME_PERIODS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, '365d': 365 } as const;
export type UptimePeriod = keyof typeof UPTIME_PERIODS;

type Periods = Readonly<Record<UptimePeriod, Uptime>>;

/** The page, its badges and its JSON use the same figures. */
const counted = new WeakMap<readonly TimelineSpan[], { readonly now: EpochMs; readonly periods: Periods }>();

/**
 * Uptime for every period; time before the time line is `unknown`. Cached by identity: never change a time line after
 * passing it in.
 */
export function uptimePeriods(timeline: readonly TimelineSpan[], now: EpochMs): Periods {
  const known = counted.get(timeline);
  if (known?.now === now) return known.periods;
  const periods = measurePeriods(timeline, now);
  counted.set(timeline, { now, periods });
  return periods;
}

/** Measures all periods in one walk back from `now`: each longer window continues where the shorter one ended. */
function measurePeriods(timeline: readonly TimelineSpan[], now: EpochMs): Periods {
  const shown = emptyMsByState();
  let counted: Record<State, number> | null = null;
  let coveredMs = 0;
  let seenMs = 0;
  const add = (span: TimelineSpan, ms: number): void => {
    const { state, counted: counting } = span;
    coveredMs += ms;
    if (isSeen(span)) seenMs += ms;
    if (counting !== undefined) counted ??= { ...shown };
    shown[state] += ms;
    if (counted !== null) counted[counting ?? state] += ms;
  };
  let index = timeline.length - 1;
  let to = now;
  const figures = (period: UptimePeriod): Uptime => {
    const { from } = windowOf(period, now);
    for (let span = timeline[index]; span !== undefined && span.to > from; span = timeline[index]) {
      const ms = Math.min(span.to, to) - Math.max(span.from, from);
      if (ms > 0) add(span, ms);
      if (span.from < from) break;
      index -= 1;
    }
    to = from;
    const uncoveredMs = now - from - coveredMs;
    const withUnknown = (ms: MsByState): MsByState => ({ ...ms, unknown: ms.unknown + uncoveredMs });
    const all = withUnknown(shown);
    return uptimeOfMs(all, counted === null ? all : withUnknown(counted), seenMs);
  };
  return {
    '24h': figures('24h'),
    '7d': figures('7d'),
    '30d': figures('30d'),
    '90d': figures('90d'),
    '365d': figures('365d'),
  };
}

export function windowOf(period: UptimePeriod, now: EpochMs): Interval {
  return { from: toEpochMs(now - UPTIME_PERIODS[period] * DAY_MS), to: now };
}

/** The uptime that its upstream counts, 0 to 1; null: it gives neither a figure nor counts of checks. */
export function upstreamRatio({ upstreamUptime }: Pick<ComponentModel, 'upstreamUptime'>): number | null {
  if (upstreamUptime === null) return null;
  const { uptimeRatio, checksTotal, checksUp } = upstreamUptime;
  if (uptimeRatio !== null) return uptimeRatio;
  return checksTotal === null || checksUp === null || checksTotal === 0 ? null : checksUp / checksTotal;
}

/** The average that its upstream gives, in ms, where it has no samples of the last day; null: none, or it is not heard from. */
export function upstreamResponseMs(
  { isStale, responseTimes, upstreamUptime }: ComponentModel,
  asOf: EpochMs,
): number | null {
  if (isStale || responseTimeFigures(responseTimes, windowOf('24h', asOf)) !== null) return null;
  return upstreamUptime?.responseTimeAverageMs ?? null;
}
