/**
 * One time line out of everything known of a monitor: complete, sorted, disjoint.
 *
 * Precedence at each instant: the monitor's own maintenance window, then an outage incident, then what we observed,
 * then what the upstream reported, then `unknown`. A maintenance window was announced and is not counted, so it stands
 * whatever was seen inside it, also where nothing was heard or the checks were paused. An observed `unknown` or
 * `paused` is an answer and is not replaced by a report.
 */

import { disjointIntervals, disjointSpans, firstEndingAfter } from './overlap.ts';
import type { History, Provenance, Span, TimelineSpan } from './span.ts';
import { type EpochMs, earlier, type Interval, later } from './time.ts';

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
