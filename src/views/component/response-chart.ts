/** Response times as a line: average of each stretch, and the band up to the 95th percentile. */

import {
  bucketed,
  type ComponentModel,
  dayOf,
  HOUR_MS,
  type Interval,
  type ResponseTime,
  type ResponseTimeBucket,
  type ResponseTimeFigures,
  responseTimeFigures,
  toEpochMs,
  type UptimePeriod,
  upstreamResponseMs,
  windowOf,
} from '../../model/index.ts';
import type { DatedPage, ViewContext } from '../frame/shell.ts';
import { fill } from '../words/index.ts';

/** Periods that are drawn: into how many stretches at most, and how often a day or an hour is named below. */
const PERIODS = {
  '24h': { points: 96, ticks: 4 },
  '7d': { points: 84, ticks: 7 },
  '30d': { points: 90, ticks: 3 },
  '90d': { points: 90, ticks: 3 },
} as const satisfies Partial<Record<UptimePeriod, { points: number; ticks: number }>>;
type ChartPeriod = keyof typeof PERIODS;
/** Fewer stretches where samples are few, so that a sparse series is not all gaps. */
const POINTS_MIN = 12;
export const CHART_HEIGHT = 100;

export type ResponseChartView = NonNullable<ReturnType<typeof buildResponseChart>>;

/** Null when nothing was measured in the last ninety days. */
export function buildResponseChart(context: ViewContext<DatedPage>, { responseTimes }: ComponentModel) {
  const { asOf } = context.model;
  let known = 0;
  const periods = (Object.keys(PERIODS) as ChartPeriod[]).flatMap((id) => {
    const { from } = windowOf(id, asOf);
    const samples = responseTimes.filter(({ at }) => at >= from && at < asOf);
    if (samples.length === known) return [];
    known = samples.length;
    return [periodView(context, id, samples)];
  });
  const [first, ...others] = periods;
  const latest = responseTimes.findLast(({ at }) => at < asOf);
  if (first === undefined || latest === undefined) return null;
  // Shortest first: those with samples that a shorter one does not have.
  return { periods: [first, ...others] as const, latest: milliseconds(context, latest.ms) };
}

/** One period of the chart. @param samples  those of the period, at least one */
function periodView(context: ViewContext<DatedPage>, id: ChartPeriod, samples: readonly ResponseTime[]) {
  const { model, words, format } = context;
  const { points, ticks } = PERIODS[id];
  const window = windowOf(id, model.asOf);
  const figures = responseTimeFigures(samples, window);
  if (figures === null) throw new TypeError(`There are no samples to draw for ${id}`);
  const count = Math.min(points, Math.max(POINTS_MIN, Math.floor(samples.length / 2)));
  // A day is drawn in whole hours, so that they can be named.
  const to = id === '24h' ? toEpochMs(Math.ceil(window.to / HOUR_MS) * HOUR_MS) : window.to;
  const drawn: Interval = { from: toEpochMs(to - (window.to - window.from)), to };
  const buckets = bucketed(samples, drawn, count);
  const topMs = niceTop(Math.max(...buckets.map((bucket) => bucket.figures?.p95Ms ?? 0)));
  const average = milliseconds(context, figures.averageMs);
  const p95 = milliseconds(context, figures.p95Ms);
  const axisValue = (ms: number) => fill(words.milliseconds, { n: format.number(ms) });
  return {
    id,
    period: words[`period${id}`],
    // In a box `width` wide and `CHART_HEIGHT` high.
    ...drawPaths(buckets, topMs),
    width: count - 1,
    // Instants at equal distances, the first at the start of the box and the last at its end.
    ticks: Array.from({ length: ticks + 1 }, (_, index) => {
      const at = toEpochMs(drawn.from + ((to - drawn.from) * index) / ticks);
      const { iso, text } = format.plain.clock(at);
      return { iso, text: id === '24h' ? text : format.dayInYear(dayOf(at, model.settings.timezone)) };
    }),
    // Values at the top of the box, in its middle and at its bottom.
    values: [axisValue(topMs), axisValue(topMs / 2), axisValue(0)] as const,
    average,
    p95,
    summary: fill(words.responseChart, {
      from: format.plain.time(window.from).text,
      to: format.zoned.time(window.to).text,
      average,
      p95,
    }),
  };
}

export function milliseconds({ words, format }: ViewContext<DatedPage>, ms: number): string {
  return fill(words.milliseconds, { n: format.number(Math.round(ms)) });
}

/** One for two hours: with more the page would weigh more than it tells. */
export const SPARK_POINTS = 12;
export const SPARK_HEIGHT = 8;

/** The last day in the width of a word. Null when nothing was measured in the last day and the upstream gives no average. */
export function buildSpark(context: ViewContext<DatedPage>, component: ComponentModel) {
  const { model } = context;
  const { responseTimes } = component;
  const window = windowOf('24h', model.asOf);
  const figures = responseTimeFigures(responseTimes, window);
  if (figures === null) {
    const averageMs = upstreamResponseMs(component, model.asOf);
    return averageMs === null ? null : { line: '', average: milliseconds(context, averageMs) };
  }
  const buckets = bucketed(responseTimes, window, SPARK_POINTS);
  const topMs = Math.max(...buckets.map((bucket) => bucket.figures?.averageMs ?? 0));
  const line = lineRuns(buckets).map((run) => {
    const points = run.map(
      ({ x, figures: { averageMs } }) => `${x} ${Math.round(SPARK_HEIGHT * (1 - averageMs / topMs))}`,
    );
    return `M${points.join(' ')}${run.length === 1 ? 'h.5' : ''}`;
  });
  return {
    // Path data in a box `SPARK_POINTS - 1` wide and `SPARK_HEIGHT` high; empty: there is nothing to draw.
    line: line.join(''),
    // Average of the day, or what the upstream gives as its average.
    average: milliseconds(context, figures.averageMs),
  };
}

/** The next of 1, 2, 5, 10, … at or above `ms`. */
function niceTop(ms: number): number {
  const scale = 10 ** Math.floor(Math.log10(Math.max(1, ms)));
  return [1, 2, 5, 10].map((step) => step * scale).find((top) => top >= ms) ?? 10 * scale;
}

/** A stretch without samples is a gap, never a line across it. */
function drawPaths(buckets: readonly ResponseTimeBucket[], topMs: number) {
  const y = (ms: number) => Math.round(CHART_HEIGHT * (1 - Math.min(1, ms / topMs)));
  let line = '';
  let band = '';
  for (const run of lineRuns(buckets)) {
    const averages = run.map(({ x, figures }) => `${x} ${y(figures.averageMs)}`);
    const upper = run.map(({ x, figures }) => `${x} ${y(figures.p95Ms)}`);
    line += `M${averages.join('L')}${run.length === 1 ? 'h.5' : ''}`;
    band += `M${upper.join('L')}L${averages.toReversed().join('L')}z`;
  }
  return { line, band };
}

function lineRuns(buckets: readonly ResponseTimeBucket[]) {
  const runs: { readonly x: number; readonly figures: ResponseTimeFigures }[][] = [];
  let isGap = true;
  for (const [x, { figures }] of buckets.entries()) {
    if (figures === null) isGap = true;
    else {
      if (isGap) runs.push([]);
      runs.at(-1)?.push({ x, figures });
      isGap = false;
    }
  }
  return runs;
}
