/** Spans in any order, perhaps overlapping, made sorted and disjoint, and looked up. */

import type { Span } from './span.ts';
import { STATES_BY_IMPACT, type State } from './state.ts';
import { type EpochMs, type Interval, toEpochMs } from './time.ts';

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

/** Walks the edges in order of time and keeps how many spans of each state are open. */
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
