/** Derives the current state and the past from lists of single measurements. */

import type { MonitorDetail, MonitorId } from '../../model/observation.ts';
import type { Span } from '../../model/overlap.ts';
import { combinedState, type State } from '../../model/state.ts';
import { DAY_MS, type EpochMs, MINUTE_MS, toEpochMs } from '../../model/time.ts';

export interface Measurement {
  readonly at: EpochMs;
  readonly state: State;
  /** Null: not given, or there was no answer. */
  readonly responseTimeMs: number | null;
  /** True: it failed and is retried sooner than usual. */
  readonly isRetried?: boolean;
}

/** A measurement is valid for this many intervals, or for one and a half if they are longer than a day … */
const INTERVALS_MAX = 3;
const LONG_INTERVALS_MAX = 1.5;
/** … plus the time that responses may be cached. */
const KEPT_MS = 3 * MINUTE_MS;
/** If there is only one measurement, it is valid for about an hour. */
const INTERVAL_DEFAULT_MS = 20 * MINUTE_MS;
/** Longer intervals can't be distinguished from a monitor that stopped. */
const INTERVAL_MAX_MS = 8 * DAY_MS;
/** Measurements further in the future come from another time zone or a wrong clock. */
const AHEAD_MAX_MS = 5 * MINUTE_MS;

/** Collects what the measurements of monitors tell, of each in one call of `add`. */
export function createHistory(now: EpochMs) {
  const changedAt: Record<MonitorId, EpochMs> = {};
  const details = new Map<MonitorId, MonitorDetail>();
  return {
    /** When monitors entered their state. */
    changedAt,
    /** The past of the listed monitors. */
    detailsOf: (monitors: readonly Pick<MonitorDetail, 'id'>[]) => monitors.flatMap(({ id }) => details.get(id) ?? []),
    /** Returns the state now. @param isWhole  false: not all can be read, and the newest may be among the others */
    add: (id: MonitorId, measurements: readonly Measurement[], isWhole: boolean): State => {
      const inOrder = measurements.toSorted((a, b) => a.at - b.at);
      const state = isWhole ? presentState(inOrder, now) : 'unknown';
      const at = lastChangeAt(inOrder);
      if (at !== null && state !== 'unknown') changedAt[id] = at;
      details.set(id, projectPast(id, inOrder, now));
      return state;
    },
  };
}

/**
 * The state that the newest of them gives, and `unknown` where there is none, where it is too old to hold still, or of the
 * future: an answer is as old as what was measured, not as its arrival.
 *
 * @param measurements  oldest first
 */
function presentState(measurements: readonly Measurement[], now: EpochMs): State {
  const newest = measurements.at(-1);
  if (newest === undefined || newest.at > now + AHEAD_MAX_MS) return 'unknown';
  if (now - newest.at > heldMs(medianInterval(measurements)) + KEPT_MS) return 'unknown';
  return combinedState(measurements.filter(({ at }) => at === newest.at).map(({ state }) => state));
}

function heldMs(intervalMs: number): number {
  return intervalMs * (intervalMs > DAY_MS ? LONG_INTERVALS_MAX : INTERVALS_MAX);
}

/** When the current state began; null: no other state is known before. @param measurements  oldest first */
function lastChangeAt(measurements: readonly Measurement[]): EpochMs | null {
  const state = measurements.at(-1)?.state;
  const before = measurements.findLastIndex((one) => one.state !== state);
  return before === -1 ? null : (measurements[before + 1]?.at ?? null);
}

/** The usual interval: the median of the last twenty, without the shorter ones before a retry. */
function medianInterval(measurements: readonly Measurement[]): number {
  const gaps = measurements
    .flatMap(({ at, isRetried = false }, index) => {
      const next = measurements[index + 1]?.at ?? at;
      return isRetried || next <= at ? [] : [next - at];
    })
    .slice(-20)
    .toSorted((a, b) => a - b);
  return Math.min(gaps[Math.floor(gaps.length / 2)] ?? INTERVAL_DEFAULT_MS, INTERVAL_MAX_MS);
}

/**
 * What they tell of the past: each holds until the next, or for one interval where none came for long.
 *
 * @param measurements  oldest first
 */
function projectPast(id: MonitorId, measurements: readonly Measurement[], now: EpochMs): MonitorDetail {
  const intervalMs = medianInterval(measurements);
  const pieces = measurements.map(({ at, state }, index): Span => {
    const next = measurements[index + 1]?.at ?? now;
    return {
      state,
      from: at,
      to: toEpochMs(Math.min(next - at > heldMs(intervalMs) ? at + intervalMs : next, now)),
    };
  });
  return createDetail(id, now, {
    reportedSpans: toSpans(pieces),
    responseTimes: measurements.flatMap(({ at, responseTimeMs }) =>
      responseTimeMs === null || responseTimeMs < 0 || at > now ? [] : [{ at, ms: Math.round(responseTimeMs) }],
    ),
  });
}

/** Turns disjoint pieces, oldest first, into spans. Merges equal neighbours, and drops unknown and empty ones. */
export function toSpans(pieces: readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const piece of pieces) {
    if (piece.state === 'unknown' || piece.to <= piece.from) continue;
    const last = spans.at(-1);
    if (last?.to === piece.from && last.state === piece.state) spans[spans.length - 1] = { ...last, to: piece.to };
    else spans.push(piece);
  }
  return spans;
}

/** Creates a detail with only some parts known. */
export function createDetail(id: MonitorId, fetchedAt: EpochMs, known: Partial<MonitorDetail> = {}): MonitorDetail {
  return { id, fetchedAt, uptime: null, responseTimes: [], reportedSpans: [], reportedDays: [], ...known };
}
