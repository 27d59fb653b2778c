/**
 * How what a pass saw becomes part of a monitor's past: a span grows while nothing changes, a change starts another,
 * and a silence stays a gap, which the time line shows as `unknown`.
 */

import type { MonitorId } from './observation.ts';
import type { Span } from './span.ts';
import type { State } from './state.ts';
import type { EpochMs } from './time.ts';

/** One sighting of one monitor. */
export interface Sighting {
  readonly state: State;
  /** When it was seen, by our clock. */
  readonly at: EpochMs;
  /** When the upstream says that it came into this state; null or absent: it does not say. */
  readonly changedAt?: EpochMs | null;
}

/** What a sighting changes in the recorded spans; both null: nothing. */
export interface SpanChange {
  /** The last span as it now stands: the same `from`, a later `to`. */
  readonly extend: Span | null;
  /** A span to add. It may begin and end at the same instant; the next sighting gives it length. */
  readonly append: Span | null;
}

const NO_CHANGE: SpanChange = Object.freeze({ extend: null, append: null });

/**
 * What one sighting changes in a monitor's recorded spans, which stay disjoint and never shrink.
 *
 * - Same state within `silenceMs` of the end of `last`: `last` reaches to the sighting.
 * - Another state: `last` reaches to the change and a new span begins there. The change is at the sighting, or when
 *   the upstream says it was, if that lies between the end of `last` and the sighting.
 * - More than `silenceMs` after the end of `last`: nothing is said of the time between, and a span begins at the sighting.
 * - Before the end of `last` (our clock went back): that time is recorded already and stays as it is; a change seen
 *   there is recorded once the clock has caught up.
 *
 * @param last  of the spans that begin at or before `seen.at` the one that begins last (`lastBegunBy` finds it);
 *              null: there is none. After a clock that ran ahead this is not the newest span of all, so that nothing
 *              seen once the clock is right again is lost.
 */
export function appendObservation(last: Span | null, seen: Sighting, silenceMs: number): SpanChange {
  const { state, at } = seen;
  if (last === null) return { extend: null, append: { state, from: at, to: at } };
  if (at < last.to || (at === last.to && state === last.state)) return NO_CHANGE;
  if (at - last.to > silenceMs) return { extend: null, append: { state, from: at, to: at } };
  if (state === last.state) return { extend: { state, from: last.from, to: at }, append: null };
  // A second sighting at the very instant a span began: the later word holds, and two spans never share a `from`.
  if (at === last.from) return { extend: { state, from: at, to: at }, append: null };
  const changedAt = seen.changedAt ?? at;
  const from = changedAt > last.from && changedAt >= last.to && changedAt <= at ? changedAt : at;
  return {
    extend: from > last.to ? { state: last.state, from: last.from, to: from } : null,
    append: { state, from, to: at },
  };
}

/** A sighting in a pass over many monitors. */
export interface MonitorSighting extends Sighting {
  readonly id: MonitorId;
}

/** The changes of one pass, ready to be written: only what differs from what is stored. */
export interface PassChange {
  readonly extended: readonly MonitorSpan[];
  readonly appended: readonly MonitorSpan[];
}

export interface MonitorSpan {
  readonly id: MonitorId;
  readonly span: Span;
}

/** `appendObservation` for every monitor of a pass; `lasts` holds what it calls `last`, and lacks the new monitors. */
export function appendObservations(
  lasts: ReadonlyMap<MonitorId, Span>,
  seen: readonly MonitorSighting[],
  silenceMs: number,
): PassChange {
  const extended: MonitorSpan[] = [];
  const appended: MonitorSpan[] = [];
  for (const sighting of seen) {
    const { id } = sighting;
    const change = appendObservation(lasts.get(id) ?? null, sighting, silenceMs);
    if (change.extend !== null) extended.push({ id, span: change.extend });
    if (change.append !== null) appended.push({ id, span: change.append });
  }
  return { extended, appended };
}

/** Of spans sorted by `from`, the last that begins at or before `at`. */
export function lastBegunBy(spans: readonly Span[], at: EpochMs): Span | null {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle]?.from ?? at) <= at) low = middle + 1;
    else high = middle;
  }
  return spans[low - 1] ?? null;
}
