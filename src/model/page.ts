/** Everything known about one status page at one instant: what all of its views are computed from. */

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

/** Sets of colours, fonts and corners to begin with; `src/looks/presets.ts` says what is in them. */
export const PRESETS = ['paper', 'plain', 'slate', 'mono', 'contrast'] as const;
export type Preset = (typeof PRESETS)[number];

/** A picture that a page serves itself. */
export interface OwnPicture {
  /** Below the page's address. */
  readonly path: string;
  /** In pixels of the page. */
  readonly width: number;
  readonly height: number;
}

/** What an operator changed of the look, beside the accent and variables. */
export interface PageLook {
  readonly preset?: Preset;
  /** In place of the icon and the title in the header. `dark` stands on dark headers. */
  readonly logo?: { readonly light: OwnPicture; readonly dark?: OwnPicture };
  /** A style sheet of the operator's own, checked; it stands behind ours. */
  readonly stylesheet?: string;
}

/** The languages of a page that has several: each has a tree of files of its own, the first at the page's address. */
export interface PageLanguages {
  /** Tags, the default first. */
  readonly all: readonly string[];
  /** Of the tree that these settings are of, below the page's address: `de/`; empty: that of the default. */
  readonly path: string;
}

/** How a page is drawn: the operator's choices, complete with defaults. */
export interface PageSettings {
  /** Absolute address of the page with a trailing slash, from site.url or the custom domain. */
  readonly url: string;
  /** IANA zone in which its days are cut and its times are written. */
  readonly timezone: string;
  /** BCP 47; the words come from the catalogue of that language. */
  readonly locale: string;
  /** Absent: it has one language. */
  readonly languages?: PageLanguages;
  readonly showTargets: boolean;
  /** An outage up to this long does not colour a day. */
  readonly blipFloorMs: number;
  /** Digits after the point in uptime figures. */
  readonly uptimeDecimals: number;
  /** `#rrggbb`, checked; null: the default. */
  readonly accentColor: string | null;
  /** Checked custom properties, `--pharos-…` to value. */
  readonly cssVariables: Readonly<Record<string, string>>;
  /** Absent: as it comes. */
  readonly look?: PageLook;
  readonly allowIndex: boolean;
  /** How far history goes. */
  readonly historyDays: number;
  /** An outage that lasts this long becomes an incident by itself; null: none does. */
  readonly entriesAfterMs: number | null;
  /** False: days have their colours, and no figure says how much of the time all was well. */
  readonly showUptime: boolean;
  /** Visitors can have what is new sent to them by email. */
  readonly subscriptions: boolean;
  /** Digest of what witnesses say of the site's pages; absent: there are none. */
  readonly witnesses?: string;
}

/** How old the data of one upstream is. */
export interface SourceFreshness {
  readonly upstreamId: string;
  /** The last good answer to its list of states; null: never answered. */
  readonly monitorsAt: EpochMs | null;
  readonly incidentsAt: EpochMs | null;
  /** How often it is asked. Older than two intervals is stale. */
  readonly intervalMs: number;
  readonly isMonitorsStale: boolean;
  readonly isIncidentsStale: boolean;
  /** True: it was recorded for later than now, before a clock was set back. */
  readonly isAhead?: true;
}

export interface ComponentModel {
  readonly definition: ComponentDefinition;
  /** Unambiguous on the page: with its group, "Message queues, Frankfurt", where another component has the same name. */
  readonly name: string;
  /** As it is defined, for where its group stands beside it. */
  readonly plainName: string;
  /** Of its name, where that is not the page's. */
  readonly lang?: string | undefined;
  readonly description: string | null;
  /** Only when `showTargets`. */
  readonly target: string | null;
  /** Now: the state that its time line ends in. */
  readonly state: State;
  /** When its time line came into that state; null: nothing was known of it before. */
  readonly since: EpochMs | null;
  /** True: its upstream has not been heard from in time. */
  readonly isStale: boolean;
  /**
   * What every surface that says anything of its state reads: sorted, gapless, from the start of what is known (or of
   * history) to `asOf` and including that instant; `unknown` where nothing is known.
   */
  readonly timeline: readonly TimelineSpan[];
  /** When it was first defined, or heard of if that was before. */
  readonly knownSince: EpochMs;
  /** Oldest first. */
  readonly responseTimes: readonly ResponseTime[];
  /** What its upstream says itself, shown beside ours. */
  readonly upstreamUptime: UpstreamUptime | null;
}

/** Something said of an incident or a maintenance, with the status that it left it in. */
export interface PageUpdate<Status extends string> {
  /** Unique within its story and stable. */
  readonly id: string;
  /** Never after `asOf`. */
  readonly at: EpochMs;
  readonly status: Status;
  /** Markdown, hostile; empty where only the status changed. */
  readonly body: string;
  /** Of the body, where that is not the page's. */
  readonly lang?: string | undefined;
  /** Of a plain sentence that has names in another language. */
  readonly pieces?: Pieces | undefined;
  /** False: subscribers are not told of it. Absent: they are. */
  readonly notify?: false;
}

/** A component of the page that a story is about. */
export interface StoryComponent {
  /** As in addresses. */
  readonly id: string;
  /** By its time line: now, or of a story that is over the worst while it lasted. */
  readonly state: State;
}

/** One story as the page tells it: what people declared, an outage that monitors saw, or both as one. */
export interface PageIncident {
  /** Unique on the page and stable: what ids for the outside are made from. */
  readonly id: string;
  /** Safe in a path, unique on the page and stable. */
  readonly slug: string;
  /** Other addresses under which it was published, or would have been. */
  readonly aliases: readonly string[];
  readonly title: string;
  /** Of the title, where that is not the page's. */
  readonly lang?: string | undefined;
  /** Of a title that has names in another language. */
  readonly pieces?: Pieces | undefined;
  readonly status: IncidentStatus;
  readonly impact: IncidentImpact;
  readonly startedAt: EpochMs;
  /** Null, or after `asOf`: it is open. */
  readonly endedAt: EpochMs | null;
  /** Nobody wrote it: an outage that monitors saw. */
  readonly isAutomatic: boolean;
  /** In the order of the page. */
  readonly components: readonly StoryComponent[];
  readonly componentIds: readonly string[];
  /** Oldest first, at least one; the last one leaves it in its status. */
  readonly updates: readonly PageUpdate<IncidentStatus>[];
}

export const MAINTENANCE_STATUSES = ['scheduled', 'in_progress', 'verifying', 'completed'] as const;
export type MaintenanceStatus = (typeof MAINTENANCE_STATUSES)[number];

export interface PageMaintenance {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  /** Of the title, where that is not the page's. */
  readonly lang?: string | undefined;
  /** The window; of one that repeats the one that runs or comes next, else the last. */
  readonly startsAt: EpochMs;
  readonly endsAt: EpochMs;
  /** All that are known, sorted. */
  readonly windows: readonly Interval[];
  /** Null: it takes place once. */
  readonly repeats: Recurrence | null;
  /** False: its components are in the states that are said of them meanwhile. */
  readonly covers?: false;
  /** By `asOf` and its window. */
  readonly status: MaintenanceStatus;
  /** When it was first told of, at the latest when it began; never after `asOf`, and always the same. */
  readonly announcedAt: EpochMs;
  /** When it last changed, or its window began or ended; never after `asOf`, and never earlier than it was. */
  readonly changedAt: EpochMs;
  /** When words or windows of it last changed. */
  readonly editedAt: EpochMs;
  /** Grows with every recorded change. */
  readonly sequence: number;
  /** In the order of the page. */
  readonly componentIds: readonly string[];
  /** Of the window that runs or comes next, oldest first, at least one; the last one leaves it in its status. */
  readonly updates: readonly PageUpdate<MaintenanceStatus>[];
  /** What is written of it, oldest first: Markdown, hostile. */
  readonly texts: readonly string[];
}

/** An entry that is shown and that nothing remembers so far. */
export interface NewEntry {
  readonly id: string;
  readonly componentId: string;
  readonly fellAt: EpochMs;
}

/** What a witness says of a page. */
export interface WitnessWord {
  readonly url: string;
  /** `away`: nothing that counts. */
  readonly word: 'agrees' | 'differs' | 'away';
  /** Why, if it doesn't agree; from the witness, so it is hostile text. */
  readonly faults: readonly string[];
}

/** What a page shows of its own log. */
export interface LogSummary {
  readonly size: number;
  /** Root of the tree, as base64. */
  readonly root: string;
  /** Digest of what was committed of closed days. */
  readonly days: string;
  /** What its witnesses say; empty: it has none. */
  readonly witnesses: readonly WitnessWord[];
  /** Days that say something else than they once did, the latest correction first. */
  readonly corrected: readonly { readonly component: string; readonly day: Day; readonly at: EpochMs }[];
}

export interface PageGroup extends GroupDefinition {
  /** Of its name, where that is not the page's. */
  readonly lang?: string | undefined;
}

export interface PageModel {
  readonly definition: PageDefinition;
  readonly settings: PageSettings;
  readonly state: State;
  /** When it came into that state; null: nothing was known of it before. */
  readonly since: EpochMs | null;
  /** When it was first defined. */
  readonly knownSince: EpochMs;
  /** Of its title, where that is not the page's. */
  readonly titleLang?: string | undefined;
  /** In the order of the page. */
  readonly groups: readonly PageGroup[];
  /** Sorted as drawn. */
  readonly components: readonly ComponentModel[];
  /** Newest start first. */
  readonly incidents: readonly PageIncident[];
  /** Newest start first. */
  readonly maintenances: readonly PageMaintenance[];
  /** Those that show at `asOf`. */
  readonly announcements: readonly Announcement[];
  readonly sources: readonly SourceFreshness[];
  /** The instant that figures and days are computed to: the last change, or the last heartbeat if that is later. */
  readonly asOf: EpochMs;
  /**
   * A file is drawn anew at every change and at every heartbeat, so whoever reads it after this instant holds a copy
   * that is no longer kept up to date and should be told so.
   */
  readonly staleAfter: EpochMs;
  /** The oldest `monitorsAt` of its sources; null when one never answered. */
  readonly dataFrom: EpochMs | null;
  readonly isStale: boolean;
  /** To be remembered when this is published. */
  readonly newEntries: readonly NewEntry[];
  /** The first instant after `asOf` at which an outage that goes on becomes an incident, or a worse one; null: none. */
  readonly nextEntryAt: EpochMs | null;
  /** Its signed log, as it was before this model; null: it has none. */
  readonly log: LogSummary | null;
  /** The same in the page's other languages; absent: it has none. */
  readonly others?: readonly PageModel[];
}
