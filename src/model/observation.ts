/** What connectors make of payloads: facts in our words. Everything here is plain, frozen-able data. */

import type { ReportedDay, Span } from './overlap.ts';
import type { PageKey } from './slugs.ts';
import type { State } from './state.ts';
import type { EpochMs, Interval } from './time.ts';
import type { Translated } from './translated.ts';

/** Id of the built-in upstream for operators' posts. No upstream of the configuration may have it. */
export const WRITTEN_ID = 'written';

declare const monitorId: unique symbol;
/** `<upstream id>/<external id>`, the name of a monitor everywhere. */
export type MonitorId = string & { readonly [monitorId]: true };

/** The name of a monitor everywhere: `<upstream id>/<external id>`. */
export function toMonitorId(upstreamId: string, externalId: string | number): MonitorId {
  return `${upstreamId}/${externalId}` as MonitorId;
}

/** The upstream part of a monitor's name. */
export function upstreamOf(id: MonitorId): string {
  return id.slice(0, id.indexOf('/'));
}

export interface MonitorObservation {
  readonly id: MonitorId;
  readonly name: string;
  readonly description: string | null;
  /** The upstream's word for what is checked (`http`, `tcp`, `dns`, `source`, `journey` …). */
  readonly kind: string;
  /** What is checked. Never published unless `show_targets` says so. */
  readonly target: string | null;
  readonly state: State;
  /** False: must never show on a public page. Null: the upstream has no such field. */
  readonly isPublic: boolean | null;
  readonly createdAt: EpochMs | null;
}

/** Figures the upstream gives for one monitor, and the past it reports. */
export interface MonitorDetail {
  readonly id: MonitorId;
  readonly fetchedAt: EpochMs;
  readonly uptime: UpstreamUptime | null;
  /** Newest last; empty when the upstream gives none. */
  readonly responseTimes: readonly ResponseTime[];
  readonly reportedSpans: readonly Span[];
  readonly reportedDays: readonly ReportedDay[];
}

export interface UpstreamUptime {
  /** Null: it counts nothing over a period. */
  readonly periodDays: number | null;
  readonly checksTotal: number | null;
  readonly checksUp: number | null;
  /** 0 to 1, as the upstream gives it. */
  readonly uptimeRatio: number | null;
  readonly responseTimeAverageMs: number | null;
  /** The last answer at each place that checks it. Absent: it isn't said. */
  readonly places?: readonly PlaceAnswer[];
  /** When its certificate expires. Absent: it has none, or it isn't said. */
  readonly certificateEndsAt?: EpochMs;
}

/** What a monitor last answered to one of the places that check it. */
export interface PlaceAnswer {
  readonly place: string;
  readonly at: EpochMs;
  readonly state: State;
  /** Null: it didn't answer. */
  readonly responseTimeMs: number | null;
}

export interface ResponseTime {
  readonly at: EpochMs;
  readonly ms: number;
}

export const INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved', 'postmortem'] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];
/** Whether a status says that its incident is over. */
export function isOverStatus(status: string | null): boolean {
  return status === 'resolved' || status === 'postmortem';
}
export const INCIDENT_IMPACTS = ['none', 'minor', 'major', 'critical'] as const;
export type IncidentImpact = (typeof INCIDENT_IMPACTS)[number];

export interface Update {
  /** Unique within its incident and stable. */
  readonly id: string;
  readonly at: EpochMs;
  /** In the words of its parent: an incident's status or a maintenance's. Null: the parent's did not change. */
  readonly status: string | null;
  /** Upstream text, hostile: Markdown, drawn through the sanitiser only. */
  readonly body: string;
  /** The same in other languages. Absent: nobody translated it. */
  readonly bodies?: Translated;
  /** What it declares of components, for as long as no later update declares something else. Absent: it names none. */
  readonly impacts?: readonly AffectedComponent[];
  /** False: whoever wrote it wants nobody to be told. Absent: subscribers are. */
  readonly notify?: false;
}

/** The page that something was written on. */
export interface PageOwner {
  readonly page: PageKey;
  /** Whether the page was private then. */
  readonly isPrivate: boolean;
}

export interface Incident {
  /** `<upstream id>/<external id>`, with a prefix of the kind there where numbers could clash. */
  readonly id: string;
  readonly title: string;
  readonly titles?: Translated;
  readonly status: IncidentStatus;
  readonly impact: IncidentImpact;
  readonly startedAt: EpochMs;
  /** Null while unresolved. */
  readonly endedAt: EpochMs | null;
  /** Monitors it is about. */
  readonly monitors: readonly MonitorId[];
  /** Components it is about, where the upstream defines pages. */
  readonly components: readonly AffectedComponent[];
  /**
   * Pages it is published on, by definition id; null: on every page that shows one of its monitors. An empty list: the
   * upstream does not say this time, and what it said before stays.
   */
  readonly pages: readonly string[] | null;
  /** The state its monitors are in while it is open; null: it does not say. */
  readonly affectedState: State | null;
  /** True when it is the record of a failed check: its time counts as `major_outage`. */
  readonly isOutage: boolean;
  /** Oldest first. */
  readonly updates: readonly Update[];
  /** True: it puts components into a state and is no story of its own. Absent: it is one. */
  readonly isOverride?: true;
  /** False: what it declares shows and does not count in uptime. Absent: it counts. */
  readonly affectsUptime?: boolean;
  /**
   * When it came into being there, as far as that never changes: it tells one story from another that was given the same
   * id later. Absent: the id alone tells.
   */
  readonly bornAt?: EpochMs;
  /** The page that it was written on, which alone shows it. Absent: whatever it names shows it. */
  readonly owner?: PageOwner;
}

/** A component as an upstream's incident names it. */
export interface AffectedComponent {
  /** Id of the component in its page's definition, with the definition's id before it: `<definition id>/<component id>`. */
  readonly id: string;
  /** The state it is said to be in, where no update says otherwise; null: it does not say. */
  readonly state: State | null;
}

export interface Maintenance {
  readonly id: string;
  readonly title: string;
  readonly titles?: Translated;
  /** The window; of one that repeats the one that runs or comes next, else the last. */
  readonly startsAt: EpochMs;
  readonly endsAt: EpochMs;
  readonly monitors: readonly MonitorId[];
  /** `<definition id>/<component id>`, as in `AffectedComponent`. */
  readonly components: readonly string[];
  readonly pages: readonly string[] | null;
  /** Oldest first; what is said of it without a time of its own is its `body`. */
  readonly updates: readonly Update[];
  /** Markdown, hostile. Absent: nothing is said. */
  readonly body?: string;
  readonly bodies?: Translated;
  /** Absent: it takes place once. */
  readonly repeats?: Recurrence;
  /** False: its upstream says of each monitor what state it is in meanwhile. Absent: what is seen in the window is expected. */
  readonly covers?: false;
  /** False: whoever planned it wants nobody to be told. Absent: subscribers are. */
  readonly notify?: false;
  /** As of an incident. */
  readonly bornAt?: EpochMs;
  /** As of an incident. */
  readonly owner?: PageOwner;
}

export const FREQUENCIES = ['day', 'week', 'month', 'year'] as const;

/** How a maintenance comes back. */
export interface Recurrence {
  /** As RFC 5545 writes it. */
  readonly rule: string;
  /** What of the rule can be said in a few words: every so many of these … */
  readonly every: (typeof FREQUENCIES)[number];
  readonly interval: number;
  /** … on these days of the week, 1 for Monday to 7; empty: the rule does not say, or says more than that. */
  readonly weekdays: readonly number[];
  /** Sorted: those of the past that are known, and those to come as far as they are told. */
  readonly windows: readonly Interval[];
}

export const ANNOUNCEMENT_LEVELS = ['info', 'warning', 'success'] as const;
export type AnnouncementLevel = (typeof ANNOUNCEMENT_LEVELS)[number];

export interface Announcement {
  readonly id: string;
  readonly title: string;
  readonly titles?: Translated;
  readonly body: string;
  readonly bodies?: Translated;
  readonly level: AnnouncementLevel;
  readonly from: EpochMs;
  /** Null: until taken back. */
  readonly to: EpochMs | null;
  /** Slugs of the pages it shows on; null: on all. */
  readonly pages: readonly string[] | null;
  /** As of an incident. */
  readonly owner?: PageOwner;
}

export const ACCESS_TYPES = ['public', 'ip', 'password', 'email-domain', 'oidc', 'closed'] as const;
/** Who may see a page. `ip`: addresses, without signing in. `closed`: nobody; what an access type that we do not know becomes. */
export type AccessType = (typeof ACCESS_TYPES)[number];

/** Addresses that may see a page, as ranges in CIDR form or single addresses. */
export interface AddressRule {
  readonly ranges: readonly string[];
  /** True: they need not sign in. False: whoever signs in must come from one of them. */
  readonly isEnough: boolean;
}
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Whom a page lets in, of those who sign in by an identity provider: whoever is on one of the lists. */
export interface OidcAllow {
  readonly emails: readonly string[];
  readonly domains: readonly string[];
  readonly groups: readonly string[];
}

/** How the service of a page draws it, as far as it says. */
export interface PagePresentation {
  /** False: search engines are asked to leave it out. */
  readonly allowIndex?: boolean | undefined;
  /** Language of the page, a tag. */
  readonly locale?: string | undefined;
  /** All of its languages, tags. */
  readonly locales?: readonly string[] | undefined;
  /** False: no uptime figure is shown. */
  readonly showUptime?: boolean | undefined;
  /** True: what the page places shows whatever `isPublic` of its monitor says. */
  readonly showsAllPlaced?: boolean | undefined;
}

/** A status page as an upstream or the configuration defines it. Field names as in the status-page resource, in our case. */
export interface PageDefinition {
  /** `<upstream id>/<page id there>`, or `config/<slug>`. */
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly titles?: Translated | undefined;
  readonly description: string | null;
  readonly descriptions?: Translated | undefined;
  readonly homepageUrl: string | null;
  readonly contactUrl: string | null;
  readonly icon: string | null;
  readonly customDomain: string | null;
  readonly access: AccessType;
  readonly emailDomains: readonly string[];
  /** Absent: from any address. */
  readonly addresses?: AddressRule | undefined;
  /** Absent: nobody by an identity provider. */
  readonly oidc?: OidcAllow | undefined;
  readonly published: boolean;
  readonly theme: Theme;
  readonly groups: readonly GroupDefinition[];
  readonly components: readonly ComponentDefinition[];
  readonly presentation?: PagePresentation | undefined;
}

export interface GroupDefinition {
  readonly id: string;
  readonly name: string;
  readonly names?: Translated | undefined;
  readonly order: number;
  /** Whether it is unfolded at first; absent: it is not said. */
  readonly defaultOpen?: boolean | undefined;
  /** Whether the state of its components is part of the page's; absent: that of those that are ours is. */
  readonly counts?: boolean | undefined;
}

export interface ComponentDefinition {
  /** Unique within its page and stable: part of addresses. */
  readonly id: string;
  readonly type: 'monitor' | 'static';
  /** Null when static. */
  readonly monitor: MonitorId | null;
  /** Null: the monitor's name. */
  readonly name: string | null;
  readonly names?: Translated | undefined;
  readonly description: string | null;
  /** True: what its upstream says of the monitor, and of its outages, may be published. Absent: it is nobody's business. */
  readonly showsDetails?: boolean;
  readonly groupId: string | null;
  readonly order: number;
  readonly groupOrder: number;
  /** Address of the page of somebody else that it is read from. Absent: it is ours. */
  readonly vendorPage?: string;
  /** False: its state is no part of the page's. */
  readonly counts?: false;
}

/** Where an upstream sends its own notifications. Addresses and keys in it are never kept. */
export interface NotificationChannel {
  /** `<upstream id>/<external id>`. */
  readonly id: string;
  readonly name: string;
  /** The upstream's word: `slack`, `webhook` … */
  readonly kind: string;
  /** What triggers it; null: it is not said. */
  readonly monitors: readonly MonitorId[] | null;
}

/**
 * What one pull learned. Monitors and pages are complete, unless they are stale; of incidents and maintenances `complete`
 * says how far they are; `details` holds only what was asked this time.
 */
export interface Learned {
  readonly monitors: readonly MonitorObservation[];
  /** When monitors came into the state they are in, by their id, where their upstream tells; absent: it does not. */
  readonly changedAt?: Readonly<Record<MonitorId, EpochMs>>;
  /** When that was found out, where it took several tries; absent: it was known at once. */
  readonly foundAt?: Readonly<Record<MonitorId, EpochMs>>;
  /** Monitors whose details are shown at once; absent: details are shown when something else is drawn. */
  readonly shownAtOnce?: readonly MonitorId[];
  readonly incidents: readonly Incident[];
  readonly maintenances: readonly Maintenance[];
  readonly announcements: readonly Announcement[];
  readonly pages: readonly PageDefinition[];
  readonly details: readonly MonitorDetail[];
  /** Absent: not asked for this time. */
  readonly channels?: readonly NotificationChannel[];
  readonly problems: readonly Problem[];
  /** Items looked at, so that the share of bad ones can be judged. */
  readonly itemsTotal: number;
  /** True: monitors that aren't listed were not read, so they are unknown and not gone. */
  readonly isPartial?: boolean;
  /** Parts that could not be read this time and keep their last value, stale by themselves. */
  readonly stale: readonly SnapshotPart[];
  /** Lists that are known to be whole, so that what they lack was taken back there; what no list covers stays. */
  readonly complete: readonly CompleteList[];
  /** Ids of incidents that the upstream itself says are no more. */
  readonly gone: readonly string[];
  /** Ids of incidents whose own text was asked for, so that old ones are read again in turn. */
  readonly readAgain: readonly string[];
  /** True once the past has been asked for: that of the upstream, such as its incidents. */
  readonly isBackfilled: boolean;
  /** Monitors whose own past was asked for this time, so that those that come later get theirs too; absent: none. */
  readonly backfilled?: readonly MonitorId[];
}

/** A list of incidents or maintenances that an upstream gave as a whole. */
export interface CompleteList {
  readonly part: 'incidents' | 'maintenances';
  /** What ids begin with that the list is about; an upstream may have several lists. */
  readonly prefix: string;
  /** It holds every incident that begins, or maintenance that ends, at this instant or later; null: every one there is. */
  readonly since: EpochMs | null;
  /** True: it is our own list, and what it lacks is gone at once. Absent: a second list has to lack it too. */
  readonly isFinal?: true;
  /** Ids of all that it holds, also of those whose item could not be read or was not asked for. */
  readonly ids: readonly string[];
}

export const SNAPSHOT_PARTS = ['monitors', 'incidents', 'maintenances', 'pages'] as const;
export type SnapshotPart = (typeof SNAPSHOT_PARTS)[number];

/** A thing the upstream sent that we could not take as it was. */
export interface Problem {
  /** `dropped`: the item is left out or shows as unknown; `word`: a word we do not know; `gate`: who may see a page is in doubt. */
  readonly kind: 'dropped' | 'word' | 'gate' | 'note';
  /**
   * The page that a `gate` is about, by its definition's id: it is closed. Null: the pages that the answer does not show. Absent: all
   * of this upstream.
   */
  readonly page?: string | null;
  /** Where: `monitors[3].status`. */
  readonly place: string;
  readonly message: string;
}

/** Nothing learned; connectors spread it and fill in what their upstream has. */
export const NOTHING_LEARNED: Learned = Object.freeze({
  monitors: [],
  incidents: [],
  maintenances: [],
  announcements: [],
  pages: [],
  details: [],
  problems: [],
  itemsTotal: 0,
  stale: [],
  complete: [],
  gone: [],
  readAgain: [],
  isBackfilled: true,
});
