/** Names of the tasks that one node does for all, and what a node has to catch up on when it takes over. */

import type { Config } from '../../config/load.ts';
import { hasOperators } from '../../config/rules.ts';
import { WRITTEN_ID } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Store } from '../../store/store.ts';
import { jitterMsOf, nextRunAfter } from '../../sync/schedule/schedule.ts';
import { schedulesOf } from '../schedules.ts';

/** Querying an upstream on schedule. */
export const askTask = (upstreamId: string): string => `ask/${upstreamId}`;

/** Upstream ids among names of tasks. */
export function upstreamsIn(names: readonly string[]): readonly string[] {
  return names.filter((name) => name.startsWith('ask/')).map((name) => name.slice('ask/'.length));
}

/** Cron expressions by upstream id, including the upstream of operators' posts. */
export function cronExpressions(config: Config): ReadonlyMap<string, string> {
  const expressions = new Map(schedulesOf(config));
  if (hasOperators(config)) expressions.set(WRITTEN_ID, config.schedule);
  return expressions;
}

/**
 * Returns the upstreams of `ids` whose scheduled time has passed without an answer, because the node that held the lease is
 * gone. An upstream that may still be queried late, within the random delay, is left out. Operators' posts are always included:
 * reading them costs no request, and the other node may have accepted a post that no page shows yet.
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
