/**
 * Merges everything known of a component into one time line: complete, sorted, disjoint.
 *
 * Layers, from the bottom, at each instant:
 *
 * 1. What we observed, else what the upstream reported, else `unknown`. An observed `unknown` or `paused` is an answer
 *    and is not replaced by a report. A component without a monitor is operational while it is watched.
 * 2. Outages recorded by the upstream: down even where our sampling missed it.
 * 3. A maintenance window: anything below is expected and does not count, even if nothing was observed.
 * 4. What people declared: applies where it is worse than everything below, even in a window, because somebody said so.
 */

import {
  type Incident,
  isOverStatus,
  type MonitorId,
  type ResponseTime,
  type Update,
  type UpstreamUptime,
} from './observation.ts';
import {
  type DeclaredSpan,
  disjointIntervals,
  disjointSpans,
  firstEndingAfter,
  type History,
  type Provenance,
  type ReportedDay,
  type Span,
  type TimelineSpan,
} from './overlap.ts';
import { isWorse, type State, worse } from './state.ts';
import { DAY_MS, type Day, type EpochMs, earlier, type Interval, later, startOfDay, toEpochMs } from './time.ts';

/**
 * The time line of `history` over `window`: spans that cover the window without gaps; identical neighbours are merged.
 * Empty when the window is.
 *
 * The lists may come in any order and may overlap; where spans of one list overlap, the worse state wins. Linear in the
 * number of spans in the window if the lists are sorted and disjoint, as `History` promises.
 */
export function timelineOf(history: History, window: Interval): TimelineSpan[] {
  const { declared = [], watched = [] } = history;
  const isAllCounted = declared.every(({ isCounted }) => isCounted);
  const layers: Layers = {
    below: [
      toLayer(disjointSpans(history.observed), 'observed', window.from),
      toLayer(disjointSpans(history.reported), 'reported', window.from),
      toLayer(disjointIntervals(watched, 'operational'), 'declared', window.from),
    ].filter(({ spans }) => spans.length > 0),
    outages: toLayer(disjointIntervals(history.outages, 'major_outage'), 'incident', window.from),
    maintenances: toLayer(disjointIntervals(history.maintenances, 'maintenance'), 'maintenance', window.from),
    declared: toLayer(disjointSpans(declared), 'declared', window.from),
    counted: isAllCounted
      ? null
      : toLayer(disjointSpans(declared.filter(({ isCounted }) => isCounted)), 'declared', window.from),
    to: window.to,
  };
  const timeline: TimelineSpan[] = [];
  let from = window.from;
  while (from < window.to) {
    const piece = pieceAt(layers, from, window.to);
    const previous = timeline.at(-1);
    if (previous !== undefined && isAlike(previous, piece))
      timeline[timeline.length - 1] = { ...previous, to: piece.to };
    else timeline.push(piece);
    from = piece.to;
  }
  return timeline;
}

/** Disjoint spans of one provenance, and the index of the first that isn't over. */
interface Layer {
  readonly spans: readonly Span[];
  readonly provenance: Provenance;
  next: number;
}

interface Layers {
  /** The first one that has a state applies. */
  readonly below: readonly Layer[];
  readonly outages: Layer;
  readonly maintenances: Layer;
  readonly declared: Layer;
  /** The part of the declared spans that counts; null: all of them. */
  readonly counted: Layer | null;
  /** Where the piece ends that is being read. */
  to: EpochMs;
}

function toLayer(spans: readonly Span[], provenance: Provenance, from: EpochMs): Layer {
  return { spans, provenance, next: firstEndingAfter(spans, from) };
}

function isAlike(a: TimelineSpan, b: TimelineSpan): boolean {
  return a.state === b.state && a.provenance === b.provenance && a.counted === b.counted && a.isUnseen === b.isUnseen;
}

/** The state from `from` on, until anything that could change it begins or ends. */
function pieceAt(layers: Layers, from: EpochMs, until: EpochMs): TimelineSpan {
  layers.to = until;
  const declared = read(layers, layers.declared, from);
  const counted = layers.counted === null ? declared : read(layers, layers.counted, from);
  const seen = readSeen(layers, from);
  const state = declared === null ? seen.state : worse(seen.state, declared);
  const provenance = declared !== null && isWorse(declared, seen.state) ? 'declared' : seen.provenance;
  const head = { state, from, to: layers.to, provenance };
  const piece = seen.isSeen || state === 'unknown' ? head : { ...head, isUnseen: true as const };
  if (counted === declared) return piece;
  const counting = counted === null ? seen.state : worse(seen.state, counted);
  return counting === state ? piece : { ...piece, counted: counting };
}

/** The state of a layer at `from`; null: none. The piece ends where the layer changes, if nothing ends it before. */
function read(layers: Layers, layer: Layer, from: EpochMs): State | null {
  const span = upcoming(layer, from);
  if (span === undefined) return null;
  const isOn = span.from <= from;
  layers.to = earlier(layers.to, isOn ? span.to : span.from);
  return isOn ? span.state : null;
}

/** The state below what people declared. `isSeen`: the lowest layers have one too. */
function readSeen(layers: Layers, from: EpochMs): Pick<TimelineSpan, 'state' | 'provenance'> & { isSeen: boolean } {
  const isPlanned = read(layers, layers.maintenances, from) !== null;
  const isRecorded = !isPlanned && read(layers, layers.outages, from) !== null;
  let seen: State | null = null;
  let provenance: Provenance = 'none';
  for (const layer of layers.below) {
    seen = read(layers, layer, from);
    if (seen === null) continue;
    provenance = layer.provenance;
    break;
  }
  const isSeen = seen !== null;
  if (isPlanned) return { state: 'maintenance', provenance: 'maintenance', isSeen };
  if (isRecorded) return { state: 'major_outage', provenance: 'incident', isSeen };
  return { state: seen ?? 'unknown', provenance, isSeen };
}

/** The first span of a layer that isn’t over at `at`, whether it has begun or not. */
function upcoming(layer: Layer, at: EpochMs): Span | undefined {
  let span = layer.spans[layer.next];
  while (span !== undefined && span.to <= at) {
    layer.next += 1;
    span = layer.spans[layer.next];
  }
  return span;
}

/** The part of a sorted, disjoint time line inside `window`, cut at its edges; empty if the window is. */
export function cutTimeline(timeline: readonly TimelineSpan[], window: Interval): TimelineSpan[] {
  if (window.from >= window.to) return [];
  const first = firstEndingAfter(timeline, window.from);
  let end = first;
  while ((timeline[end]?.from ?? window.to) < window.to) end += 1;
  const pieces = timeline.slice(first, end);
  // All others are whole.
  for (const index of [0, pieces.length - 1]) {
    const span = pieces[index];
    if (span !== undefined && (span.from < window.from || span.to > window.to))
      pieces[index] = { ...span, from: later(span.from, window.from), to: earlier(span.to, window.to) };
  }
  return pieces;
}

/** The state at an instant; `unknown` outside the time line. */
export function stateAt(timeline: readonly TimelineSpan[], at: EpochMs): State {
  const span = timeline[firstEndingAfter(timeline, at)];
  return span !== undefined && span.from <= at ? span.state : 'unknown';
}

/** When the time line entered its last state; null if nothing was known before. */
export function lastRunFrom(timeline: readonly TimelineSpan[]): EpochMs | null {
  const state = timeline.at(-1)?.state;
  const filled = fillGaps(timeline);
  let from: EpochMs | null = null;
  for (let index = filled.length - 1; index >= 0; index -= 1) {
    const span = filled[index];
    if (span === undefined || span.state !== state) return from;
    // Time lines begin with silence if there is no history yet. Its length means nothing.
    from = index === 0 && span.provenance === 'none' ? null : span.from;
  }
  return from;
}

/**
 * The time line for "since": a gap in observation between two spans of the same state counts as that state. Recorded
 * outages, windows and declarations have their own beginning and end, so gaps are not joined to them.
 */
export function fillGaps(timeline: readonly TimelineSpan[]): readonly TimelineSpan[] {
  let before: TimelineSpan | undefined;
  let filled: TimelineSpan[] | null = null;
  for (let index = 0; index < timeline.length; index += 1) {
    const span = timeline[index];
    if (span === undefined || span.state === 'unknown') continue;
    const hasGap = before !== undefined && before.to < span.from;
    if (hasGap && before?.state === span.state && isObserved(before) && isObserved(span)) {
      filled ??= [...timeline];
      for (let gap = index - 1; filled[gap]?.state === 'unknown'; gap -= 1)
        filled[gap] = { ...span, from: filled[gap]?.from ?? span.from, to: filled[gap]?.to ?? span.from };
    }
    before = span;
  }
  return filled ?? timeline;
}

function isObserved({ provenance, state }: TimelineSpan): boolean {
  return (
    provenance === 'observed' || provenance === 'reported' || (provenance === 'declared' && state === 'operational')
  );
}

/** The first instant at which anything is known; null: none. */
export function firstKnownAt(timeline: readonly TimelineSpan[]): EpochMs | null {
  return timeline.find(({ provenance }) => provenance !== 'none')?.from ?? null;
}

// What an incident declares for a component, over the time that each of its updates applies.

/**
 * The states that an incident sets for `component` (`<definition id>/<component id>`), which it is about, oldest first, up to `until`.
 *
 * An update applies until the next one; the first applies from the incident's start. Until an update names any
 * component, all have the state of the incident as a whole. From then on only the updates count, and a component that
 * none has named yet is unaffected. Between a resolution and a reopening nothing is declared.
 */
export function declaredSpans(incident: Incident, component: { readonly id: string }, until: EpochMs): DeclaredSpan[] {
  const end = incident.endedAt === null ? until : earlier(incident.endedAt, until);
  const isCounted = incident.affectsUptime !== false;
  const named = incident.components.find(({ id }) => id === component.id);
  let state: State | null = named?.state ?? incident.affectedState;
  let hasImpacts = false;
  const spans: DeclaredSpan[] = [];
  for (const { impacts, from, to, isOver } of effectiveUpdates(incident, end)) {
    const impact = impacts?.find(({ id }) => id === component.id);
    if (impact !== undefined) state = impact.state;
    else if (impacts !== undefined && !hasImpacts) state = null;
    hasImpacts ||= impacts !== undefined;
    // Only monitors say that a component works. People can only withdraw what they declared.
    if (!isOver && state !== null && isWorse(state, 'operational') && from < to)
      spans.push({ state, from, to, isCounted });
  }
  return spans;
}

/** The time that each update applies to, or the whole time of an incident without updates. */
function effectiveUpdates({ startedAt, updates }: Incident, end: EpochMs) {
  const all: readonly Pick<Update, 'at' | 'impacts' | 'status'>[] =
    updates.length === 0 ? [{ at: startedAt, status: null }] : updates;
  const begins = all.map(({ at }, index) => (index === 0 ? startedAt : later(at, startedAt)));
  // After the last of them, the incident's own end counts.
  const lastOpen = all.findLastIndex(({ status }) => status !== null && !isOverStatus(status));
  let isOver = false;
  return all.map(({ impacts, status }, index) => {
    if (status !== null) isOver = isOverStatus(status);
    return {
      impacts,
      from: begins[index] ?? end,
      to: earlier(begins[index + 1] ?? end, end),
      isOver: isOver && index < lastOpen,
    };
  });
}

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
