/** Decides when each of many vendors' pages is queried: a few at once, spread over part of the interval. */

import pLimit from 'p-limit';
import { SECOND_MS } from '../../model/time.ts';
import type { Upstream } from '../upstream.ts';

/** Parallel passes over vendors' pages. */
const AT_ONCE_MAX = 4;
/** Maximum time between the starts of two of them; shorter if there are many. */
const GAP_MAX_MS = SECOND_MS;
/** The part of the interval over which they are spread, so that one run is over well before the next. */
const SPREAD_RATIO = 0.5;

interface VendorTurns {
  /** Runs the task at once for our own systems, and in turn for a vendor's page. */
  readonly inTurn: <T>(upstream: Upstream, task: () => Promise<T>) => Promise<T>;
}

/** @param isSpread  false: somebody waits, so that they only do not all go at once */
export function createVendorTurns(
  upstreams: readonly Upstream[],
  {
    sleep,
    signal,
    isSpread,
  }: {
    readonly sleep: (ms: number) => Promise<void>;
    readonly signal: AbortSignal | undefined;
    readonly isSpread: boolean;
  },
): VendorTurns {
  const vendors = upstreams.filter(({ vendorPage }) => vendorPage !== null);
  const intervalMs = Math.min(...vendors.map((upstream) => upstream.intervalMs));
  const gapMs = isSpread ? Math.min(GAP_MAX_MS, (intervalMs * SPREAD_RATIO) / vendors.length) : 0;
  const starting = pLimit(1);
  const running = pLimit(AT_ONCE_MAX);
  let isFirst = true;
  const waitForTurn = async (): Promise<void> => {
    if (!isFirst && gapMs > 0 && signal?.aborted !== true) await sleep(gapMs);
    isFirst = false;
  };
  return {
    inTurn: (upstream, task) => {
      if (upstream.vendorPage === null) return task();
      return running(async () => {
        await starting(waitForTurn);
        return task();
      });
    },
  };
}
