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

import type { Incident, MonitorId, Update } from './observation.ts';
import type { DeclaredSpan, History, Provenance, Span, TimelineSpan } from './overlap.ts';
import { disjointIntervals, disjointSpans, firstEndingAfter } from './overlap.ts';
import { isWorse, type State, worse } from './state.ts';
import { type EpochMs, earlier, type Interval, later } from './time.ts';

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

/** A component as incidents refer to it. */
export interface NamedComponent {
  /** `<definition id>/<component id>`. */
  readonly id: string;
  readonly monitor: MonitorId | null;
}

/** Whether an incident names a component or its monitor. */
export function isAboutComponent(
  { monitors, components }: Pick<Incident, 'monitors' | 'components'>,
  { id, monitor }: NamedComponent,
): boolean {
  return (monitor !== null && monitors.includes(monitor)) || components.some((named) => named.id === id);
}

/**
 * The states that an incident sets for `component`, oldest first, up to `until`.
 *
 * An update applies until the next one; the first applies from the incident's start. Until an update names any
 * component, all have the state of the incident as a whole. From then on only the updates count, and a component that
 * none has named yet is unaffected.
 */
export function declaredSpans(incident: Incident, component: NamedComponent, until: EpochMs): DeclaredSpan[] {
  const end = incident.endedAt === null ? until : earlier(incident.endedAt, until);
  const isCounted = incident.affectsUptime !== false;
  const named = incident.components.find(({ id }) => id === component.id);
  let state: State | null = named?.state ?? incident.affectedState;
  let hasImpacts = false;
  const spans: DeclaredSpan[] = [];
  for (const { impacts, from, to } of effectiveUpdates(incident, end)) {
    const impact = impacts?.find(({ id }) => id === component.id);
    if (impact !== undefined) state = impact.state;
    else if (impacts !== undefined && !hasImpacts) state = null;
    hasImpacts ||= impacts !== undefined;
    // Only monitors say that a component works. People can only withdraw what they declared.
    if (state !== null && isWorse(state, 'operational') && from < to) spans.push({ state, from, to, isCounted });
  }
  return spans;
}

/** The time that each update applies to, or the whole time of an incident without updates. */
function effectiveUpdates({ startedAt, updates }: Incident, end: EpochMs) {
  const [first, ...others]: readonly Pick<Update, 'at' | 'impacts'>[] =
    updates.length === 0 ? [{ at: startedAt }] : updates;
  if (first === undefined) return [];
  const begins = [startedAt, ...others.map(({ at }) => later(at, startedAt))];
  return [first, ...others].map(({ impacts }, index) => ({
    impacts,
    from: begins[index] ?? end,
    to: earlier(begins[index + 1] ?? end, end),
  }));
}
