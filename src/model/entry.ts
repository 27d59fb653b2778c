/** Types of automatic incidents ("entries"), and the falls that they are made from. */

import type { IncidentImpact } from './observation.ts';
import { disjointIntervals, type History } from './overlap.ts';
import type { State } from './state.ts';
import { type EpochMs, earlier, HOUR_MS, type Interval, later, MINUTE_MS, toEpochMs } from './time.ts';
import { timelineOf } from './timeline.ts';

// When monitors saw a component go down and recover.

/**
 * One outage of a component: from the first time it was observed down outside its maintenance windows until it was
 * observed working again, or until the end of the outage recorded upstream if nothing was observed since. Silence and
 * maintenance alone do not end it, because neither shows that it works.
 */
export interface Fall {
  readonly from: EpochMs;
  /** Null: it wasn't seen working again. */
  readonly to: EpochMs | null;
  /** When it was seen down outside maintenance windows: sorted and disjoint. The first one begins with the fall. */
  readonly down: readonly Interval[];
}

const DOWN: ReadonlySet<State> = new Set(['major_outage', 'partial_outage']);
/** A paused monitor isn't checked any more, so nobody knows whether the outage goes on. */
const WELL: ReadonlySet<State> = new Set(['operational', 'degraded', 'paused']);

/** What monitors and their upstreams saw of a component, without what people declared and without reports by the day. */
export type Sightings = Pick<History, 'observed' | 'outages' | 'maintenances'>;

/** The falls of a component up to and including `asOf`, oldest first. */
export function fallsOf({ observed, outages, maintenances }: Sightings, asOf: EpochMs): Fall[] {
  if (outages.length === 0 && !observed.some(({ state }) => DOWN.has(state))) return [];
  const from = [...observed, ...outages].reduce((first, item) => earlier(first, item.from), asOf);
  // One millisecond longer, to include what begins at `asOf`.
  const line = timelineOf({ observed, reported: [], outages, maintenances: [] }, { from, to: toEpochMs(asOf + 1) });
  const windows = disjointIntervals(maintenances, 'maintenance');
  // An ongoing outage reaches past `asOf`.
  const recoveries = new Set(outages.map(({ to }) => to).filter((to) => to <= asOf));
  const falls: Fall[] = [];
  let down: Interval[] = [];
  for (const piece of line) {
    if (DOWN.has(piece.state)) for (const part of outside(piece, windows)) extendOrPush(down, part);
    const [first] = down;
    const isOver = WELL.has(piece.state) || (!DOWN.has(piece.state) && recoveries.has(piece.from));
    if (!isOver || first === undefined) continue;
    falls.push({ from: first.from, to: piece.from, down });
    down = [];
  }
  const [first] = down;
  return first === undefined ? falls : [...falls, { from: first.from, to: null, down }];
}

function extendOrPush(intervals: Interval[], { from, to }: Interval): void {
  const last = intervals.at(-1);
  if (last?.to === from) intervals[intervals.length - 1] = { from: last.from, to };
  else intervals.push({ from, to });
}

/** The parts of an interval outside the given sorted, disjoint windows. */
function outside({ from, to }: Interval, windows: readonly Interval[]): Interval[] {
  const parts: Interval[] = [];
  let at = from;
  for (const window of windows) {
    if (window.to <= at) continue;
    if (window.from >= to) break;
    if (window.from > at) parts.push({ from: at, to: window.from });
    at = later(at, window.to);
  }
  if (at < to) parts.push({ from: at, to });
  return parts;
}

/** The rest of a fall after an instant, as a fall of its own; null: not observed down after that. */
export function fallAfter({ to, down }: Fall, at: EpochMs): Fall | null {
  const rest = down.filter((part) => part.to > at).map((part) => ({ from: later(part.from, at), to: part.to }));
  const [first] = rest;
  return first === undefined ? null : { from: first.from, to, down: rest };
}

/** When the downtime of an ongoing fall reached `ms`; null: never. */
export function downForAt({ to, down }: Fall, ms: number): EpochMs | null {
  let leftMs = ms;
  for (const part of down) {
    if (leftMs <= part.to - part.from) {
      const at = toEpochMs(part.from + leftMs);
      return to === null || at < to ? at : null;
    }
    leftMs -= part.to - part.from;
  }
  return null;
}

/**
 * When its downtime will reach `ms` if it stays as it is at `asOf`; null: it is not down then, or already reached it.
 */
export function downForExpectedAt(fall: Fall, ms: number, asOf: EpochMs): EpochMs | null {
  const last = fall.down.at(-1);
  if (fall.to !== null || last === undefined || last.to <= asOf) return null;
  const soFarMs = fall.down.reduce((sum, part) => sum + (earlier(part.to, asOf) - part.from), 0);
  return soFarMs >= ms ? null : toEpochMs(asOf + ms - soFarMs);
}

// Impact of an outage that nobody has rated: by the share of the page that is down, and for how long.

interface ImpactRule {
  /** Smallest share of the page's monitored components that are affected. */
  readonly share: number;
  readonly atFirst: IncidentImpact;
  /** Duration from which `later` applies. */
  readonly afterMs: number;
  readonly later: IncidentImpact;
}

const SMALL: ImpactRule = { share: 0, atFirst: 'minor', afterMs: 2 * HOUR_MS, later: 'major' };
const RULES: readonly ImpactRule[] = [
  { share: 1 / 2, atFirst: 'major', afterMs: 10 * MINUTE_MS, later: 'critical' },
  { share: 1 / 10, atFirst: 'minor', afterMs: 10 * MINUTE_MS, later: 'major' },
  SMALL,
];

/** @param watchedCount components of the page that have a monitor */
export function impactOfEntry(entry: Entry, watchedCount: number, asOf: EpochMs): IncidentImpact {
  const { atFirst, afterMs, later } = ruleFor(entry, watchedCount);
  return (entry.endedAt ?? asOf) - entry.startedAt >= afterMs ? later : atFirst;
}

/** When the impact of an open entry changes if nothing happens; null: never. */
export function impactChangesAt(entry: Entry, watchedCount: number, asOf: EpochMs): EpochMs | null {
  const at = toEpochMs(entry.startedAt + ruleFor(entry, watchedCount).afterMs);
  return entry.endedAt === null && at > asOf ? at : null;
}

function ruleFor({ falls }: Entry, watchedCount: number): ImpactRule {
  const share = new Set(falls.map(({ componentId }) => componentId)).size / watchedCount;
  return RULES.find((rule) => share >= rule.share) ?? SMALL;
}

export interface FallenComponent {
  readonly componentId: string;
  readonly falls: readonly Fall[];
}

/** The parts of a declared incident that entries depend on. */
export interface DeclaredIncident {
  readonly id: string;
  readonly startedAt: EpochMs;
  /** Null: in progress. */
  readonly endedAt: EpochMs | null;
  readonly componentIds: readonly string[];
}

/** A fall that is part of an entry. */
export interface EntryFall {
  readonly componentId: string;
  readonly from: EpochMs;
  /** Null: ongoing. */
  readonly to: EpochMs | null;
}

/** A change to an entry. */
export interface EntryEvent {
  readonly kind: 'opened' | 'joined' | 'closed' | 'reopened';
  readonly at: EpochMs;
  /** The components that changed; empty when the entry closed. */
  readonly componentIds: readonly string[];
}

export interface Entry {
  /** In the order in which they joined; the first one opened the entry. */
  readonly falls: readonly [EntryFall, ...EntryFall[]];
  /** Oldest first. */
  readonly events: readonly EntryEvent[];
  /** When the fall that opened it began. */
  readonly startedAt: EpochMs;
  /** Null: open. */
  readonly endedAt: EpochMs | null;
  /** Id of the incident that adopted it; null: none. */
  readonly adoptedBy: string | null;
}

/** A fall that belongs to a declared incident. */
export interface DeclaredFall extends EntryFall {
  readonly declaredBy: string;
}

export interface Entries {
  /** In the order in which they opened. */
  readonly entries: readonly Entry[];
  readonly declared: readonly DeclaredFall[];
  /** The first instant after `asOf` at which a fall opens an entry if nothing changes until then; null: none. */
  readonly nextAt: EpochMs | null;
}

export interface EntryInputs {
  /** In the order of the page. */
  readonly components: readonly FallenComponent[];
  readonly incidents: readonly DeclaredIncident[];
  /** How long a component must be down to open an entry. */
  readonly afterMs: number;
  readonly asOf: EpochMs;
}
