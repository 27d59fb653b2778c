/**
 * Whether this node can serve visitors, and whether its pages are fresh. Both come from memory, so that a database or a disk that
 * hangs doesn't delay load balancers.
 */

import type { EpochMs } from '../../model/time.ts';
import { type SiteState, sourceFreshness } from '../../publish/definitions/site-state.ts';

export interface ReadinessFacts {
  /** Slugs of the pages with a release, when the disk was last read. */
  readonly published: Pick<ReadonlySet<string>, 'has'>;
  /** How long the disk hasn't answered; 0 or absent: it answers. */
  readonly diskSilentMs?: number;
  /** The state when the store was last read; null: not read since the start. */
  readonly state: SiteState | null;
  readonly isStopping: boolean;
  /** False: a node with the role `sync`. Default: true. */
  readonly takesVisitors?: boolean;
  /** False: a web node that has no releases yet. Default: true. */
  readonly hasReleases?: boolean;
  /** Whether the first run has ended. A page that failed in it doesn't keep the node from serving the others. */
  readonly hasPublished: boolean;
}

/** A database or a disk that doesn't answer for this long hangs or is unreachable. The store is read four times a second. */
const SILENT_MS = 10_000;

/** Reasons why a load balancer shouldn't send visitors here; empty: none. */
export function unreadiness(facts: ReadinessFacts): readonly string[] {
  const { state, isStopping, takesVisitors = true, hasReleases = true, hasPublished } = facts;
  if (isStopping) return ['the server is stopping'];
  if (!takesVisitors) return ['this node runs with --role sync and does not serve visitors'];
  // The pages that were published last are served nevertheless.
  if (state === null) return ['the database has not been read yet'];
  if (!hasReleases) return ['no releases have been fetched yet'];
  if (hasPublished) return [];
  return state.resolved.pages.length === 0 ? ['no page is known yet'] : unpublished(facts, state);
}

/** Reasons why served pages may be out of date; empty: none. */
export function staleness(facts: ReadinessFacts, now: EpochMs): readonly string[] {
  const { state, diskSilentMs = 0 } = facts;
  if (state === null) return ['the database has not been read yet'];
  const silentMs = now - state.now;
  return [
    ...(silentMs > SILENT_MS ? [`the database has not answered for ${Math.round(silentMs / 1_000)} s`] : []),
    ...(diskSilentMs > SILENT_MS ? [`the disk has not answered for ${Math.round(diskSilentMs / 1_000)} s`] : []),
    ...unpublished(facts, state),
    ...state.sources.flatMap(({ upstreamId, isAhead }) =>
      isAhead === true
        ? [`upstream ${upstreamId} was recorded in the future: the clock of this machine was set back`]
        : [],
    ),
    ...state.sources
      .map(({ upstreamId, intervalMs, ...times }) => sourceFreshness(upstreamId, times, intervalMs, now))
      .filter((source) => source.isMonitorsStale)
      .map(({ upstreamId }) => `upstream ${upstreamId} is stale`),
  ];
}

function unpublished({ published }: ReadinessFacts, { resolved }: SiteState): readonly string[] {
  return resolved.pages.flatMap(({ definition: { slug } }) =>
    published.has(slug) ? [] : [`page ${slug} is not published yet`],
  );
}
