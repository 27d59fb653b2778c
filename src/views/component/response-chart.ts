/** Response times as a line: average of each stretch, and the band up to the 95th percentile. */

import {
  bucketed,
  type ComponentModel,
  DAY_MS,
  type Interval,
  type ResponseTimeBucket,
  type ResponseTimeFigures,
  responseTimeFigures,
  toEpochMs,
  windowOf,
} from '../../model/index.ts';
import type { DatedPage } from '../frame/page-frame.ts';
import type { ViewContext } from '../frame/shell.ts';
import { upstreamResponseMs } from '../model/upstream-figures.ts';
import type { TimeView } from '../text/format.ts';
import { fill } from '../words/index.ts';

/** Longer is drawn no better. */
const WINDOW_MS_MAX = 7 * DAY_MS;
/** Fewer where samples are few, so that a sparse series is not all gaps. */
const POINTS_MAX = 96;
const POINTS_MIN = 12;
export const CHART_HEIGHT = 100;

export interface ResponseChartView {
  /** Path data in a box `width` wide and `CHART_HEIGHT` high. */
  readonly line: string;
  readonly band: string;
  readonly width: number;
  readonly from: TimeView;
  readonly to: TimeView;
  /** Top of the chart. */
  readonly top: string;
  readonly average: string;
  readonly p95: string;
  readonly latest: string;
  readonly summary: string;
}

/** Null when nothing was measured in the last seven days. */
export function responseChartOf(
  context: ViewContext<DatedPage>,
  { responseTimes }: ComponentModel,
): ResponseChartView | null {
  const { model, words, format } = context;
  const recent = responseTimes.filter(({ at }) => at >= model.asOf - WINDOW_MS_MAX && at < model.asOf);
  const [first] = recent;
  const latest = recent.at(-1);
  if (first === undefined || latest === undefined) return null;
  const window: Interval = { from: first.at, to: model.asOf };
  const figures = responseTimeFigures(recent, window);
  if (figures === null) return null;
  const points = Math.min(POINTS_MAX, Math.max(POINTS_MIN, Math.floor(recent.length / 2)));
  const buckets = bucketed(recent, window, points);
  const topMs = niceTop(Math.max(...buckets.map((bucket) => bucket.figures?.p95Ms ?? 0)));
  const write = (ms: number) => fill(words.milliseconds, { n: format.number(Math.round(ms)) });
  const from = format.time(window.from);
  const to = format.time(toEpochMs(window.to));
  return {
    ...pathsOf(buckets, topMs),
    width: points - 1,
    from,
    to,
    top: write(topMs),
    average: write(figures.averageMs),
    p95: write(figures.p95Ms),
    latest: write(latest.ms),
    summary: fill(words.responseChart, {
      from: from.text,
      to: to.text,
      average: write(figures.averageMs),
      p95: write(figures.p95Ms),
    }),
  };
}

/** The last day in the width of a word. */
export interface SparkView {
  /** Path data in a box `SPARK_POINTS - 1` wide and `SPARK_HEIGHT` high; empty: there is nothing to draw. */
  readonly line: string;
  /** Average of the day, or what the upstream gives as its average. */
  readonly average: string;
}

/** One for two hours: with more the page would weigh more than it tells. */
export const SPARK_POINTS = 12;
export const SPARK_HEIGHT = 8;

/** Null when nothing was measured in the last day and the upstream gives no average. */
export function responseSparkOf(
  { model, words, format }: ViewContext<DatedPage>,
  component: ComponentModel,
): SparkView | null {
  const { responseTimes } = component;
  const write = (ms: number) => fill(words.milliseconds, { n: format.number(Math.round(ms)) });
  const window = windowOf('24h', model.asOf);
  const figures = responseTimeFigures(responseTimes, window);
  if (figures === null) {
    const averageMs = upstreamResponseMs(component, model.asOf);
    return averageMs === null ? null : { line: '', average: write(averageMs) };
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
    line: line.join(''),
    average: write(figures.averageMs),
  };
}

/** The next of 1, 2, 5, 10, … at or above `ms`. */
function niceTop(ms: number): number {
  const scale = 10 ** Math.floor(Math.log10(Math.max(1, ms)));
  return [1, 2, 5, 10].map((step) => step * scale).find((top) => top >= ms) ?? 10 * scale;
}

/** A stretch without samples is a gap, never a line across it. */
function pathsOf(buckets: readonly ResponseTimeBucket[], topMs: number): Pick<ResponseChartView, 'line' | 'band'> {
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

interface Point {
  readonly x: number;
  readonly figures: ResponseTimeFigures;
}

function lineRuns(buckets: readonly ResponseTimeBucket[]): Point[][] {
  const runs: Point[][] = [];
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
