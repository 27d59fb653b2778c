/** Turns what upstreams report about times that we didn't observe into spans. */

import type { MonitorId, ResponseTime, UpstreamUptime } from './observation.ts';
import { disjointSpans, firstEndingAfter, type ReportedDay, type Span } from './overlap.ts';
import { isWorse, type State } from './state.ts';
import { DAY_MS, type Day, type EpochMs, earlier, type Interval, later, startOfDay, toEpochMs } from './time.ts';

// How observations become history: a span continues while nothing changes, a change begins a new one, and silence
// leaves a gap, which the time line shows as `unknown`.

/** A monitor as seen by a pass; a `MonitorObservation` is one. */
export interface Sighting {
  readonly id: MonitorId;
  readonly state: State;
  /** When it entered this state, according to the upstream; null or absent: not given. */
  readonly changedAt?: EpochMs | null;
  /** The earliest possible time of that; absent: the last answer, which had another state. */
  readonly earliest?: EpochMs;
}

export interface Pass {
  /** When the answer was requested, by our clock. */
  readonly at: EpochMs;
  /** The previous good answer of this upstream; null: there was none. */
  readonly lastAt: EpochMs | null;
  /** The state of every monitor with an open span, which means that it was seen at `lastAt`. */
  readonly lastStates: ReadonlyMap<MonitorId, State>;
  readonly seen: readonly Sighting[];
  /** The longest gap between two answers during which a state is assumed to continue. */
  readonly silenceMs: number;
}

/** A monitor's open span ends at `at`, and one in `state` begins; null: none begins. */
export interface SpanChange {
  readonly monitor: MonitorId;
  readonly at: EpochMs;
  readonly state: State | null;
}

export interface PassRecord {
  /** The time up to which open spans last now, and at which this pass is recorded. */
  readonly at: EpochMs;
  /**
   * `continuous`: open spans extend to `at`, apart from `spanChanges`. `broken`: open spans end at `lastAt`, the time
   * since then is unknown, and every monitor seen begins a span at `at`.
   */
  readonly continuity: 'continuous' | 'broken';
  /** Empty if broken. At most one for each monitor, not before `lastAt` or its `earliest`. */
  readonly spanChanges: readonly SpanChange[];
}

/**
 * What one answer of an upstream changes in the recorded spans. Work is proportional to the monitors, writes to the
 * changes.
 *
 * - A monitor in the same state: its span continues. In another state: the span ends and another begins, at the
 *   upstream's `changedAt` if that lies between the two answers, else at this answer. No longer listed: the span ends.
 *   Listed twice: the worse state wins.
 * - More than `silenceMs` since the last answer, because we slept or the clock jumped ahead: broken.
 * - An answer older than the last one, because another process was quicker, is not written.
 */
export function recordPass({ at, lastAt, lastStates, seen, silenceMs }: Pass): PassRecord {
  if (lastAt === null || at - lastAt > silenceMs) return { at, continuity: 'broken', spanChanges: [] };
  const spanChanges: SpanChange[] = [];
  const listed = worstById(seen);
  for (const { id, state, changedAt, earliest = lastAt } of listed.values()) {
    const before = lastStates.get(id);
    if (before === state) continue;
    const isBetween = before !== undefined && changedAt != null && changedAt >= earliest && changedAt <= at;
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

/** Everything stored about a monitor; lists are sorted by time. */
export interface RememberedPast {
  readonly observed: readonly Span[];
  readonly reported: readonly Span[];
  readonly reportedDays: readonly ReportedDay[];
}

/** The stored past of a monitor. Open spans end at their upstream's last good answer. */
export interface MonitorPast extends RememberedPast {
  readonly responseTimes: readonly ResponseTime[];
  readonly uptime: UpstreamUptime | null;
}

/**
 * The `reported` list of a `History`: exact spans unchanged, and counted days for the time before our first
 * observation, or before `asOf` if there is none. A counted day covered by exact spans is left out, because its trouble
 * would show twice.
 */
export function reportedSpans({ observed, reported, reportedDays }: RememberedPast, asOf: EpochMs): Span[] {
  const exact = disjointSpans(reported);
  const uncovered = reportedDays.filter(({ day }) => {
    const { from, to } = utcDay(day);
    return (exact[firstEndingAfter(exact, from)]?.from ?? to) >= to;
  });
  const counted = spansOfReportedDays(uncovered, { from: EARLIEST, to: earlier(observed[0]?.from ?? asOf, asOf) });
  return [...exact, ...counted].sort((a, b) => a.from - b.from);
}

const EARLIEST = Number.NEGATIVE_INFINITY as EpochMs;

/**
 * Days that an upstream counted, as spans: each UTC day, as far as it lies inside `bounds`, is split in proportion to
 * its counts. Sorted by `from`.
 *
 * The upstream gives only sums, no hours: trouble is placed in the middle of the stretch, where it falls on the same
 * date in most time zones. A day with any trouble keeps at least a millisecond of it; a day without checks gives
 * nothing.
 *
 * @param bounds  the part to keep; usually ends at our first observation, so that a day we observed half of keeps its
 * proportions in the other half
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
  // Rounded up, because rounding must not turn trouble into none.
  const downMs = Math.min(lengthMs, Math.ceil((lengthMs * counts.major_outage) / total));
  const degradedMs = Math.min(lengthMs - downMs, Math.ceil((lengthMs * counts.degraded) / total));
  const beforeMs = Math.floor((lengthMs - downMs - degradedMs) / 2);
  const edges = [from, from + beforeMs, from + beforeMs + degradedMs, from + beforeMs + degradedMs + downMs, to];
  const states: readonly State[] = ['operational', 'degraded', 'major_outage', 'operational'];
  return states
    .map((state, index) => ({ state, from: toEpochMs(edges[index] ?? to), to: toEpochMs(edges[index + 1] ?? to) }))
    .filter((span) => span.from < span.to);
}
