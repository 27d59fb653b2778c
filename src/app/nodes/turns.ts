/** What one of several nodes does for all of them, by name, and what it has to make up for when it takes over. */

import type { Config } from '../../config/load.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Store } from '../../store/store.ts';
import { WRITTEN_ID } from '../../sync/connector.ts';
import { jitterMsOf, nextRunAfter } from '../../sync/schedule/schedule.ts';
import { schedulesOf } from '../schedules.ts';

/** Asking an upstream on schedule. */
export const askingOf = (upstreamId: string): string => `ask/${upstreamId}`;

/** Uploading releases for nodes that draw nothing. */
export const releasesOf = (place: string): string => `releases/${place}`;

/** The upstreams among what was taken. */
export function upstreamsIn(names: readonly string[]): readonly string[] {
  return names.filter((name) => name.startsWith('ask/')).map((name) => name.slice('ask/'.length));
}

/** When each upstream is asked, that of operators' own posts among them: cron expressions by its id. */
export function expressionsOf(config: Config): ReadonlyMap<string, string> {
  const expressions = new Map(schedulesOf(config));
  if (config.operators.token !== undefined) expressions.set(WRITTEN_ID, config.schedule);
  return expressions;
}

/**
 * Those of `ids` whose tick has passed without an answer: whoever was to ask is gone. One whose tick may still come late by
 * chance is left to that. Always what operators wrote, which costs no request: whoever is gone may have accepted a post that
 * no page shows yet, and its next tick may be far away.
 */
export async function missedUpstreams(
  store: Pick<Store, 'upstreamTimes'>,
  expressions: ReadonlyMap<string, string>,
  { ids, now }: { readonly ids: readonly string[]; readonly now: EpochMs },
): Promise<readonly string[]> {
  const times = await store.upstreamTimes();
  return ids.filter((id) => {
    const expression = expressions.get(id);
    const lastAt = times.get(id)?.monitorsAt ?? null;
    if (expression === undefined) return false;
    if (id === WRITTEN_ID) return true;
    return lastAt === null || nextRunAfter(expression, lastAt) + jitterMsOf(expression) <= now;
  });
}
