/** Everything known about one status page at one instant: what all of its views are computed from. */

import type {
  Announcement,
  ComponentDefinition,
  GroupDefinition,
  Incident,
  Maintenance,
  PageDefinition,
  ResponseTime,
  UpstreamUptime,
} from './observation.ts';
import type { TimelineSpan } from './span.ts';
import type { State } from './state.ts';
import type { EpochMs } from './time.ts';

/** How a page is drawn: the operator's choices, complete with defaults. */
export interface PageSettings {
  /** Absolute address of the page with a trailing slash, from site.url or the custom domain. */
  readonly url: string;
  /** IANA zone in which its days are cut and its times are written. */
  readonly timezone: string;
  /** BCP 47; the words come from the catalogue of that language. */
  readonly locale: string;
  readonly showTargets: boolean;
  /** An outage up to this long does not colour a day. */
  readonly blipFloorMs: number;
  /** Digits after the point in uptime figures. */
  readonly uptimeDecimals: number;
  /** `#rrggbb`, checked; null: the default. */
  readonly accentColor: string | null;
  /** Checked custom properties, `--pharos-…` to value. */
  readonly cssVariables: Readonly<Record<string, string>>;
  readonly allowIndex: boolean;
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
}

export interface ComponentModel {
  readonly definition: ComponentDefinition;
  readonly name: string;
  readonly description: string | null;
  /** Only when `showTargets`. */
  readonly target: string | null;
  /** Now: stale is `unknown`; a running maintenance of it is `maintenance`; an open incident about it counts. */
  readonly state: State;
  /** True: its upstream has not been heard from in time. */
  readonly isStale: boolean;
  /** Sorted, gapless, from the start of recorded history (or 400 days ago) to `asOf`; `unknown` where nothing is known. */
  readonly timeline: readonly TimelineSpan[];
  /** Oldest first. */
  readonly responseTimes: readonly ResponseTime[];
  /** What its upstream says itself, shown beside ours. */
  readonly upstreamUptime: UpstreamUptime | null;
}

/** An incident as one page shows it: its components resolved to those of the page. */
export interface PageIncident extends Incident {
  /** Safe in a path, unique on the page and stable. */
  readonly slug: string;
  readonly componentIds: readonly string[];
}

export const MAINTENANCE_STATUSES = ['scheduled', 'in_progress', 'verifying', 'completed'] as const;
export type MaintenanceStatus = (typeof MAINTENANCE_STATUSES)[number];

export interface PageMaintenance extends Maintenance {
  readonly slug: string;
  readonly componentIds: readonly string[];
  /** By `asOf` and its window. */
  readonly status: MaintenanceStatus;
  /** Grows with every recorded change; absent: none was recorded. */
  readonly sequence?: number;
  /** When it was first seen as it is; absent: not recorded. */
  readonly changedAt?: EpochMs;
}

export interface PageModel {
  readonly definition: PageDefinition;
  readonly settings: PageSettings;
  readonly state: State;
  /** Sorted by order, then name. */
  readonly groups: readonly GroupDefinition[];
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
}
