/**
 * One time line out of everything known of a monitor: complete, sorted, disjoint.
 *
 * Precedence at each instant: the monitor's own maintenance window, then an outage incident, then what we observed,
 * then what the upstream reported, then `unknown`. A maintenance window was announced and is not counted, so it stands
 * whatever was seen inside it, also where nothing was heard or the checks were paused. An observed `unknown` or
 * `paused` is an answer and is not replaced by a report.
 */

import { disjointIntervals, disjointSpans } from './overlap.ts';
import type { History, Provenance, ReportedDay, Span, TimelineSpan } from './span.ts';
import type { State } from './state.ts';
import { DAY_MS, type Day, type EpochMs, earlier, type Interval, later, startOfDay, toEpochMs } from './time.ts';

/**
 * The time line of `history` over `window`: spans that touch each other and cover the window wholly, neighbours that
 * agree in state and provenance merged. Empty when the window is.
 *
 * The lists may come in any order and may overlap; where spans of one list overlap, the worse state stands.
 * Linear in the spans that meet the window when the lists are sorted and disjoint, as `History` promises.
 */
export function timelineOf(history: History, window: Interval): TimelineSpan[] {
  const layers: readonly Layer[] = [
    layerOf(disjointIntervals(history.maintenances, 'maintenance'), 'maintenance', window.from),
    layerOf(disjointIntervals(history.outages, 'major_outage'), 'incident', window.from),
    layerOf(disjointSpans(history.observed), 'observed', window.from),
    layerOf(disjointSpans(history.reported), 'reported', window.from),
  ];
  const timeline: TimelineSpan[] = [];
  let from = window.from;
  while (from < window.to) {
    const piece = pieceAt(layers, from, window.to);
    const previous = timeline.at(-1);
    if (previous?.state === piece.state && previous.provenance === piece.provenance)
      timeline[timeline.length - 1] = { ...previous, to: piece.to };
    else timeline.push(piece);
    from = piece.to;
  }
  return timeline;
}

/** Disjoint spans of one provenance, and the first that is not over yet. */
interface Layer {
  readonly spans: readonly Span[];
  readonly provenance: Provenance;
  next: number;
}

function layerOf(spans: readonly Span[], provenance: Provenance, from: EpochMs): Layer {
  return { spans, provenance, next: firstEndingAfter(spans, from) };
}

/** What holds from `from` on: the highest layer with something there, until that ends or a higher one begins. */
function pieceAt(layers: readonly Layer[], from: EpochMs, until: EpochMs): TimelineSpan {
  let to = until;
  for (const layer of layers) {
    let span = layer.spans[layer.next];
    while (span !== undefined && span.to <= from) {
      layer.next += 1;
      span = layer.spans[layer.next];
    }
    if (span === undefined) continue;
    if (span.from <= from) return { state: span.state, from, to: earlier(span.to, to), provenance: layer.provenance };
    if (span.from < to) to = span.from;
  }
  return { state: 'unknown', from, to, provenance: 'none' };
}

/** Index of the first of some disjoint sorted spans that ends after `at`. */
function firstEndingAfter(spans: readonly Interval[], at: EpochMs): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle]?.to ?? at) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of a sorted, disjoint time line that lies inside `window`, cut at its edges; none when the window is empty. */
export function cutTimeline(timeline: readonly TimelineSpan[], window: Interval): TimelineSpan[] {
  const pieces: TimelineSpan[] = [];
  if (window.from >= window.to) return pieces;
  for (let index = firstEndingAfter(timeline, window.from); index < timeline.length; index += 1) {
    const span = timeline[index];
    if (span === undefined || span.from >= window.to) break;
    pieces.push({ ...span, from: later(span.from, window.from), to: earlier(span.to, window.to) });
  }
  return pieces;
}

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
    const stretch = utcDayWithin(reported.day, bounds);
    return stretch === null ? [] : splitInProportion(reported, stretch);
  });
}

function utcDayWithin(day: Day, bounds: Interval | undefined): Interval | null {
  const start = startOfDay(day, 'UTC');
  const end = toEpochMs(start + DAY_MS);
  const from = later(start, bounds?.from ?? start);
  const to = earlier(end, bounds?.to ?? end);
  return from < to ? { from, to } : null;
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
