/** What publishing asks of whoever owns the database: in this thread, or in another that serves meanwhile. */

import type { PageNews } from '../notify/news.ts';
import { type PageFirsts, rememberFirsts } from '../store/identities.ts';
import { nextReleaseNumber } from '../store/release-numbers.ts';
import type { ReleaseAccess } from './releases/manifest.ts';
import { type Fence, type PublishLeaseDeps, withPublishLease } from './releases/publish-lease.ts';

/** A release that is about to be served, as far as gates care. */
export interface NextRelease {
  readonly slug: string;
  readonly access: ReleaseAccess;
  /** Other pages that its files tell of. */
  readonly listed: readonly string[];
}

export interface PublishControl {
  /** Runs a task while this process alone publishes into the data folder. @throws PUBLISH_FAILED */
  readonly withLease: <Result>(task: (fence: Fence) => Promise<Result>) => Promise<Result>;
  /** The number of a page's next release, above what is known to be taken here; nobody else gets it. */
  readonly nextNumber: (slug: string, above: number) => Promise<number>;
  /** Remembers what of a page is published for the first time. */
  readonly rememberFirsts: (firsts: PageFirsts) => Promise<void>;
  /** Remembers what a page has to tell, once it is published; who is told, and when, is up to others. */
  readonly tell: (news: PageNews) => Promise<void>;
  /** Whether a release may be served by what is known of gates at this moment, whatever was known when it was drawn. */
  readonly mayServe: (release: NextRelease) => Promise<boolean>;
}

/** What the thread asks that prepares a page. */
export type PrepareControl = Pick<PublishControl, 'nextNumber' | 'rememberFirsts'>;

export interface PublishControlDeps extends PublishLeaseDeps {
  readonly mayServe: PublishControl['mayServe'];
  /** Default: nobody is told. */
  readonly tell?: PublishControl['tell'];
}

/** Publishing is controlled over the database of this thread. */
export function createPublishControl(deps: PublishControlDeps): PublishControl {
  return {
    withLease: (task) => withPublishLease(deps, task),
    nextNumber: (slug, above) => nextReleaseNumber(deps.database, slug, above),
    rememberFirsts: (firsts) => rememberFirsts(deps.database, firsts),
    mayServe: deps.mayServe,
    tell: deps.tell ?? (async () => undefined),
  };
}
