/** What a run publishes: news while it waits for slow upstreams, and the rest in the end. */

import pLimit from 'p-limit';
import type { PublishReport } from '../../publish/publisher.ts';
import type { RunDeps, RunOrder } from './order.ts';

/** Upstreams that are well answer together; one publish for all of them is cheaper than one for each. */
const GATHER_MS = 250;

export interface News {
  /** Publishes what is known by now. */
  readonly now: () => void;
  /** The same in a moment, together with what is answered until then. */
  readonly soon: () => void;
  /** Publishes what is left, when everything has answered; what the whole run published. */
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

  /** One that never answered may put a page behind a gate, or claim its name: before it has, nothing is published. */
  async function mayPublish(): Promise<boolean> {
    const times = await deps.store.upstreamTimes();
    return [...waitedFor].every((id) => (times.get(id)?.monitorsAt ?? null) !== null);
  }

  function now(): void {
    // What fails here is kept by the publisher and tried again at the end.
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
