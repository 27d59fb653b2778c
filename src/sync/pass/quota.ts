/**
 * Keeps within the rate limits of an upstream, across restarts and processes. Each request is recorded in the store before it
 * is sent, in the same transaction that checks earlier ones.
 */

import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';
import type { Database } from '../../store/database.ts';
import { type RequestLedger, readControl, withLedger } from '../../store/upstream-control.ts';
import type { Limits } from '../connector.ts';
import { RETRY_AFTER_MAX_MS } from '../http/retry-after.ts';

// Sliding windows: how many requests may be sent in any period. Pure; the caller has the record of requests.

/**
 * The upstream may count a request this much later than we send it: 5 s to connect and 10 s to the first header, after which we
 * give up. Our windows are longer by this time, so that slow and fast requests never fall into the same window.
 */
export const ARRIVAL_MS = 15 * SECOND_MS;

/**
 * At most `requestsMax` requests in any period of that length. `isLowPriorityOnly`: only detail and backfill requests count, which use
 * what lists leave.
 */
type Window = Readonly<ReturnType<typeof quotaWindows>[number]>;

/** What list calls need of the quota. */
export type Demand = Readonly<Record<'listCallsPerPass' | 'intervalMs', number>>;

/** Retries and a second look at a list need some room; the share of the hour kept for them. */
const HEADROOM_RATIO = 0.01;

/** The windows that every request is bound by. */
export function quotaWindows(limits: Limits) {
  const periods = [
    [limits.perMinute, MINUTE_MS],
    [limits.perHour, HOUR_MS],
  ] as const;
  return periods.flatMap(([requestsMax, ms]) =>
    requestsMax === null ? [] : { lengthMs: ms + ARRIVAL_MS, requestsMax, isLowPriorityOnly: false },
  );
}

/** Details are spread over this many passes, so that a burst doesn't use up the hour. */
const EVEN_PASSES = 10;

/**
 * Additional windows for detail and backfill requests: what the lists of coming passes leave, and in any ten passes no more than
 * an even share of the hour.
 */
export function lowPriorityWindows(limits: Limits, demand: Demand): readonly Window[] {
  const left = quotaWindows(limits).map(({ lengthMs, requestsMax }) => {
    const headroom = lengthMs >= HOUR_MS ? Math.ceil(requestsMax * HEADROOM_RATIO) : 0;
    const needed = Math.ceil(lengthMs / demand.intervalMs) * demand.listCallsPerPass;
    return { lengthMs, requestsMax: Math.max(0, requestsMax - needed - headroom), isLowPriorityOnly: true };
  });
  const hour = left.find((window) => window.lengthMs >= HOUR_MS);
  const evenMs = EVEN_PASSES * demand.intervalMs;
  if (hour === undefined || evenMs >= hour.lengthMs) return left;
  const requestsMax = Math.ceil((hour.requestsMax * evenMs) / hour.lengthMs);
  // Shorter by half a pass, because passes aren't exact to the second.
  return [...left, { lengthMs: evenMs - demand.intervalMs / 2, requestsMax, isLowPriorityOnly: true }];
}

/** A pass's share of the details that the hour allows, rounded up; null: as many as the windows let through. */
export function lowPriorityPerPass(limits: Limits, demand: Demand): number | null {
  const hour = lowPriorityWindows(limits, demand).find((window) => window.lengthMs >= HOUR_MS);
  return hour === undefined ? null : Math.ceil((hour.requestsMax * demand.intervalMs) / hour.lengthMs);
}

/** The shortest interval between passes that the quota allows for list requests; 0: no limit. */
export function intervalMinMs(limits: Limits, listCalls: number): number {
  return Math.max(0, ...quotaWindows(limits).map(({ lengthMs, requestsMax }) => (listCalls * lengthMs) / requestsMax));
}

/** When the `n`th newest request was sent; null: there are fewer. */
type NthNewest = (n: number, isLowPriorityOnly: boolean) => EpochMs | null | Promise<EpochMs | null>;

/** When one more request may be sent; `now` or earlier: at once. */
export async function earliest(windows: readonly Window[], now: EpochMs, nthNewest: NthNewest): Promise<EpochMs> {
  let at: number = now;
  for (const { lengthMs, requestsMax, isLowPriorityOnly } of windows) {
    const blocking = requestsMax === 0 ? now : await nthNewest(requestsMax, isLowPriorityOnly);
    if (blocking !== null) at = Math.max(at, blocking + lengthMs);
  }
  return toEpochMs(at);
}

/**
 * The maximum age of details in steady state, in ms: each is requested again after all others.
 *
 * @returns null when nothing limits it; Infinity when lists alone use the whole quota
 */
export function detailAgeMaxMs(limits: Limits, demand: Demand & { readonly monitorsTotal: number }): number | null {
  // If a window isn't a whole number of passes long, its requests become free at the next pass.
  const ages = lowPriorityWindows(limits, demand).map(({ lengthMs, requestsMax }) =>
    requestsMax === 0
      ? Number.POSITIVE_INFINITY
      : (demand.monitorsTotal / requestsMax) * Math.ceil(lengthMs / demand.intervalMs) * demand.intervalMs,
  );
  return ages.length === 0 ? null : Math.max(...ages, demand.intervalMs);
}

/** Cron runs evenly only in steps that divide the minute or the hour, s. */
const EVEN_STEPS_S = [
  1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 300, 360, 600, 720, 900, 1_200, 1_800, 3_600,
];
/** If details are older than this, the quota counts as too small for them. */
const DETAIL_AGE_MS_MAX = DAY_MS;

/** The size of a pass over an upstream. */
export type PassSize = Readonly<Record<'listCallsPerPass' | 'monitorsTotal', number>>;

/** Whether the quota is enough for all lists, and for the details of all monitors. */
export function hasRoom(limits: Limits, { intervalMs, ...size }: PassSize & { readonly intervalMs: number }): boolean {
  if (intervalMs < intervalMinMs(limits, size.listCallsPerPass)) return false;
  const ageMs = detailAgeMaxMs(limits, { ...size, intervalMs });
  return ageMs === null || ageMs <= DETAIL_AGE_MS_MAX;
}

/**
 * The fastest even schedule that leaves room for details and history, as cron with five fields or six with seconds; null: none of an
 * hour or less.
 */
export function fastestSchedule(limits: Limits, size: PassSize) {
  const step = EVEN_STEPS_S.find((seconds) => hasRoom(limits, { ...size, intervalMs: seconds * SECOND_MS }));
  return step === undefined ? null : { intervalMs: step * SECOND_MS, cron: toCron(step) };
}

function toCron(seconds: number): string {
  const every = (step: number): string => (step === 1 ? '*' : `*/${step}`);
  if (seconds === 3_600) return '0 * * * *';
  return seconds < 60 ? `${every(seconds)} * * * * *` : `${every(seconds / 60)} * * * *`;
}

type Reservation =
  | { readonly granted: true }
  /** No request may be sent before this time; after it, ask again. */
  | { readonly granted: false; readonly notBefore: EpochMs };

/** Back-off after 429 without a time: 1, 2, 4 … s, doubled up to the longest wait that we obey. */
const BACKOFF_FIRST_MS = SECOND_MS;
/** Longer than the longest window; older requests count for nothing. */
const REMEMBERED_MS = HOUR_MS + 2 * ARRIVAL_MS;

export type Quota = ReturnType<typeof createQuota>;

/** @param random  0 to 1, 1 excluded */
export function createQuota(database: Database, random: () => number) {
  return {
    /**
     * Records a request that is about to be sent, if all windows and the upstream's own "wait" allow it.
     *
     * @param windows without one that counts only low-priority requests, this is a list request
     */
    reserve: async (upstreamId: string, windows: readonly Window[], now: EpochMs): Promise<Reservation> => {
      if (windows.length === 0) {
        const { holdUntil } = await readControl(database, upstreamId);
        if (holdUntil === null || holdUntil <= now) return { granted: true };
        if (holdUntil <= now + RETRY_AFTER_MAX_MS) return { granted: false, notBefore: holdUntil };
      }
      return withLedger(database, upstreamId, (ledger) => reserveRequest(ledger, windows, now));
    },
    /**
     * The upstream answered 429. No request is sent before `retryAt`, or without it, before a back-off that doubles, with full
     * jitter. Returns that time.
     */
    hold: (upstreamId: string, retryAt: EpochMs | null, now: EpochMs): Promise<EpochMs> =>
      withLedger(database, upstreamId, async (ledger) => {
        const control = await ledger.control();
        const until = retryAt ?? toEpochMs(now + random() * backoffMs(control.limitedCount));
        // Another process may have been told to wait longer.
        const holdUntil = toEpochMs(Math.max(until, control.holdUntil ?? 0));
        await ledger.setControl({ ...control, holdUntil, limitedCount: control.limitedCount + 1 });
        return holdUntil;
      }),
    /** The upstream answered: resets the back-off. */
    release: async (upstreamId: string): Promise<void> => {
      if ((await readControl(database, upstreamId)).limitedCount === 0) return;
      await withLedger(database, upstreamId, async (ledger) =>
        ledger.setControl({ ...(await ledger.control()), limitedCount: 0 }),
      );
    },
  };
}

/** The longest wait after this many 429 responses in a row, before jitter. */
export function backoffMs(limitedCount: number): number {
  return Math.min(RETRY_AFTER_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.min(limitedCount, 30));
}

/** Records a request, in a transaction; or returns when it may be tried again. */
export async function reserveRequest(
  ledger: RequestLedger,
  windows: readonly Window[],
  now: EpochMs,
): Promise<Reservation> {
  const control = await ledger.control();
  if (control.holdUntil !== null && control.holdUntil > now) {
    const notBefore = toEpochMs(Math.min(control.holdUntil, now + RETRY_AFTER_MAX_MS));
    // Longer than any wait that we obey, so the clock was set back. Start the wait again.
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
