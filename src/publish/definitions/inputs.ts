/** What status pages are defined from. */

import type { Looks, OwnLook } from '../../config/look.ts';
import type { PublicFile } from '../../config/public-files.ts';
import type { PageConfig } from '../../config/schema.ts';
import type { MonitorId, MonitorObservation, PageDefinition } from '../../model/observation.ts';
import type { IconPicture } from './presentation.ts';

/** Whom to tell of a weakness, as `security.txt` says it. */
export interface SecurityContact {
  /** Addresses, the one preferred first: `mailto:`, `https://`. */
  readonly contact: readonly string[];
  /** Instant from which nobody should rely on it, ISO 8601. */
  readonly expires: string;
  readonly policy?: string | undefined;
  readonly encryption?: string | undefined;
}

export interface SiteSettings {
  /** Public address of the site, without a trailing slash. */
  readonly url: string;
  readonly name: string;
  readonly home: string | null;
  readonly timezone: string;
  readonly locale: string;
  /** Whether visitors can subscribe, where a page does not say. */
  readonly subscriptions?: boolean;
  /** Whether anybody else is told what is new: a channel is configured. */
  readonly hasChannels?: boolean;
  /** How far back pages look. */
  readonly historyDays: number;
  /** Absent: there is no `security.txt`. */
  readonly security?: SecurityContact | undefined;
  /** Of the site's own files; default: as it comes. */
  readonly look?: OwnLook;
  /** Served at the root; default: none. */
  readonly publicFiles?: readonly PublicFile[];
}

/** What definitions look at of a monitor. */
export type KnownMonitor = Pick<MonitorObservation, 'id' | 'name' | 'isPublic'>;

export interface DefinitionInputs {
  readonly site: SiteSettings;
  readonly pages: readonly PageConfig[];
  readonly upstreamDefinitions: readonly PageDefinition[];
  /** Upstreams that may define pages and have not told yet which. */
  readonly undecidedUpstreams: ReadonlySet<string>;
  readonly monitors: ReadonlyMap<MonitorId, KnownMonitor>;
  /** Addresses of the pages that upstreams read which are somebody else's, by upstream id; default: all are ours. */
  readonly vendorPages?: ReadonlyMap<string, string> | undefined;
  /** What became of the pictures that icons lead to, by address; default: none was asked for. */
  readonly icons?: ReadonlyMap<string, IconPicture> | undefined;
  /** Of pages with a configuration, by slug; others have that of the site. */
  readonly looks?: Looks['pages'] | undefined;
}

export interface DefinitionProblem {
  readonly slug: string;
  readonly message: string;
}
