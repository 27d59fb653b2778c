/** Everything known about a status page at one instant. All its views are computed from this. */

import type {
  Announcement,
  ComponentDefinition,
  GroupDefinition,
  IncidentImpact,
  IncidentStatus,
  PageDefinition,
  Recurrence,
  ResponseTime,
  UpstreamUptime,
} from './observation.ts';
import type { TimelineSpan } from './overlap.ts';
import type { State } from './state.ts';
import type { Day, EpochMs, Interval } from './time.ts';
import type { Pieces } from './translated.ts';

/** Sets of colours, fonts and corners; `src/looks/presets.ts` defines them. */
export const PRESETS = ['paper', 'plain', 'slate', 'mono', 'contrast'] as const;
export type Preset = (typeof PRESETS)[number];

/** An image that the page serves. */
export interface OwnPicture {
  /** Its path below the page. */
  readonly path: string;
  /** In CSS pixels. */
  readonly width: number;
  readonly height: number;
}

/** The operator's changes to the look, besides the accent and variables. */
export interface PageLook {
  readonly preset?: Preset;
  /** Replaces icon and title in the header. `dark` is for dark headers. */
  readonly logo?: { readonly light: OwnPicture; readonly dark?: OwnPicture };
  /** The operator's style sheet, checked; it follows ours. */
  readonly stylesheet?: string;
}

/** The languages of a page with several: each has its own tree of files, the first one at the page's address. */
export interface PageLanguages {
  /** Tags, the default first. */
  readonly all: readonly string[];
  /** The tree of these settings, below the page's address: `de/`; empty: that of the default language. */
  readonly path: string;
}

/** The settings of a page, with defaults filled in. */
export interface PageSettings {
  /** Absolute address of the page with a trailing slash, from site.url or its custom domain. */
  readonly url: string;
  /** IANA time zone of its days and times. */
  readonly timezone: string;
  /** BCP 47; selects the catalogue of texts. */
  readonly locale: string;
  /** Absent: it has one language. */
  readonly languages?: PageLanguages;
  readonly showTargets: boolean;
  /** Outages up to this long don't colour a day. */
  readonly blipFloorMs: number;
  /** Decimal places of uptime figures. */
  readonly uptimeDecimals: number;
  /** `#rrggbb`, validated; null: the default. */
  readonly accentColor: string | null;
  /** Validated custom properties, `--pharos-…` to value. */
  readonly cssVariables: Readonly<Record<string, string>>;
  /** Absent: the built-in look. */
  readonly look?: PageLook;
  readonly allowIndex: boolean;
  /** Length of the history. */
  readonly historyDays: number;
  /** Outages this long become incidents automatically; null: never. */
  readonly entriesAfterMs: number | null;
  /** False: uptime percentages are hidden. */
  readonly showUptime: boolean;
  /** Whether visitors can subscribe by email. */
  readonly subscriptions: boolean;
  /** Digest of the witnesses' results for the site's pages; absent: there are none. */
  readonly witnesses?: string;
}

/** The freshness of an upstream's data. */
export interface SourceFreshness {
  readonly upstreamId: string;
  /** Time of the last good answer with its states; null: it never answered. */
  readonly monitorsAt: EpochMs | null;
  readonly incidentsAt: EpochMs | null;
  /** How often it is queried. Data older than two intervals is stale. */
  readonly intervalMs: number;
  readonly isMonitorsStale: boolean;
  readonly isIncidentsStale: boolean;
  /** True: its times are in the future, because a clock was set back. */
  readonly isAhead?: true;
}

export interface ComponentModel {
  readonly definition: ComponentDefinition;
  /** Unambiguous on the page: with its group ("Message queues, Frankfurt") if another component has the same name. */
  readonly name: string;
  /** The name as defined, for places that show the group next to it. */
  readonly plainName: string;
  /** Language of the name, if it isn't the page's. */
  readonly lang?: string | undefined;
  readonly description: string | null;
  /** Only with `showTargets`. */
  readonly target: string | null;
  /** The current state, in which its time line ends. */
  readonly state: State;
  /** When it entered that state; null: nothing was known before. */
  readonly since: EpochMs | null;
  /** True: the data of its upstream is stale. */
  readonly isStale: boolean;
  /**
   * Every view of the component's state reads this. Sorted and without gaps, from the start of its data (or of the
   * history shown) up to and including `asOf`; `unknown` without data.
   */
  readonly timeline: readonly TimelineSpan[];
  /** When it was first defined or first observed, whichever was earlier. */
  readonly knownSince: EpochMs;
  /** Oldest first. */
  readonly responseTimes: readonly ResponseTime[];
  /** The upstream's own figures, shown next to ours. */
  readonly upstreamUptime: UpstreamUptime | null;
}

/** An update of an incident or a maintenance, with the status after it. */
export interface PageUpdate<Status extends string> {
  /** Unique within its incident or maintenance, and stable. */
  readonly id: string;
  /** Never after `asOf`. */
  readonly at: EpochMs;
  readonly status: Status;
  /** Untrusted Markdown; empty if only the status changed. */
  readonly body: string;
  /** Language of the body, if it isn't the page's. */
  readonly lang?: string | undefined;
  /** The pieces of a plain sentence with names in another language. */
  readonly pieces?: Pieces | undefined;
  /** False: subscribers aren't notified of it. Absent: they are. */
  readonly notify?: false;
}

/** An affected component of the page. */
export interface StoryComponent {
  /** As in URLs. */
  readonly id: string;
  /** Its state now or, if the incident is over, its worst state while it lasted. */
  readonly state: State;
}

/** An incident as the page shows it: declared by people, detected by monitors, or both. */
export interface PageIncident {
  /** Unique on the page and stable. Public ids are derived from it. */
  readonly id: string;
  /** Safe in paths, unique on the page and stable. */
  readonly slug: string;
  /** Other slugs under which it was published, or would have been. */
  readonly aliases: readonly string[];
  readonly title: string;
  /** Language of the title, if it isn't the page's. */
  readonly lang?: string | undefined;
  /** The pieces of a title with names in another language. */
  readonly pieces?: Pieces | undefined;
  readonly status: IncidentStatus;
  readonly impact: IncidentImpact;
  readonly startedAt: EpochMs;
  /** Null or after `asOf`: it is open. */
  readonly endedAt: EpochMs | null;
  /** Whether monitors detected it and nobody declared it. */
  readonly isAutomatic: boolean;
  /** In the order of the page. */
  readonly components: readonly StoryComponent[];
  readonly componentIds: readonly string[];
  /** Oldest first, at least one; the last one has its current status. */
  readonly updates: readonly PageUpdate<IncidentStatus>[];
}

export const MAINTENANCE_STATUSES = ['scheduled', 'in_progress', 'verifying', 'completed'] as const;
export type MaintenanceStatus = (typeof MAINTENANCE_STATUSES)[number];

export interface PageMaintenance {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  /** Language of the title, if it isn't the page's. */
  readonly lang?: string | undefined;
  /** The window. With `repeats`: the current or next one, else the last. */
  readonly startsAt: EpochMs;
  readonly endsAt: EpochMs;
  /** All known windows, sorted. */
  readonly windows: readonly Interval[];
  /** Null: it happens once. */
  readonly repeats: Recurrence | null;
  /** False: during the window, its components have the states that are reported. */
  readonly covers?: false;
  /** Derived from `asOf` and its window. */
  readonly status: MaintenanceStatus;
  /** When it was announced, at the latest when it began. Never after `asOf`, and it never changes. */
  readonly announcedAt: EpochMs;
  /** When it last changed, or its window began or ended. Never after `asOf`, and it never decreases. */
  readonly changedAt: EpochMs;
  /** When its text or windows last changed. */
  readonly editedAt: EpochMs;
  /** Incremented with every recorded change. */
  readonly sequence: number;
  /** In the order of the page. */
  readonly componentIds: readonly string[];
  /** Updates of the current or next window, oldest first, at least one; the last one has its current status. */
  readonly updates: readonly PageUpdate<MaintenanceStatus>[];
  /** Its texts, oldest first: untrusted Markdown. */
  readonly texts: readonly string[];
}

/** An automatic incident that is shown and not stored yet. */
export interface NewEntry {
  readonly id: string;
  readonly componentId: string;
  readonly fellAt: EpochMs;
}

/** The result of a witness for a page. */
export interface WitnessWord {
  readonly url: string;
  /** `away`: the witness has no current result. */
  readonly word: 'agrees' | 'differs' | 'away';
  /** Reasons if it differs; untrusted text from the witness. */
  readonly faults: readonly string[];
}

/** The part of a page's log that the page shows. */
export interface LogSummary {
  readonly size: number;
  /** Root of the tree, in base64. */
  readonly root: string;
  /** Digest of the past days in the log. */
  readonly days: string;
  /** Results of its witnesses; empty: it has none. */
  readonly witnesses: readonly WitnessWord[];
  /** Days that were corrected, the latest correction first. */
  readonly corrected: readonly { readonly component: string; readonly day: Day; readonly at: EpochMs }[];
}

export interface PageGroup extends GroupDefinition {
  /** Language of the name, if it isn't the page's. */
  readonly lang?: string | undefined;
}

export interface PageModel {
  readonly definition: PageDefinition;
  readonly settings: PageSettings;
  readonly state: State;
  /** When it entered that state; null: nothing was known before. */
  readonly since: EpochMs | null;
  /** When it was first defined. */
  readonly knownSince: EpochMs;
  /** Language of its title, if it isn't the page's. */
  readonly titleLang?: string | undefined;
  /** In the order of the page. */
  readonly groups: readonly PageGroup[];
  /** In the order of the page. */
  readonly components: readonly ComponentModel[];
  /** Newest start first. */
  readonly incidents: readonly PageIncident[];
  /** Newest start first. */
  readonly maintenances: readonly PageMaintenance[];
  /** Those shown at `asOf`. */
  readonly announcements: readonly Announcement[];
  readonly sources: readonly SourceFreshness[];
  /** Figures and days are computed up to this instant: the last change, or the last heartbeat if that is later. */
  readonly asOf: EpochMs;
  /**
   * Pages are redrawn at every change and every heartbeat, so a copy read after this instant is out of date and should
   * say so.
   */
  readonly staleAfter: EpochMs;
  /** The oldest `monitorsAt` of its sources; null if one never answered. */
  readonly dataFrom: EpochMs | null;
  readonly isStale: boolean;
  /** To be stored when this is published. */
  readonly newEntries: readonly NewEntry[];
  /** The first instant after `asOf` at which a current outage becomes an incident, or a worse one; null: none. */
  readonly nextEntryAt: EpochMs | null;
  /** Its signed log before this release; null: it has none. */
  readonly log: LogSummary | null;
  /** Models for the page's other languages; absent: it has none. */
  readonly others?: readonly PageModel[];
}
