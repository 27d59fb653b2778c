/** What a pass writes, and what the store tells of it. Both databases run the same statements. */

import type { Incident, Learned, Maintenance, MonitorId, PageDefinition } from '../model/observation.ts';
import type { SpanChange } from '../model/reported.ts';
import type { EpochMs } from '../model/time.ts';
import type { Lease } from './nodes/leases.ts';
import { instant, number, orNull, type RowOf, table } from './table.ts';

/** What a pass writes for one upstream, as a unit. */
export interface PassCommit {
  readonly upstreamId: string;
  /** When the requests were sent. */
  readonly observedAt: EpochMs;
  readonly learned: Learned;
  /** The known page definitions, to keep if `learned` could not read them; absent: as stored. */
  readonly kept?: readonly PageDefinition[];
  /**
   * `continuous`: open spans go on, only `spanChanges` are written. `broken`: the last pass is too long ago (or there
   * was none): every open span ends at the last `monitorsAt`, the time since is unknown, and each monitor begins a new
   * span at `observedAt`.
   */
  readonly continuity: 'continuous' | 'broken';
  readonly spanChanges: readonly SpanChange[];
  /** The lease that must be held for the commit; absent: none. */
  readonly lease?: Lease;
}

/**
 * What a commit changed: ids of monitors (state or description), incidents and maintenances, and whether definitions
 * changed.
 */
export interface CommitResult {
  readonly monitors: readonly MonitorId[];
  readonly incidents: readonly string[];
  readonly maintenances: readonly string[];
  readonly hasNewDefinitions: boolean;
  /** True: a newer answer was recorded before, so nothing was written. */
  readonly isOutdated?: true;
}

/** When each part of an upstream was last read; null: never. */
export const TIMES = { monitorsAt: orNull(instant()), incidentsAt: orNull(instant()), pagesAt: orNull(instant()) };
const UPSTREAM_TIMES = table('upstream', TIMES);

/** Age of an upstream's data. */
export interface UpstreamTimes extends RowOf<typeof UPSTREAM_TIMES> {
  /** List and incident requests of its last pass; absent: unknown. */
  readonly listCalls?: number;
}

declare const subject: unique symbol;
/** What an incident or a maintenance is about: a monitor, a component or a page. Created with `subjects`. */
export type Subject = string & { readonly [subject]: true };

/** Creates subjects. */
export const subjects = {
  monitor: (id: MonitorId) => `monitor:${id}` as Subject,
  /** `<definition id>/<component id>`. */
  component: (id: string) => `component:${id}` as Subject,
  /** A page by its key, its definition's id or its slug. */
  page: (idOrSlug: string) => `page:${idOrSlug}` as Subject,
};

/** The parts that a subject was created from. */
export function subjectNamed(of: Subject): { readonly kind: keyof typeof subjects; readonly name: string } {
  const end = of.indexOf(':');
  return { kind: of.slice(0, end) as keyof typeof subjects, name: of.slice(end + 1) };
}

export const INCIDENT_STAMPS = table('incident', { changedAt: instant(), firstSeenAt: instant() });
export const MAINTENANCE_STAMPS = table('maintenance', {
  /** Incremented with every change. */
  sequence: number(),
  changedAt: instant(),
  firstSeenAt: instant(),
});
export type StoredIncident = Incident & RowOf<typeof INCIDENT_STAMPS>;
export type StoredMaintenance = Maintenance & RowOf<typeof MAINTENANCE_STAMPS>;
