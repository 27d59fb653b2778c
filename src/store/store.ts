/** What Pharos remembers, in domain words. Both databases serve it through the same statements. */

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
  readonly maintenancesAt: EpochMs | null;
  readonly pagesAt: EpochMs | null;
  readonly isBackfilled: boolean;
  readonly definitions: readonly PageDefinition[];
  readonly announcements: readonly Announcement[];
  /** Where it sends its own notifications. */
  readonly channels: readonly NotificationChannel[];
  /** When it was asked for them last; null: never. */
  readonly channelsAt: EpochMs | null;
  readonly heldHash: string | null;
}

/** What a pass commits for one upstream, as a whole. */
export interface PassCommit {
  readonly upstreamId: string;
  /** When the answers were asked for. */
  readonly observedAt: EpochMs;
  readonly learned: Learned;
  /** The known definitions of pages, which stay if `learned` could not read them; absent: as they are stored. */
  readonly kept?: readonly PageDefinition[];
  /**
   * `continuous`: open spans go on, only `spanChanges` are written.
   * `broken`: the last pass is too long ago (or there was none): every open span ends at the last `monitorsAt`, the time
   * since is unknown, and each monitor begins a new span at `observedAt`.
   */
  readonly continuity: 'continuous' | 'broken';
  readonly spanChanges: readonly SpanChange[];
  /** What whoever commits has to hold still; absent: nothing. */
  readonly lease?: Lease;
}

/** What really changed by a commit: ids of monitors (state or description), incidents, maintenances, and whether definitions did. */
export interface CommitResult {
  readonly monitors: readonly MonitorId[];
  readonly incidents: readonly string[];
  readonly maintenances: readonly string[];
  readonly hasNewDefinitions: boolean;
  /** True: a newer answer was recorded before, so nothing was written. */
  readonly isOutdated?: true;
}

/** How old what an upstream said is, without the rest of its record. */
export interface UpstreamTimes extends Pick<UpstreamRecord, 'monitorsAt' | 'incidentsAt' | 'pagesAt'> {
  /** List and incident requests of its last pass; absent: not known. */
  readonly listCalls?: number;
}

declare const subject: unique symbol;
/** What an incident or a maintenance is about: a monitor, a component or a page. Made by `subjects`. */
export type Subject = string & { readonly [subject]: true };

/** Names of subjects. */
export const subjects = {
  monitor: (id: MonitorId) => `monitor:${id}` as Subject,
  /** `<definition id>/<component id>`. */
  component: (id: string) => `component:${id}` as Subject,
  /** A page by its key, its definition's id or its slug. */
  page: (idOrSlug: string) => `page:${idOrSlug}` as Subject,
};

/** What a subject was made from by `subjects`. */
export function subjectNamed(of: Subject): { readonly kind: keyof typeof subjects; readonly name: string } {
  const end = of.indexOf(':');
  return { kind: of.slice(0, end) as keyof typeof subjects, name: of.slice(end + 1) };
}

/** What commits changed after a revision, whichever process made them. */
export interface Changes {
  /** The revision that these lead to. */
  readonly revision: number;
  /** In state or description, new or gone. */
  readonly monitors: readonly MonitorId[];
  /** Everything that changed incidents and maintenances are about, or once were. */
  readonly subjects: readonly Subject[];
  /** Whether definitions of pages or announcements changed. */
  readonly hasNewDefinitions: boolean;
}

export interface StoredMaintenance extends Maintenance {
  /** Grows by one with every change. */
  readonly sequence: number;
  readonly changedAt: EpochMs;
  readonly firstSeenAt: EpochMs;
}

export interface StoredIncident extends Incident {
  readonly changedAt: EpochMs;
  readonly firstSeenAt: EpochMs;
}

/** An entry that was made of an outage and published: what it is found by again. */
export interface StoredEntry {
  /** Unique on its page. */
  readonly id: string;
  /** Whose fall opened it. */
  readonly componentId: string;
  readonly fellAt: EpochMs;
  readonly firstSeenAt: EpochMs;
}

export interface RunRecord {
  readonly id: string;
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
  readonly trigger: string;
  /** JSON of the pass report, as the command line prints it. */
  readonly report: string;
}

export interface Store {
  /** For stores of other parts (access, quota, outbox) over the same database. */
  readonly database: Database;
  readonly upstreams: () => Promise<ReadonlyMap<string, UpstreamRecord>>;
  /** How old each upstream's answers are, for those that have answered. */
  readonly upstreamTimes: () => Promise<ReadonlyMap<string, UpstreamTimes>>;
  /** The last known monitors of an upstream, those gone left out. */
  readonly monitors: (upstreamId?: string) => Promise<ReadonlyMap<MonitorId, MonitorObservation>>;
  /** Those of `ids` that are known and not gone. */
  readonly monitorsById: (ids: readonly MonitorId[]) => Promise<ReadonlyMap<MonitorId, MonitorObservation>>;
  /** What changed after `revision`; 0: ever. Costs as much as what changed. */
  readonly changesSince: (revision: number) => Promise<Changes>;
  /** When something was first published from this store, which tells it from another; null: nothing was. */
  readonly firstPublishedAt: () => Promise<EpochMs | null>;
  /** @throws STORE_UNAVAILABLE with `superseded` in its context and nothing changed, when somebody else has its lease */
  readonly commitPass: (commit: PassCommit) => Promise<CommitResult>;
  /**
   * After the clock was set back: cuts what was recorded for times after `now`. Returns how far ahead the last answer was recorded,
   * ms; 0: nothing was.
   *
   * @throws as `commitPass`
   */
  readonly cutFuture: (upstreamId: string, now: EpochMs, lease?: Lease) => Promise<number>;
  /**
   * Remembers a snapshot that lost more than half of its monitors, so that the next equal one is believed.
   *
   * @throws as `commitPass`
   */
  readonly holdVanished: (upstreamId: string, hash: string | null, lease?: Lease) => Promise<void>;
  /**
   * Replaces the definitions of an upstream's pages, without the rest of an answer.
   *
   * @throws as `commitPass`
   */
  readonly keepPages: (upstreamId: string, pages: readonly PageDefinition[], lease?: Lease) => Promise<void>;
  /** Ids there of the incidents of an upstream that are open. */
  readonly openStories: (upstreamId: string) => Promise<ReadonlyMap<string, Incident>>;
  /** What the open incidents of an upstream are about. */
  readonly openSubjects: (upstreamId: string) => Promise<readonly Subject[]>;
  /** Incidents of an upstream whose own text is asked for, those not asked for longest first, by the id there. */
  readonly incidentsReadAt: (upstreamId: string, limit: number) => Promise<ReadonlyMap<string, EpochMs>>;
  /** When each monitor's detail was last fetched, by the id there. */
  readonly detailFetchedAt: (upstreamId: string) => Promise<ReadonlyMap<string, EpochMs>>;
  /** Monitors whose past was asked for (`Learned.backfilled`), by id there. */
  readonly backfilledMonitors: (upstreamId: string) => Promise<ReadonlySet<string>>;
  /** Everything about these monitors since `from`; one entry for each id asked. */
  readonly pasts: (ids: readonly MonitorId[], from: EpochMs) => Promise<ReadonlyMap<MonitorId, MonitorPast>>;
  /** Incidents that are open or ended after `from`, newest start first; those taken back are left out here and below. */
  readonly incidents: (from: EpochMs) => Promise<readonly StoredIncident[]>;
  /** Maintenances that end after `from`, newest start first. */
  readonly maintenances: (from: EpochMs) => Promise<readonly StoredMaintenance[]>;
  /** Of those incidents, the ones about any of `subjects`. */
  readonly incidentsAbout: (subjects: readonly Subject[], from: EpochMs) => Promise<readonly StoredIncident[]>;
  /** Of those maintenances, the ones about any of `subjects`. */
  readonly maintenancesAbout: (subjects: readonly Subject[], from: EpochMs) => Promise<readonly StoredMaintenance[]>;
  /** When pages and components of pages were first defined, for those that are known. */
  readonly firstSeenAt: (about: readonly Subject[]) => Promise<ReadonlyMap<Subject, EpochMs>>;
  /** Entries of a page, by its definition's id. */
  readonly entries: (page: string) => Promise<readonly StoredEntry[]>;
  readonly recordRun: (run: RunRecord) => Promise<void>;
  readonly runs: (limit: number) => Promise<readonly RunRecord[]>;
  /**
   * Deletes what ended before `before`, a bounded number of rows at a time; returns how many rows went.
   *
   * @param runsBefore for reports of runs, which are many. Default: `before`
   */
  readonly retain: (before: EpochMs, runsBefore?: EpochMs) => Promise<number>;
  readonly close: () => Promise<void>;
}
