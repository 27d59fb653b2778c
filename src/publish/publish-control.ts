/** What publishing needs from the thread that owns the database: this one, or another that keeps serving. */

import type { PageKey } from '../model/slugs.ts';
import type { PageNews } from '../notify/news.ts';
import { nextReleaseNumber, type PageFirsts, rememberFirsts } from '../store/identities.ts';
import type { PageLog } from '../transparency/page-log.ts';
import type { PageAtSlug, ReleaseAccess } from './releases/manifest.ts';
import { type Fence, type PublishLeaseDeps, withPublishLease } from './releases/switch.ts';

/** What access control needs to know about a release that is about to be served. */
export interface NextRelease {
  readonly slug: string;
  /** The page that it is of; null: the site's own files. */
  readonly page: PageKey | null;
  readonly access: ReleaseAccess;
  /** Other pages that its files mention. */
  readonly listed: readonly PageAtSlug[];
}

export interface PublishControl extends PageLog {
  /** Runs a task while this process alone publishes into the data folder. @throws PUBLISH_FAILED */
  readonly withLease: <Result>(task: (fence: Fence) => Promise<Result>) => Promise<Result>;
  /** Returns the number of a page's next release, above all numbers that are in use here. Nobody else gets the same number. */
  readonly nextNumber: (slug: string, above: number) => Promise<number>;
  /** Stores when the page, its components and its entries were first published. */
  readonly rememberFirsts: (firsts: PageFirsts) => Promise<void>;
  /** Stores the notices of a page that was published. When they are sent, and to whom, is decided elsewhere. */
  readonly tell: (news: PageNews) => Promise<void>;
  /**
   * Whether the current access rules allow a release to be served. They may have changed since it was rendered. Waits until its
   * number and log are on disk.
   */
  readonly mayServe: (release: NextRelease) => Promise<boolean>;
}

/** The part that threads need to prepare a page. */
export type PrepareControl = Pick<PublishControl, 'nextNumber' | 'rememberFirsts' | keyof PageLog>;

interface PublishControlDeps extends PublishLeaseDeps {
  readonly mayServe: PublishControl['mayServe'];
  readonly log: PageLog;
  /** Awaited before a number is given: numbers that are taken elsewhere are in the database then. */
  readonly numbersKnown?: () => Promise<void>;
  /** Default: no notices. */
  readonly tell?: PublishControl['tell'];
}

/** Controls publishing with the database of this thread. */
export function createPublishControl(deps: PublishControlDeps): PublishControl {
  const { database } = deps;
  /** By page: while the files of a release are written, its number and log are written to disk. */
  const flushes = new Map<string, Promise<void>>();
  return {
    withLease: (task) => withPublishLease(deps, task),
    nextNumber: async (slug, above) => {
      await deps.numbersKnown?.();
      const number = await nextReleaseNumber(database, slug, above, { isDurable: 'flushed' });
      const flushed = database.flush();
      flushes.set(slug, flushed);
      // An error is for whoever wants to serve the release.
      flushed.catch(() => undefined);
      return number;
    },
    rememberFirsts: (firsts) => rememberFirsts(database, firsts),
    mayServe: async (release) => {
      await flushes.get(release.slug);
      return deps.mayServe(release);
    },
    ...deps.log,
    tell: deps.tell ?? (async () => undefined),
  };
}

/** The result of publishing: plain data for the command line, the log and the operators' page. */
export interface PageReport {
  readonly slug: string;
  /** `held`: an operator keeps the page on its release with `pharos rollback --hold`. */
  readonly kind: 'published' | 'unchanged' | 'held' | 'failed' | 'withdrawn';
  readonly release: number | null;
  readonly filesDrawn: number;
  readonly filesTotal: number;
  readonly durationMs: number;
  readonly message: string | null;
}

export interface PublishReport {
  /** The pages that had news or were due. */
  readonly pages: readonly PageReport[];
  /** Why pages could not be published as they are defined. */
  readonly problems: readonly { readonly slug: string; readonly message: string }[];
  readonly durationMs: number;
}

/** Fills in what is left out. */
export function pageReport(
  slug: string,
  kind: PageReport['kind'],
  facts: Partial<Omit<PageReport, 'slug' | 'kind'>> = {},
): PageReport {
  return { slug, kind, release: null, filesDrawn: 0, filesTotal: 0, durationMs: 0, message: null, ...facts };
}
