/** What connectors turn responses into: facts in our own terms, as plain data. */

import type { ReportedDay, Span } from './overlap.ts';
import type { PageKey } from './slugs.ts';
import type { State } from './state.ts';
import type { EpochMs, Interval } from './time.ts';
import type { Translated } from './translated.ts';

/** Id of the built-in upstream for operators' posts. No configured upstream can have it. */
export const WRITTEN_ID = 'written';

declare const monitorId: unique symbol;
/** Identifies a monitor everywhere: `<upstream id>/<external id>`. */
export type MonitorId = string & { readonly [monitorId]: true };

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
  /** The upstream's word for the kind of check (`http`, `tcp`, `dns`, `source`, `journey` …). */
  readonly kind: string;
  /** The target of the check. Published only with `show_targets`. */
  readonly target: string | null;
  readonly state: State;
  /** False: never shown on a public page. Null: the upstream has no such field. */
  readonly isPublic: boolean | null;
  readonly createdAt: EpochMs | null;
}

/** Figures of one monitor from its upstream, and its reported past. */
export interface MonitorDetail {
  readonly id: MonitorId;
  readonly fetchedAt: EpochMs;
  readonly uptime: UpstreamUptime | null;
  /** Newest last; empty if the upstream has none. */
  readonly responseTimes: readonly ResponseTime[];
  readonly reportedSpans: readonly Span[];
  readonly reportedDays: readonly ReportedDay[];
}

export interface UpstreamUptime {
  /** Null: it has no figures for a period. */
  readonly periodDays: number | null;
  readonly checksTotal: number | null;
  readonly checksUp: number | null;
  /** 0 to 1, as reported by the upstream. */
  readonly uptimeRatio: number | null;
  readonly responseTimeAverageMs: number | null;
  /** The last answer at each place that checks it. Absent: not known. */
  readonly places?: readonly PlaceAnswer[];
  /** When its certificate expires. Absent: it has none, or it isn't known. */
  readonly certificateEndsAt?: EpochMs;
}

/** The last answer of a monitor at one place. */
export interface PlaceAnswer {
  readonly place: string;
  readonly at: EpochMs;
  readonly state: State;
  /** Null: no answer. */
  readonly responseTimeMs: number | null;
}

export interface ResponseTime {
  readonly at: EpochMs;
  readonly ms: number;
}

export const INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved', 'postmortem'] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];
/** Whether an incident with this status is over. */
export function isOverStatus(status: string | null): boolean {
  return status === 'resolved' || status === 'postmortem';
}
export const INCIDENT_IMPACTS = ['none', 'minor', 'major', 'critical'] as const;
export type IncidentImpact = (typeof INCIDENT_IMPACTS)[number];

export interface Update {
  /** Unique within its incident, and stable. */
  readonly id: string;
  readonly at: EpochMs;
  /** A status of an incident or a maintenance, depending on its parent. Null: the status didn't change. */
  readonly status: string | null;
  /** Untrusted Markdown from the upstream; always rendered through the sanitiser. */
  readonly body: string;
  /** Translations. Absent: there are none. */
  readonly bodies?: Translated;
  /** The states that it declares for components, until a later update declares others. Absent: none. */
  readonly impacts?: readonly AffectedComponent[];
  /** False: its author doesn't want anyone to be notified. Absent: subscribers are notified. */
  readonly notify?: false;
}

/** The page that a post was written on. */
export interface PageOwner {
  readonly page: PageKey;
  /** Whether the page was private at the time. */
  readonly isPrivate: boolean;
}

/** What has a title of its own on a page. */
interface Titled {
  /** `<upstream id>/<external id>`, with a prefix for the kind if numbers could clash. */
  readonly id: string;
  readonly title: string;
  readonly titles?: Translated;
  /** The page that it was written on, the only one that shows it. Absent: every page with its components or monitors shows it. */
  readonly owner?: PageOwner;
}

/** What incidents and maintenances have in common. */
interface Story extends Titled {
  /** The affected monitors. */
  readonly monitors: readonly MonitorId[];
  /**
   * Definition ids of the pages it is published on; null: every page that shows one of its monitors. Empty: the
   * upstream did not say this time, so the earlier value stays.
   */
  readonly pages: readonly string[] | null;
  /** Oldest first. Text of a maintenance without a time of its own is in its `body`. */
  readonly updates: readonly Update[];
  /**
   * When the upstream created it, if that never changes: distinguishes stories when an id is reused. Absent: the id
   * alone identifies it.
   */
  readonly bornAt?: EpochMs;
}

export interface Incident extends Story {
  readonly status: IncidentStatus;
  readonly impact: IncidentImpact;
  readonly startedAt: EpochMs;
  /** Null while unresolved. */
  readonly endedAt: EpochMs | null;
  /** The affected components, if the upstream defines pages. */
  readonly components: readonly AffectedComponent[];
  /** The state of its monitors while it is open; null: not given. */
  readonly affectedState: State | null;
  /** True: it records a failed check, and its time counts as `major_outage`. */
  readonly isOutage: boolean;
  /** True: it only sets the state of components and isn't listed. Absent: it is listed. */
  readonly isOverride?: true;
  /** False: what it declares is shown but doesn't count in uptime. Absent: it counts. */
  readonly affectsUptime?: boolean;
}

/** A component in an incident of an upstream. */
export interface AffectedComponent {
  /** `<definition id>/<component id>`: the component's id within its page's definition. */
  readonly id: string;
  /** Its state unless an update gives another one; null: not given. */
  readonly state: State | null;
}

export interface Maintenance extends Story {
  /** The window. If it repeats: the current or next window, or else the last. */
  readonly startsAt: EpochMs;
  readonly endsAt: EpochMs;
  /** The start when it was announced. Absent: it hasn't moved. */
  readonly announcedFor?: EpochMs;
  /** `<definition id>/<component id>`, as in `AffectedComponent`. */
  readonly components: readonly string[];
  /** Untrusted Markdown. Absent: there is no text. */
  readonly body?: string;
  readonly bodies?: Translated;
  /** Absent: it happens once. */
  readonly repeats?: Recurrence;
  /** False: during the window, monitors have the states that the upstream reports. Absent: everything in the window is expected. */
  readonly covers?: false;
  /** False: its author doesn't want anyone to be notified. Absent: subscribers are notified. */
  readonly notify?: false;
}

export const FREQUENCIES = ['day', 'week', 'month', 'year'] as const;

/** How a maintenance repeats. */
export interface Recurrence {
  /** As in RFC 5545. */
  readonly rule: string;
  /** The part of the rule that can be said in a few words: every so many of these … */
  readonly every: (typeof FREQUENCIES)[number];
  readonly interval: number;
  /** … on these days of the week, 1 (Monday) to 7; empty if the rule names none, or is more complex. */
  readonly weekdays: readonly number[];
  /** Sorted: known past windows, and future ones as far as they are announced. */
  readonly windows: readonly Interval[];
}

export const ANNOUNCEMENT_LEVELS = ['info', 'warning', 'success'] as const;
export type AnnouncementLevel = (typeof ANNOUNCEMENT_LEVELS)[number];

export interface Announcement extends Titled {
  readonly body: string;
  readonly bodies?: Translated;
  readonly level: AnnouncementLevel;
  readonly from: EpochMs;
  /** Null: until withdrawn. */
  readonly to: EpochMs | null;
  /** Slugs of the pages that show it; null: all. */
  readonly pages: readonly string[] | null;
}

export const ACCESS_TYPES = ['public', 'ip', 'password', 'email-domain', 'oidc', 'closed'] as const;
/** Who may see a page. `ip`: visitors from allowed addresses, without signing in. `closed`: nobody; used for unknown access types. */
export type AccessType = (typeof ACCESS_TYPES)[number];

/** Addresses that may see a page: single ones, or ranges in CIDR notation. */
export interface AddressRule {
  readonly ranges: readonly string[];
  /** True: visitors from these addresses needn't sign in. False: they must sign in as well. */
  readonly isEnough: boolean;
}
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Who can see a page after signing in by an identity provider: everyone on one of the lists. */
export interface OidcAllow {
  readonly emails: readonly string[];
  readonly domains: readonly string[];
  readonly groups: readonly string[];
}

/** How the service of a page presents it, as far as known. */
export interface PagePresentation {
  /** False: ask search engines not to index it. */
  readonly allowIndex?: boolean | undefined;
  /** Language tag of the page. */
  readonly locale?: string | undefined;
  /** Tags of all its languages. */
  readonly locales?: readonly string[] | undefined;
  /** False: uptime figures are hidden. */
  readonly showUptime?: boolean | undefined;
  /** True: all its components are shown, whatever `isPublic` of their monitors. */
  readonly showsAllPlaced?: boolean | undefined;
}

/**
 * A status page as an upstream or the configuration defines it. Fields are those of the status-page resource, in camel
 * case.
 */
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
  /** Absent: any address. */
  readonly addresses?: AddressRule | undefined;
  /** Absent: nobody can sign in by an identity provider. */
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
  /** Whether it is unfolded at first; absent: not given. */
  readonly defaultOpen?: boolean | undefined;
  /** Whether its components count for the page's state; absent: only our own do. */
  readonly counts?: boolean | undefined;
}

export interface ComponentDefinition {
  /** Unique within its page and stable; part of URLs. */
  readonly id: string;
  readonly type: 'monitor' | 'static';
  /** Null when static. */
  readonly monitor: MonitorId | null;
  /** Null: the monitor's name. */
  readonly name: string | null;
  readonly names?: Translated | undefined;
  readonly description: string | null;
  /** True: the upstream's description of the monitor and its outages may be published. Absent: it may not. */
  readonly showsDetails?: boolean;
  readonly groupId: string | null;
  readonly order: number;
  readonly groupOrder: number;
  /** Address of the vendor's page that it is read from. Absent: it is our own. */
  readonly vendorPage?: string;
  /** False: it doesn't count for the page's state. */
  readonly counts?: false;
}

/** A channel through which an upstream sends its own notifications. Its addresses and keys are never stored. */
export interface NotificationChannel {
  /** `<upstream id>/<external id>`. */
  readonly id: string;
  readonly name: string;
  /** In the upstream's words: `slack`, `webhook` … */
  readonly kind: string;
  /** The monitors that trigger it; null: not known. */
  readonly monitors: readonly MonitorId[] | null;
}

/**
 * What one pull returned. Monitors and pages are complete unless stale; `complete` says which incidents and
 * maintenances are; `details` holds only what was requested this time.
 */
export interface Learned {
  readonly monitors: readonly MonitorObservation[];
  /** When monitors entered their current state, by id. Absent: the upstream doesn't say. */
  readonly changedAt?: Readonly<Record<MonitorId, EpochMs>>;
  /** When the state was detected, if that took several tries. Absent: at once. */
  readonly foundAt?: Readonly<Record<MonitorId, EpochMs>>;
  /** Monitors whose details are published at once. Absent: details are published with the next change. */
  readonly shownAtOnce?: readonly MonitorId[];
  readonly incidents: readonly Incident[];
  readonly maintenances: readonly Maintenance[];
  readonly announcements: readonly Announcement[];
  readonly pages: readonly PageDefinition[];
  readonly details: readonly MonitorDetail[];
  /** Absent: not requested this time. */
  readonly channels?: readonly NotificationChannel[];
  readonly problems: readonly Problem[];
  /** Number of items that were read. */
  readonly itemsTotal: number;
  /** True: monitors that aren't listed were not read, so they are unknown, not gone. */
  readonly isPartial?: boolean;
  /** Parts that couldn't be read this time. They keep their last value and become stale on their own. */
  readonly stale: readonly SnapshotPart[];
  /** Lists that are known to be complete: items that they lack were removed upstream. Items that no list covers stay. */
  readonly complete: readonly CompleteList[];
  /** Ids of incidents that no longer exist upstream. */
  readonly gone: readonly string[];
  /** Ids of incidents that were read individually, so that old ones are read again in turn. */
  readonly readAgain: readonly string[];
  /** True once the upstream's past, such as its incidents, was requested. */
  readonly isBackfilled: boolean;
  /** Monitors whose past was requested this time, so that later monitors get theirs too. Absent: none. */
  readonly backfilled?: readonly MonitorId[];
}

/** A complete list of incidents or maintenances. */
export interface CompleteList {
  readonly part: 'incidents' | 'maintenances';
  /** Prefix of the ids in the list; an upstream may have several lists. */
  readonly prefix: string;
  /** It contains every incident that begins, or maintenance that ends, at this instant or later; null: all of them. */
  readonly since: EpochMs | null;
  /** True: it is our own list, and items that it lacks are gone at once. Absent: the next list must lack them too. */
  readonly isFinal?: true;
  /** Ids of all its items, including those that couldn't be read or weren't requested. */
  readonly ids: readonly string[];
}

export const SNAPSHOT_PARTS = ['monitors', 'incidents', 'maintenances', 'pages'] as const;
export type SnapshotPart = (typeof SNAPSHOT_PARTS)[number];

/** Something in a response that couldn't be used as it is. */
export interface Problem {
  /**
   * `dropped`: the item is left out or shown as unknown. `word`: an unknown value. `gate`: unclear who may see a page.
   */
  readonly kind: 'dropped' | 'word' | 'gate' | 'note';
  /**
   * With `gate`: definition id of the page, which is closed. Null: the pages missing from the answer. Absent: all pages
   * of this upstream.
   */
  readonly page?: string | null;
  /** The place, such as `monitors[3].status`. */
  readonly place: string;
  readonly message: string;
}

/** Nothing learned. Connectors spread it and fill in what their upstream has. */
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
