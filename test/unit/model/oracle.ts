/**
 * The arithmetic once more, written as slowly and plainly as can be and sharing nothing with `src`: every cell of the
 * window is asked by itself which spans hold there. A cell in which nothing begins or ends is one question; any other
 * is asked again for each piece between the instants at which something does.
 */

import type { History, Span } from '../../../src/model/overlap.ts';
import type { State } from '../../../src/model/state.ts';
import type { Interval } from '../../../src/model/time.ts';

const WORST_FIRST: readonly State[] = [
  'major_outage',
  'partial_outage',
  'degraded',
  'unknown',
  'maintenance',
  'operational',
  'paused',
];

export interface OraclePiece {
  readonly state: State;
  readonly counted: State;
  /** Whether anybody looked, and knows what was to be seen. */
  readonly isSeen: boolean;
  readonly from: number;
  readonly to: number;
}

/** What shows at one instant. */
export function stateAt(history: History, at: number): State {
  return worstOf([seenAt(history, at), ...declaredAt(history, at, () => true)]);
}

/** What counts at one instant. */
export function countedAt(history: History, at: number): State {
  return worstOf([seenAt(history, at), ...declaredAt(history, at, (isCounted) => isCounted)]);
}

/** What holds without the words of people. */
function seenAt(history: History, at: number): State {
  if (history.maintenances.some((window) => holds(window, at))) return 'maintenance';
  if (history.outages.some((outage) => holds(outage, at))) return 'major_outage';
  const told = worstAt(history.observed, at) ?? worstAt(history.reported, at);
  if (told !== null) return told;
  return (history.watched ?? []).some((watch) => holds(watch, at)) ? 'operational' : 'unknown';
}

function declaredAt(history: History, at: number, isWanted: (isCounted: boolean) => boolean): State[] {
  return (history.declared ?? [])
    .filter((span) => holds(span, at) && isWanted(span.isCounted))
    .map((span) => span.state);
}

function worstOf(states: readonly State[]): State {
  return WORST_FIRST.find((state) => states.includes(state)) ?? 'unknown';
}

/** The window in cells of `cellMs`, cut where something begins or ends inside one. */
export function piecesOf(history: History, window: Interval, cellMs: number): OraclePiece[] {
  const all: readonly Interval[] = [
    ...history.observed,
    ...history.reported,
    ...history.outages,
    ...history.maintenances,
    ...(history.declared ?? []),
    ...(history.watched ?? []),
  ];
  const pieceOf = (from: number, to: number): OraclePiece => ({
    state: stateAt(history, from),
    counted: countedAt(history, from),
    isSeen:
      stateAt(history, from) !== 'unknown' &&
      [...history.observed, ...history.reported, ...(history.watched ?? [])].some((span) => holds(span, from)),
    from,
    to,
  });
  const instants = all.flatMap(({ from, to }) => [from as number, to as number]).sort((a, b) => a - b);
  const pieces: OraclePiece[] = [];
  let next = 0;
  for (let cell: number = window.from; cell < window.to; cell += cellMs) {
    const end = Math.min(cell + cellMs, window.to);
    let from = cell;
    while (next < instants.length && (instants[next] ?? end) < end) {
      const instant = instants[next] ?? end;
      next += 1;
      if (instant <= from) continue;
      pieces.push(pieceOf(from, instant));
      from = instant;
    }
    pieces.push(pieceOf(from, end));
  }
  return pieces;
}

/** Milliseconds in each state, as it shows or as it counts. */
export function sumsOf(pieces: readonly OraclePiece[], reading: 'state' | 'counted'): Map<State, number> {
  const sums = new Map<State, number>();
  for (const piece of pieces) sums.set(piece[reading], (sums.get(piece[reading]) ?? 0) + (piece.to - piece.from));
  return sums;
}

/** Up over counted, from sums; null when nothing counts. */
export function ratioOf(sums: ReadonlyMap<State, number>): number | null {
  const of = (state: State) => sums.get(state) ?? 0;
  const counted = of('operational') + of('degraded') + of('partial_outage') + of('major_outage');
  if (counted === 0) return null;
  return (of('operational') + of('degraded') + 0.7 * of('partial_outage')) / counted;
}

function holds(span: Interval, at: number): boolean {
  return span.from <= at && at < span.to;
}

function worstAt(spans: readonly Span[], at: number): State | null {
  const states = spans.filter((span) => holds(span, at)).map((span) => span.state);
  return WORST_FIRST.find((state) => states.includes(state)) ?? null;
}
