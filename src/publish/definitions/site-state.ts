/** What is known of the whole site at one instant, beside what each page shows. */

import type { Announcement } from '../../model/observation.ts';
import type { SourceFreshness } from '../../model/page.ts';
import type { EpochMs } from '../../model/time.ts';
import type { UpstreamTimes } from '../../store/store.ts';
import type { ResolvedSite } from './definitions.ts';
import type { DefinitionInputs } from './inputs.ts';

export interface SiteStateInputs {
  readonly site: DefinitionInputs['site'];
  readonly pages: DefinitionInputs['pages'];
  /** How often each upstream is asked. */
  readonly intervalMs: ReadonlyMap<string, number>;
  /** Upstreams that may define pages. */
  readonly definesPages: ReadonlySet<string>;
  readonly looks?: DefinitionInputs['looks'];
  readonly vendorPages?: DefinitionInputs['vendorPages'];
  /** What became of the pictures that icons lead to; the same object as long as nothing changed. */
  readonly icons?: DefinitionInputs['icons'];
}

export interface SiteState {
  readonly now: EpochMs;
  /** Of the store, when it was looked at. */
  readonly revision: number;
  readonly site: DefinitionInputs['site'];
  /** The same object as long as no definition changed. */
  readonly resolved: ResolvedSite;
  readonly announcements: readonly Announcement[];
  /** Of every configured upstream. */
  readonly sources: readonly SourceFreshness[];
}

/** Stale is older than two intervals; an upstream that never answered is stale from the start. */
export function sourceFreshness(
  upstreamId: string,
  {
    times,
    intervalMs,
    now,
  }: { times: Pick<UpstreamTimes, 'monitorsAt' | 'incidentsAt'> | undefined; intervalMs: number; now: EpochMs },
): SourceFreshness {
  const monitorsAt = times?.monitorsAt ?? null;
  const incidentsAt = times?.incidentsAt ?? null;
  const isStale = (at: EpochMs | null): boolean => at === null || now - at > 2 * intervalMs;
  return {
    upstreamId,
    monitorsAt,
    incidentsAt,
    intervalMs,
    isMonitorsStale: isStale(monitorsAt),
    isIncidentsStale: isStale(incidentsAt),
  };
}
