/**
 * Whether this node can serve visitors, and whether what it serves is fresh. Both are told from memory and the disk: a
 * database that hangs holds up no balancer.
 */

import type { EpochMs } from '../../model/time.ts';
import { type SiteState, sourceFreshness } from '../../publish/definitions/site-state.ts';
import { type ReleaseFolders, unpublishedOf } from '../../publish/releases/folders.ts';

export interface ReadinessFacts {
  readonly folders: ReleaseFolders;
  /** As it was when the store was last read; null: it has not been read since the start. */
  readonly state: SiteState | null;
  readonly isStopping: boolean;
  /** False: it works for other nodes only. Default: true. */
  readonly takesVisitors?: boolean;
  /** False: what other nodes drew has not been seen yet. Default: true. */
  readonly hasReleases?: boolean;
  /** Whether all that could be published at the start has been: what fails then keeps nobody from the rest. */
  readonly hasPublished: boolean;
}

/** The store is looked at four times a second; a server that takes this long hangs or is gone. */
const STORE_SILENT_MS = 10_000;

/** Why no visitor is to be sent here, in words; empty: there is no reason. */
export function unreadiness(facts: ReadinessFacts): readonly string[] {
  const { folders, state, isStopping, takesVisitors = true, hasReleases = true, hasPublished } = facts;
  if (isStopping) return ['the server is stopping'];
  if (!takesVisitors) return ['this node runs with --role sync and does not serve visitors'];
  // Pages that were published last are served all the same, if there are any.
  if (state === null) return ['the database has not been read yet'];
  if (!hasReleases) return ['no releases have been fetched yet'];
  return hasPublished ? [] : unpublished(folders, state);
}

/** Why what is served may be out of date, in words; empty: it is fresh. */
export function staleness({ folders, state }: ReadinessFacts, now: EpochMs): readonly string[] {
  if (state === null) return ['the database has not been read yet'];
  const silentMs = now - state.now;
  return [
    ...(silentMs > STORE_SILENT_MS ? [`the database has not answered for ${Math.round(silentMs / 1_000)} s`] : []),
    ...unpublished(folders, state),
    ...state.sources
      .map(({ upstreamId, intervalMs, ...times }) => sourceFreshness(upstreamId, { times, intervalMs, now }))
      .filter((source) => source.isMonitorsStale)
      .map(({ upstreamId }) => `upstream ${upstreamId} is stale`),
  ];
}

function unpublished(folders: ReleaseFolders, { resolved }: SiteState): readonly string[] {
  const slugs = resolved.pages.map(({ definition }) => definition.slug);
  return unpublishedOf(folders, slugs).map((slug) => `page ${slug} is not published yet`);
}
