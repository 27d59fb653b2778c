/** Sorts spans, makes them disjoint, and looks them up. */

import { STATES_BY_IMPACT, type State } from './state.ts';
import { type Day, type EpochMs, type Interval, toEpochMs } from './time.ts';

// The past of a monitor or a component as spans, which become one time line.

/** A monitor in one state over `[from, to)`. */
export interface Span extends Interval {
  readonly state: State;
}

/**
 * Where a piece of the time line comes from: our own passes, an outage that the upstream recorded, what the upstream
 * says of the time before our first pass, what people declared (of a component without a monitor also that nothing is
 * wrong), a maintenance window, or nowhere (always `unknown`).
 */
export const PROVENANCES = ['observed', 'incident', 'reported', 'declared', 'maintenance', 'none'] as const;
export type Provenance = (typeof PROVENANCES)[number];

export interface TimelineSpan extends Span {
  readonly provenance: Provenance;
  /**
   * The state that uptime counts, where it is another: an impact was declared that is not to count. Absent: `state`.
   * Both stand in one piece, so that no two readings of a time line can disagree.
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

/** One UTC day as an upstream counted its own checks; the shares of the day are in proportion. */
export interface ReportedDay {
  readonly day: Day;
  readonly operational: number;
  readonly degraded: number;
  readonly major_outage: number;
}

/**
 * Everything known of one component's past. All lists are sorted by `from`. `observed` and `reported` are disjoint inside,
 * but where our clock once went back; `timelineOf` then believes the worse.
 */
export interface History {
  /** Observed by our passes. */
  readonly observed: readonly Span[];
  /** Reported by the upstream for times that we didn't observe. */
  readonly reported: readonly Span[];
  /** Outages of this monitor that the upstream recorded: it was down even if our passes missed it. May overlap. */
  readonly outages: readonly Interval[];
  /** Maintenance windows of this monitor or component. May overlap. */
  readonly maintenances: readonly Interval[];
  /** Declared by people. May overlap. Absent: nothing. */
  readonly declared?: readonly DeclaredSpan[];
  /** When people would have reported problems, for a component without a monitor. Absent: never. */
  readonly watched?: readonly Interval[];
}

/**
 * The same spans sorted and disjoint; where several overlap, the worse state stands, so their order does not matter.
 * Empty and backward spans vanish. Hands back the very list when there is nothing to do.
 */
export function disjointSpans(spans: readonly Span[]): readonly Span[] {
  return isDisjoint(spans) ? spans : keepWorst(spans);
}

/** The union of intervals as spans in `state`, sorted and disjoint. */
export function disjointIntervals(intervals: readonly Interval[], state: State): readonly Span[] {
  if (intervals.length === 0) return [];
  return disjointSpans(intervals.map(({ from, to }) => ({ state, from, to })));
}

/** Index of the first of some disjoint sorted spans that ends after `at`. */
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
