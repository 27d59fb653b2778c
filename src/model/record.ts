/**
 * How what a pass saw becomes part of the past: a span goes on while nothing changes, a change begins another, and a
 * silence stays a gap, which the time line shows as `unknown`.
 */

import type { MonitorId } from './observation.ts';
import { isWorse, type State } from './state.ts';
import type { EpochMs } from './time.ts';

/** One monitor as a pass saw it; a `MonitorObservation` is one. */
export interface Sighting {
  readonly id: MonitorId;
  readonly state: State;
  /** When the upstream says that it came into this state; null or absent: it does not say. */
  readonly changedAt?: EpochMs | null;
}

export interface Pass {
  /** When the answer was asked for, by our clock. */
  readonly at: EpochMs;
  /** The last good answer of this upstream before; null: there was none. */
  readonly lastAt: EpochMs | null;
  /** The state of every monitor whose span is open, that is, that was seen at `lastAt`. */
  readonly lastStates: ReadonlyMap<MonitorId, State>;
  readonly seen: readonly Sighting[];
  /** The longest time between two answers over which a state is taken to have gone on. */
  readonly silenceMs: number;
}

/** A monitor's open span ends at `at`, and one in `state` begins there; null: none begins. */
export interface SpanChange {
  readonly monitor: MonitorId;
  readonly at: EpochMs;
  readonly state: State | null;
}

export interface PassRecord {
  /** The instant that open spans now reach to, and that this pass is recorded at. */
  readonly at: EpochMs;
  /**
   * `continuous`: open spans go on to `at` but for `spanChanges`.
   * `broken`: open spans end at `lastAt`, nothing is said of the time since, and every monitor seen begins a span at `at`.
   */
  readonly continuity: 'continuous' | 'broken';
  /** Empty when broken. At most one for each monitor, at or after `lastAt`. */
  readonly spanChanges: readonly SpanChange[];
}

/**
 * What one pass over one upstream changes in the recorded spans: work in proportion to the monitors, writes in
 * proportion to the changes.
 *
 * - A monitor in the state it was in: its span goes on. In another: the span ends and another begins, when the upstream
 *   says it changed if that lies between the two answers, else at this answer. No longer listed: the span ends.
 *   Listed twice: the worse counts.
 * - More than `silenceMs` since the last answer, be it that we slept or that the clock jumped ahead: broken.
 * - An answer older than the last one, since another process was quicker: nothing of it is written.
 */
export function recordPass({ at, lastAt, lastStates, seen, silenceMs }: Pass): PassRecord {
  if (lastAt === null || at - lastAt > silenceMs) return { at, continuity: 'broken', spanChanges: [] };
  const spanChanges: SpanChange[] = [];
  const listed = worstById(seen);
  for (const { id, state, changedAt } of listed.values()) {
    const before = lastStates.get(id);
    if (before === state) continue;
    const isBetween = before !== undefined && changedAt != null && changedAt >= lastAt && changedAt <= at;
    spanChanges.push({ monitor: id, at: isBetween ? changedAt : at, state });
  }
  for (const monitor of lastStates.keys()) if (!listed.has(monitor)) spanChanges.push({ monitor, at, state: null });
  return { at, continuity: 'continuous', spanChanges };
}

function worstById(seen: readonly Sighting[]): ReadonlyMap<MonitorId, Sighting> {
  const sightings = new Map<MonitorId, Sighting>();
  for (const sighting of seen) {
    const other = sightings.get(sighting.id);
    if (other === undefined || isWorse(sighting.state, other.state)) sightings.set(sighting.id, sighting);
  }
  return sightings;
}
