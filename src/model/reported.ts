/** What an upstream says of the time that we did not see, as spans. */

import type { ResponseTime, UpstreamUptime } from './observation.ts';
import { disjointSpans, firstEndingAfter } from './overlap.ts';
import type { ReportedDay, Span } from './span.ts';
import type { State } from './state.ts';
import { DAY_MS, type Day, type EpochMs, earlier, type Interval, later, startOfDay, toEpochMs } from './time.ts';

/** What is remembered of one monitor; lists sorted by time. */
export interface RememberedPast {
  readonly observed: readonly Span[];
  readonly reported: readonly Span[];
  readonly reportedDays: readonly ReportedDay[];
}

/** One monitor's past, as far as it is remembered. Open spans end at their upstream's last good answer. */
export interface MonitorPast extends RememberedPast {
  readonly responseTimes: readonly ResponseTime[];
  readonly uptime: UpstreamUptime | null;
}

/**
 * The `reported` list of a `History`: exact spans as they are, and counted days for the time before our first
 * observation, or before `asOf` if there is none. A counted day that exact spans tell of is left out, or its trouble
 * would show twice.
 */
export function reportedSpans({ observed, reported, reportedDays }: RememberedPast, asOf: EpochMs): Span[] {
  const exact = disjointSpans(reported);
  const untold = reportedDays.filter(({ day }) => {
    const { from, to } = utcDay(day);
    return (exact[firstEndingAfter(exact, from)]?.from ?? to) >= to;
  });
  const counted = spansOfReportedDays(untold, { from: EARLIEST, to: earlier(observed[0]?.from ?? asOf, asOf) });
  return [...exact, ...counted].sort((a, b) => a.from - b.from);
}

const EARLIEST = Number.NEGATIVE_INFINITY as EpochMs;

/**
 * Days that an upstream counted itself, as spans: each UTC day, as far as it lies inside `bounds`, is split in the
 * proportion of its counts.
 *
 * Only the sums are the upstream's word, the hours are not: trouble is put into the middle of the stretch, where it
 * falls on the same date in most time zones. A day with any trouble keeps at least a millisecond of it; a day with no
 * checks gives nothing. Sorted by `from`.
 *
 * @param bounds  what to leave out: usually ends at our first observation, so that a day we saw half of keeps its
 *                proportions in the other half
 */
export function spansOfReportedDays(days: readonly ReportedDay[], bounds?: Interval): Span[] {
  const sorted = days.toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
  return sorted.flatMap((reported) => {
    const { from, to } = utcDay(reported.day);
    const stretch =
      bounds === undefined ? { from, to } : { from: later(from, bounds.from), to: earlier(to, bounds.to) };
    return stretch.from < stretch.to ? splitInProportion(reported, stretch) : [];
  });
}

function utcDay(day: Day): Interval {
  const from = startOfDay(day, 'UTC');
  return { from, to: toEpochMs(from + DAY_MS) };
}

function splitInProportion(counts: ReportedDay, { from, to }: Interval): Span[] {
  const total = counts.operational + counts.degraded + counts.major_outage;
  if (!(total > 0)) return [];
  const lengthMs = to - from;
  // Rounded up: "no trouble at all" is a claim that rounding must not make.
  const downMs = Math.min(lengthMs, Math.ceil((lengthMs * counts.major_outage) / total));
  const degradedMs = Math.min(lengthMs - downMs, Math.ceil((lengthMs * counts.degraded) / total));
  const beforeMs = Math.floor((lengthMs - downMs - degradedMs) / 2);
  const edges = [from, from + beforeMs, from + beforeMs + degradedMs, from + beforeMs + degradedMs + downMs, to];
  const states: readonly State[] = ['operational', 'degraded', 'major_outage', 'operational'];
  return states
    .map((state, index) => ({ state, from: toEpochMs(edges[index] ?? to), to: toEpochMs(edges[index + 1] ?? to) }))
    .filter((span) => span.from < span.to);
}
