/** What status pages are defined from. */

import type { Looks, OwnLook, PublicFile } from '../../config/own-files.ts';
import type { PageConfig } from '../../config/schema.ts';
import type { MonitorId, MonitorObservation, PageDefinition } from '../../model/observation.ts';
import type { PlacedComponent } from '../../store/written.ts';

/** Contents of `security.txt`. */
export interface SecurityContact {
  /** Contact addresses, the preferred one first: `mailto:`, `https://`. */
  readonly contact: readonly string[];
  /** When it expires, ISO 8601. */
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
  /** Languages of pages that name none, the default first; default: `locale` alone. */
  readonly locales?: readonly string[];
  /** Whether visitors can subscribe, unless a page sets it. */
  readonly subscriptions?: boolean;
  /** Whether a notification channel is configured. */
  readonly hasChannels?: boolean;
  /** Days of history on pages. */
  readonly historyDays: number;
  /** Absent: there is no `security.txt`. */
  readonly security?: SecurityContact | undefined;
  /** Look of the site's own files; default: the built-in one. */
  readonly look?: OwnLook;
  /** Files served at the root; default: none. */
  readonly publicFiles?: readonly PublicFile[];
}

/** What definitions need to know about a monitor. */
export type KnownMonitor = Pick<MonitorObservation, 'id' | 'name' | 'isPublic'>;

export interface DefinitionInputs {
  readonly site: SiteSettings;
  readonly pages: readonly PageConfig[];
  readonly upstreamDefinitions: readonly PageDefinition[];
  /** Upstreams that can define pages and have not listed them yet. */
  readonly undecidedUpstreams: ReadonlySet<string>;
  readonly monitors: ReadonlyMap<MonitorId, KnownMonitor>;
  /** Public addresses of vendors' pages, by upstream id; default: all upstreams are ours. */
  readonly vendorPages?: ReadonlyMap<string, string> | undefined;
  /** Looks of configured pages by slug; other pages have the look of the site. */
  readonly looks?: Looks['pages'] | undefined;
  /** Components and groups that were made over the API; default: none. */
  readonly made?: readonly PlacedComponent[] | undefined;
  /** Digest of what witnesses say of this site's pages; default: there are none. */
  readonly witnesses?: string | undefined;
}

export type DefinitionProblem = Readonly<Record<'slug' | 'message', string>>;
