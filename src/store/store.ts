/** Everything Pharos stores. Both databases run the same statements. */

import type {
  Announcement,
  Incident,
  Learned,
  Maintenance,
  MonitorId,
  MonitorObservation,
  NotificationChannel,
  PageDefinition,
} from '../model/observation.ts';
import type { MonitorPast, SpanChange } from '../model/reported.ts';
import type { EpochMs } from '../model/time.ts';
import type { Database } from './database.ts';
import type { Lease } from './nodes/leases.ts';

/** When each part of an upstream was last read; null: never. */
export interface UpstreamRecord {
  readonly id: string;
  readonly monitorsAt: EpochMs | null;
  readonly incidentsAt: EpochMs | null;
  readonly pagesAt: EpochMs | null;
  readonly isBackfilled: boolean;
  readonly definitions: readonly PageDefinition[];
  readonly announcements: readonly Announcement[];
  /** Channels of the upstream's own notifications. */
  readonly channels: readonly NotificationChannel[];
  /** When they were last requested; null: never. */
  readonly channelsAt: EpochMs | null;
  readonly heldHash: string | null;
}

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

/** Age of an upstream's data, without the rest of its record. */
export interface UpstreamTimes extends Pick<UpstreamRecord, 'monitorsAt' | 'incidentsAt' | 'pagesAt'> {
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

/** Changes committed after a revision, by any process. */
export interface Changes {
  /** The latest revision included. */
  readonly revision: number;
  /** New, gone, or changed in state or description. */
  readonly monitors: readonly MonitorId[];
  /** Current and former subjects of the changed incidents and maintenances. */
  readonly subjects: readonly Subject[];
  /** Whether page definitions or announcements changed. */
  readonly hasNewDefinitions: boolean;
}

export interface StoredMaintenance extends Maintenance {
  /** Incremented with every change. */
  readonly sequence: number;
  readonly changedAt: EpochMs;
  readonly firstSeenAt: EpochMs;
}

export interface StoredIncident extends Incident {
  readonly changedAt: EpochMs;
  readonly firstSeenAt: EpochMs;
}

/** A published automatic incident, with the data needed to recognise it later. */
export interface StoredEntry {
  /** Unique on its page. */
  readonly id: string;
  /** The component whose outage opened it. */
  readonly componentId: string;
  readonly fellAt: EpochMs;
  readonly firstSeenAt: EpochMs;
}

interface RunRecord {
  readonly id: string;
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
  readonly trigger: string;
  /** JSON of the pass report, as the command line prints it. */
  readonly report: string;
}

export interface Store {
  /** For other stores (access, quota, outbox) over the same database. */
  readonly database: Database;
  readonly upstreams: () => Promise<ReadonlyMap<string, UpstreamRecord>>;
  /** Age of each upstream's data, for those that have answered. */
  readonly upstreamTimes: () => Promise<ReadonlyMap<string, UpstreamTimes>>;
  /** The last known monitors of an upstream, without those gone. */
  readonly monitors: (upstreamId?: string) => Promise<ReadonlyMap<MonitorId, MonitorObservation>>;
  /** The same for these ids. */
  readonly monitorsById: (ids: readonly MonitorId[]) => Promise<ReadonlyMap<MonitorId, MonitorObservation>>;
  /** Changes after `revision`; 0: everything. Cost is proportional to the changes. */
  readonly changesSince: (revision: number) => Promise<Changes>;
  /** When this store first published anything, which identifies it; null: never. */
  readonly firstPublishedAt: () => Promise<EpochMs | null>;
  /**
   * @throws STORE_UNAVAILABLE with `superseded` in its context, and changes nothing, if another process has the lease
   */
  readonly commitPass: (commit: PassCommit) => Promise<CommitResult>;
  /**
   * After the clock was set back: cuts what was recorded for times after `now`. Returns how far ahead the last answer
   * was recorded, in ms; 0: nothing was.
   *
   * @throws as `commitPass`
   */
  readonly cutFuture: (upstreamId: string, now: EpochMs, lease?: Lease) => Promise<number>;
  /**
   * Stores the hash of a snapshot that lost more than half of its monitors, so that an identical next one is accepted.
   *
   * @throws as `commitPass`
   */
  readonly holdVanished: (upstreamId: string, hash: string | null, lease?: Lease) => Promise<void>;
  /**
   * Replaces the page definitions of an upstream, without a pass.
   *
   * @throws as `commitPass`
   */
  readonly keepPages: (upstreamId: string, pages: readonly PageDefinition[], lease?: Lease) => Promise<void>;
  /** Open incidents of an upstream, by their id there. */
  readonly openStories: (upstreamId: string) => Promise<ReadonlyMap<string, Incident>>;
  /** Subjects of an upstream's open incidents. */
  readonly openSubjects: (upstreamId: string) => Promise<readonly Subject[]>;
  /** Incidents of an upstream whose full text is requested, least recently requested first, by their id there. */
  readonly incidentsReadAt: (upstreamId: string, limit: number) => Promise<ReadonlyMap<string, EpochMs>>;
  /** When each monitor's detail was last fetched, by its id there. */
  readonly detailFetchedAt: (upstreamId: string) => Promise<ReadonlyMap<string, EpochMs>>;
  /** Monitors whose history was requested (`Learned.backfilled`), by their id there. */
  readonly backfilledMonitors: (upstreamId: string) => Promise<ReadonlySet<string>>;
  /** Everything about these monitors since `from`; one entry per id. */
  readonly pasts: (ids: readonly MonitorId[], from: EpochMs) => Promise<ReadonlyMap<MonitorId, MonitorPast>>;
  /** Incidents that are open or ended after `from`, newest start first. Withdrawn ones are left out here and below. */
  readonly incidents: (from: EpochMs) => Promise<readonly StoredIncident[]>;
  /** Maintenances that end after `from`, newest start first. */
  readonly maintenances: (from: EpochMs) => Promise<readonly StoredMaintenance[]>;
  /** The same, about any of `subjects`. */
  readonly incidentsAbout: (subjects: readonly Subject[], from: EpochMs) => Promise<readonly StoredIncident[]>;
  /** The same, about any of `subjects`. */
  readonly maintenancesAbout: (subjects: readonly Subject[], from: EpochMs) => Promise<readonly StoredMaintenance[]>;
  /** When pages and components were first defined, if known. */
  readonly firstSeenAt: (about: readonly Subject[]) => Promise<ReadonlyMap<Subject, EpochMs>>;
  /** Automatic incidents of a page, by its definition's id. */
  readonly entries: (page: string) => Promise<readonly StoredEntry[]>;
  readonly recordRun: (run: RunRecord) => Promise<void>;
  readonly runs: (limit: number) => Promise<readonly RunRecord[]>;
  /**
   * Deletes what ended before `before`, at most a batch at a time; returns the number of rows deleted.
   *
   * @param runsBefore for reports of runs, which are many. Default: `before`
   */
  readonly retain: (before: EpochMs, runsBefore?: EpochMs) => Promise<number>;
  readonly close: () => Promise<void>;
}
