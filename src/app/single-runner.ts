/** Asks an upstream outside of a pass: within its quota, and without what a pass remembers. */

import type { EpochMs } from '../model/time.ts';
import type { Store } from '../store/create-store.ts';
import type { PullMemory } from '../sync/connector.ts';
import type { Http } from '../sync/http/http.ts';
import { createQuota } from '../sync/pass/quota.ts';
import { createRunner, type Runner, type RunnerDeps } from '../sync/pass/runner.ts';
import type { Upstream } from '../sync/upstream.ts';

/** An empty memory: nothing has been requested yet, and no history is needed. */
export const NOTHING_REMEMBERED: PullMemory = {
  detailFetchedAt: new Map(),
  openIncidents: new Set(),
  incidentsReadAt: new Map(),
  isBackfilled: true,
};

export interface SingleRunnerDeps {
  readonly http: Http;
  readonly store: Store;
  readonly now: () => EpochMs;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onWait?: RunnerDeps['onWait'];
}

export function singleRunner({ http, store, now, sleep, onWait }: SingleRunnerDeps, upstream: Upstream): Runner {
  const { id: upstreamId, limits, ca, intervalMs } = upstream;
  return createRunner(
    { upstreamId, limits, ca, intervalMs, listCalls: 1, isHalfOpen: true },
    {
      ...{ http, now, sleep, random: Math.random, stored: store.database },
      quota: createQuota(store.database, Math.random),
      ...(onWait === undefined ? {} : { onWait }),
    },
  );
}
