/** `api/now.json`: when a page was checked last, which no file drawn at its last change can know. */

import { type EpochMs, type PageModel, type SourceFreshness, type State, toEpochMs, toIso } from '../../model/index.ts';

/** What it says that stays the same as long as the release does, kept with the release. */
export interface NowFacts {
  readonly state: State;
  /** Of the page's own files. */
  readonly staleAfter: EpochMs;
  /** Ids of the upstreams that the page draws on. */
  readonly upstreams: readonly string[];
}

interface NowDocument {
  /** The last good answer of the upstream that was heard from least recently; null: one of them never answered, or there are none. */
  readonly checkedAt: string | null;
  /** A page read after this instant is no longer kept up to date. */
  readonly staleAfter: string;
  readonly state: State;
  /** Number of the release being served: another one has news. */
  readonly release: number;
}

export function nowFacts({ state, staleAfter, sources }: PageModel): NowFacts {
  return { state, staleAfter, upstreams: sources.map(({ upstreamId }) => upstreamId) };
}

/** @param sources  of every upstream, as they are at this moment */
export function nowDocument(
  { state, staleAfter, upstreams }: NowFacts,
  { release, sources }: { readonly release: number; readonly sources: readonly SourceFreshness[] },
): NowDocument {
  const checkedAt = oldestAnswer(upstreams.map((id) => sources.find(({ upstreamId }) => upstreamId === id)));
  return {
    checkedAt: checkedAt === null ? null : toIso(checkedAt),
    staleAfter: toIso(staleAfter),
    state,
    release,
  };
}

function oldestAnswer(sources: readonly (SourceFreshness | undefined)[]): EpochMs | null {
  const instants = sources.flatMap((source) => source?.monitorsAt ?? []);
  return instants.length === 0 || instants.length < sources.length ? null : toEpochMs(Math.min(...instants));
}
