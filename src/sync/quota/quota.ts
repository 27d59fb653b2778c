/**
 * Keeps within the rate limits of an upstream, across restarts and processes. Each request is recorded in the store before it
 * is sent, in the same transaction that checks earlier ones.
 */

import { type EpochMs, HOUR_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';
import type { Database } from '../../store/database.ts';
import { type RequestLedger, readControl, withLedger } from '../../store/upstream-control.ts';
import { RETRY_AFTER_MAX_MS } from '../http/retry-after.ts';
import { ARRIVAL_MS, earliest, type Window } from './windows.ts';

type Reservation =
  | { readonly granted: true }
  /** No request may be sent before this time; after it, ask again. */
  | { readonly granted: false; readonly notBefore: EpochMs };

/** Back-off after 429 without a time: 1, 2, 4 … s, doubled up to the longest wait that we obey. */
const BACKOFF_FIRST_MS = SECOND_MS;
/** Longer than the longest window; older requests count for nothing. */
const REMEMBERED_MS = HOUR_MS + 2 * ARRIVAL_MS;

export interface Quota {
  /**
   * Records a request that is about to be sent, if all windows and the upstream's own "wait" allow it.
   *
   * @param windows without one that counts only low-priority requests, this is a list request
   */
  readonly reserve: (upstreamId: string, windows: readonly Window[], now: EpochMs) => Promise<Reservation>;
  /**
   * The upstream answered 429. No request is sent before `retryAt`, or without it, before a back-off that doubles, with full
   * jitter. Returns that time.
   */
  readonly hold: (upstreamId: string, retryAt: EpochMs | null, now: EpochMs) => Promise<EpochMs>;
  /** The upstream answered: resets the back-off. */
  readonly release: (upstreamId: string) => Promise<void>;
}

/** @param random  0 to 1, 1 excluded */
export function createQuota(database: Database, random: () => number): Quota {
  return {
    reserve: (upstreamId, windows, now) => reserve(database, { upstreamId, windows, now }),
    hold: (upstreamId, retryAt, now) =>
      withLedger(database, upstreamId, async (ledger) => {
        const control = await ledger.control();
        const until = retryAt ?? toEpochMs(now + random() * backoffMs(control.limitedCount));
        // Another process may have been told to wait longer.
        const holdUntil = toEpochMs(Math.max(until, control.holdUntil ?? 0));
        await ledger.setControl({ ...control, holdUntil, limitedCount: control.limitedCount + 1 });
        return holdUntil;
      }),
    release: async (upstreamId) => {
      if ((await readControl(database, upstreamId)).limitedCount === 0) return;
      await withLedger(database, upstreamId, async (ledger) =>
        ledger.setControl({ ...(await ledger.control()), limitedCount: 0 }),
      );
    },
  };
}

/** The longest wait after this many "too many" in a row, before jitter. */
export function backoffMs(limitedCount: number): number {
  return Math.min(RETRY_AFTER_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.min(limitedCount, 30));
}

async function reserve(
  database: Database,
  { upstreamId, windows, now }: { upstreamId: string; windows: readonly Window[]; now: EpochMs },
): Promise<Reservation> {
  if (windows.length === 0) {
    const { holdUntil } = await readControl(database, upstreamId);
    if (holdUntil === null || holdUntil <= now) return { granted: true };
    if (holdUntil <= now + RETRY_AFTER_MAX_MS) return { granted: false, notBefore: holdUntil };
  }
  return withLedger(database, upstreamId, (ledger) => reserveIn(ledger, windows, now));
}

/** Records a request, in a transaction; or returns when it may be tried again. */
export async function reserveIn(ledger: RequestLedger, windows: readonly Window[], now: EpochMs): Promise<Reservation> {
  const control = await ledger.control();
  if (control.holdUntil !== null && control.holdUntil > now) {
    const notBefore = toEpochMs(Math.min(control.holdUntil, now + RETRY_AFTER_MAX_MS));
    // Further ahead than any wait that we obey: the clock was set back since. Start the wait again.
    if (notBefore !== control.holdUntil) await ledger.setControl({ ...control, holdUntil: notBefore });
    return { granted: false, notBefore };
  }
  if (windows.length === 0) return { granted: true };
  await ledger.clamp(now);
  const at = await earliest(windows, now, ledger.nthNewest);
  if (at > now) return { granted: false, notBefore: at };
  await ledger.forgetBefore(toEpochMs(now - REMEMBERED_MS));
  const isSpare = windows.some((window) => window.isLowPriorityOnly);
  await ledger.add(now, isSpare);
  return { granted: true };
}
