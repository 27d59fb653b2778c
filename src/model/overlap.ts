/** Sorts spans, makes them disjoint, and looks them up. */

import { STATES_BY_IMPACT, type State } from './state.ts';
import { type Day, type EpochMs, type Interval, toEpochMs } from './time.ts';

// The past of a monitor or a component as spans, which become one time line.

/** A monitor in one state over `[from, to)`. */
export interface Span extends Interval {
  readonly state: State;
}

/**
 * Where a piece of the time line comes from: our own observations; an outage recorded by the upstream; the upstream's
 * report on the time before our first observation; a declaration by people (for a component without a monitor also that
 * all is well); a maintenance window; or nothing (always `unknown`).
 */
export const PROVENANCES = ['observed', 'incident', 'reported', 'declared', 'maintenance', 'none'] as const;
export type Provenance = (typeof PROVENANCES)[number];

export interface TimelineSpan extends Span {
  readonly provenance: Provenance;
  /**
   * The state that counts for uptime, if different: an impact was declared that must not count. Absent: `state`. Both
   * are in one span, so that all readings of a time line agree.
   */
  readonly counted?: State;
  /** True: nobody was looking. It is only known from a recorded outage, a maintenance window or what people declared. */
  readonly isUnseen?: true;
}

/** A state that people declared for a component. */
export interface DeclaredSpan extends Span {
  /** False: it is shown but doesn't count in uptime. */
  readonly isCounted: boolean;
}

/** One UTC day as the upstream counted its own checks; only the proportions matter. */
export interface ReportedDay {
  readonly day: Day;
  readonly operational: number;
  readonly degraded: number;
  readonly major_outage: number;
}

/**
 * Everything known of one component's past. All lists are sorted by `from`. `observed` and `reported` don't overlap,
 * except where our clock was set back: `timelineOf` then takes the worse state.
 */
export interface History {
  /** Observed by our passes. */
  readonly observed: readonly Span[];
  /** Reported by the upstream for times that we didn't observe. */
  readonly reported: readonly Span[];
  /** Outages of this monitor that the upstream recorded: it was down even if our passes missed it. May overlap. */
  readonly outages: readonly Interval[];
  /** Maintenance windows. May overlap. */
  readonly maintenances: readonly Interval[];
  /** Declared by people. May overlap. Absent: nothing. */
  readonly declared?: readonly DeclaredSpan[];
  /** When people would have reported problems, for a component without a monitor. Absent: never. */
  readonly watched?: readonly Interval[];
}

/**
 * Sorts and separates spans; where several overlap, the worse state wins, whatever their order. Empty and backward
 * spans are dropped. Returns the same list if there is nothing to do.
 */
export function disjointSpans(spans: readonly Span[]): readonly Span[] {
  return isDisjoint(spans) ? spans : keepWorst(spans);
}

/** The union of intervals as spans in `state`, sorted and disjoint. */
export function disjointIntervals(intervals: readonly Interval[], state: State): readonly Span[] {
  if (intervals.length === 0) return [];
  return disjointSpans(intervals.map(({ from, to }) => ({ state, from, to })));
}

/** Index of the first span that ends after `at`; `spans` must be sorted and disjoint. */
export function firstEndingAfter(spans: readonly Interval[], at: EpochMs): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle]?.to ?? at) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isDisjoint(spans: readonly Span[]): boolean {
  let end = Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    if (span.from < end || span.to <= span.from) return false;
    end = span.to;
  }
  return true;
}

interface Edge {
  readonly at: EpochMs;
  readonly state: State;
  readonly step: 1 | -1;
}

/** Walks the edges in order of time, counting the open spans of each state. */
function keepWorst(spans: readonly Span[]): Span[] {
  const edges: Edge[] = [];
  for (const { state, from, to } of spans)
    if (from < to) edges.push({ at: from, state, step: 1 }, { at: to, state, step: -1 });
  edges.sort((a, b) => a.at - b.at);
  const open = new Map<State, number>();
  const result: Span[] = [];
  let from = toEpochMs(0);
  for (const edge of edges) {
    const state = STATES_BY_IMPACT.find((candidate) => (open.get(candidate) ?? 0) > 0);
    if (state !== undefined && from < edge.at) extendOrPush(result, { state, from, to: edge.at });
    open.set(edge.state, (open.get(edge.state) ?? 0) + edge.step);
    from = edge.at;
  }
  return result;
}

function extendOrPush(spans: Span[], span: Span): void {
  const previous = spans.at(-1);
  if (previous?.state === span.state && previous.to === span.from)
    spans[spans.length - 1] = { ...previous, to: span.to };
  else spans.push(span);
}
