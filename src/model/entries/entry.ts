/** Outages as incidents: what entries are made from, and what they are. */

import type { IncidentImpact } from '../observation.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../time.ts';
import type { Fall } from './falls.ts';

/** How bad an outage is that no person has judged: by how much of the page it took down, and for how long. */

interface ImpactRule {
  /** Of the page's components with a monitor: at least this share was part of it. */
  readonly share: number;
  readonly atFirst: IncidentImpact;
  /** From this long on. */
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

/** When the impact of an open entry changes by itself; null: not any more. */
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

/** An incident that people declared, as far as entries look at it. */
export interface DeclaredIncident {
  readonly id: string;
  readonly startedAt: EpochMs;
  /** Null: in progress. */
  readonly endedAt: EpochMs | null;
  readonly componentIds: readonly string[];
}

/** One fall as a part of an entry. */
export interface EntryFall {
  readonly componentId: string;
  readonly from: EpochMs;
  /** Null: it goes on. */
  readonly to: EpochMs | null;
}

/** What happened to an entry. */
export interface EntryEvent {
  readonly kind: 'opened' | 'joined' | 'closed' | 'reopened';
  readonly at: EpochMs;
  /** The components that it is about; none when it closed. */
  readonly componentIds: readonly string[];
}

export interface Entry {
  /** In the order in which they became part of it; the first one opened it. */
  readonly falls: readonly [EntryFall, ...EntryFall[]];
  /** Oldest first. */
  readonly events: readonly EntryEvent[];
  /** When the fall that opened it began. */
  readonly startedAt: EpochMs;
  /** Null: it is open. */
  readonly endedAt: EpochMs | null;
  /** Id of the incident whose story it is; null: it stands by itself. */
  readonly adoptedBy: string | null;
}

/** A fall that is the story of an incident. */
export interface ToldFall extends EntryFall {
  readonly toldBy: string;
}

export interface Entries {
  /** In the order in which they opened. */
  readonly entries: readonly Entry[];
  readonly told: readonly ToldFall[];
  /** The first instant after `asOf` at which a fall opens an entry, should nothing change until then; null: none does. */
  readonly nextAt: EpochMs | null;
}

export interface EntryInputs {
  /** In the order of the page. */
  readonly components: readonly FallenComponent[];
  readonly incidents: readonly DeclaredIncident[];
  /** How long a component is seen down before that is an entry. */
  readonly afterMs: number;
  readonly asOf: EpochMs;
}
