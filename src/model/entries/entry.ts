/** Outages as incidents: what entries are made from, and what they are. */

import type { EpochMs } from '../time.ts';
import type { Fall } from './falls.ts';

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
