/** Publishes within a run: news while it waits for slow upstreams, and the rest at the end. */

import pLimit from 'p-limit';
import type { PublishReport } from '../../publish/publisher.ts';
import type { RunDeps, RunOrder } from './order.ts';

/** Healthy upstreams answer at about the same time, and one publish for all of them is cheaper than one for each. */
const GATHER_MS = 250;

export interface News {
  /** Publishes what is known now. */
  readonly now: () => void;
  /** The same after a moment, together with further answers. */
  readonly soon: () => void;
  /** Publishes the rest when all upstreams have answered. Resolves with the report of the whole run. */
  readonly last: () => Promise<PublishReport | null>;
}

/** @param waitedFor of the run's own upstreams those that have not answered */
export function createNews(deps: RunDeps, order: RunOrder, waitedFor: ReadonlySet<string>): News {
  const reports: PublishReport[] = [];
  const inTurn = pLimit(1);
  let gathering: NodeJS.Timeout | null = null;

  async function publish(page?: string): Promise<void> {
    const publisher = deps.publisher();
    if (publisher === null || order.isPublishing === false) return;
    const state = await deps.beforePublish(deps.now());
    reports.push(await publisher.publish(state, page === undefined ? {} : { slug: page }));
  }

  /** An upstream that never answered may make a page private or claim its slug. Until it answers, nothing is published. */
  async function mayPublish(): Promise<boolean> {
    const times = await deps.store.upstreamTimes();
    return [...waitedFor].every((id) => (times.get(id)?.monitorsAt ?? null) !== null);
  }

  function now(): void {
    // The publisher keeps pages that fail here and tries them again at the end.
    inTurn(async () => ((await mayPublish()) ? publish() : undefined)).catch(order.onTrouble);
  }

  return {
    now,
    soon: () => {
      gathering ??= setTimeout(() => {
        gathering = null;
        now();
      }, GATHER_MS);
    },
    last: async () => {
      if (gathering !== null) clearTimeout(gathering);
      await inTurn(() => publish(order.page));
      return together(reports);
    },
  };
}

function together(reports: readonly PublishReport[]): PublishReport | null {
  const last = reports.at(-1);
  if (last === undefined) return null;
  return {
    pages: reports.flatMap(({ pages }) => pages),
    problems: last.problems,
    durationMs: reports.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}
