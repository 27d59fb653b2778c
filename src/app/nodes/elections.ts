/**
 * Decides which node does what only one should do: query an upstream on schedule, upload to a bucket. Each task is a lease. A
 * node keeps its leases as long as it lives, and the others check whether one becomes free.
 */

import type { Config } from '../../config/load.ts';
import { hasOperators } from '../../config/rules.ts';
import { WRITTEN_ID } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Store } from '../../store/create-store.ts';
import type { Lease, Leases } from '../../store/nodes/leases.ts';
import { nextRunAfter, scheduleJitterMs } from '../../sync/schedule.ts';
import { readSchedules } from '../live-config.ts';

export type Elections = ReturnType<typeof createElections>;

const LOOKS_PER_LEASE = 4;

/**
 * @param names    all tasks of the current configuration, by name
 * @param onTaken  called with the leases that this node takes, except those of the first check
 */
export function createElections(
  leases: Leases,
  names: () => readonly string[],
  onTaken: (names: readonly string[]) => void = () => undefined,
) {
  const taken = new Map<string, Lease>();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let last: Promise<void> = Promise.resolve();

  async function look(): Promise<readonly string[]> {
    const wanted = names();
    for (const [name, lease] of taken) {
      if (!leases.seemsHeld(lease)) taken.delete(name);
      else if (!wanted.includes(name)) {
        taken.delete(name);
        await leases.release(lease);
      }
    }
    const missing = wanted.filter((name) => !taken.has(name));
    const got = missing.length === 0 ? [] : await leases.takeFree(missing);
    for (const lease of got) taken.set(lease.name, lease);
    return got.map(({ name }) => name);
  }

  function next(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      last = look()
        .then((got) => {
          if (got.length > 0 && !isClosed) onTaken(got);
        })
        // The next check follows. `followStore` reports that the database can't be reached.
        .catch(() => undefined)
        .finally(next);
    }, leases.ttlMs / LOOKS_PER_LEASE);
    timer.unref();
  }

  /** The lease of a task, as far as this node knows; null: another node has it. Work for the task is fenced by it. */
  const leaseOf = (name: string): Lease | null => {
    const lease = taken.get(name);
    return lease !== undefined && leases.seemsHeld(lease) ? lease : null;
  };

  return {
    leaseOf,
    /** Whether this node holds the lease now; if in doubt, asks the database. False if it can't be reached. */
    confirm: async (name: string) => {
      const lease = leaseOf(name);
      return lease !== null && (await leases.confirm(lease).catch(() => false));
    },
    /**
     * Takes free leases, now and from now on. Call it again to check at once. Resolves after the first check, whether or not
     * the database can be reached.
     */
    open: async () => {
      await look().catch(() => undefined);
      if (timer === null) next();
    },
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await last;
    },
  };
}

/** Querying an upstream on schedule. */
export const askTask = (upstreamId: string): string => `ask/${upstreamId}`;

/** Upstream ids among names of tasks. */
export function upstreamsIn(names: readonly string[]): readonly string[] {
  return names.filter((name) => name.startsWith('ask/')).map((name) => name.slice('ask/'.length));
}

/** Cron expressions by upstream id, including the upstream of operators' posts. */
export function cronExpressions(config: Config): ReadonlyMap<string, string> {
  const expressions = new Map(readSchedules(config));
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
    return lastAt === null || nextRunAfter(expression, lastAt) + scheduleJitterMs(expression) <= now;
  });
}
