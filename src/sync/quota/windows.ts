/** Sliding windows: how many requests may be sent in any period. Pure; the caller has the record of requests. */

import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';
import type { Limits } from '../connector.ts';

/**
 * The upstream may count a request this much later than we send it: 5 s to connect and 10 s to the first header, after which we
 * give up. Our windows are longer by this time, so that slow and fast requests never fall into the same window.
 */
export const ARRIVAL_MS = 15 * SECOND_MS;

export interface Window {
  readonly lengthMs: number;
  /** At most this many requests in any period of that length. */
  readonly requestsMax: number;
  /** Whether only detail and backfill requests count. They use what lists leave. */
  readonly isLowPriorityOnly: boolean;
}

/** What list calls need of the quota. */
export interface Demand {
  readonly listCallsPerPass: number;
  readonly intervalMs: number;
}

/** Retries and a second look at a list need some room; the share of the hour kept for them. */
const HEADROOM_RATIO = 0.01;

/** The windows that every request is bound by. */
export function windowsOf(limits: Limits): readonly Window[] {
  const windows: Window[] = [];
  if (limits.perMinute !== null)
    windows.push({ lengthMs: MINUTE_MS + ARRIVAL_MS, requestsMax: limits.perMinute, isLowPriorityOnly: false });
  if (limits.perHour !== null)
    windows.push({ lengthMs: HOUR_MS + ARRIVAL_MS, requestsMax: limits.perHour, isLowPriorityOnly: false });
  return windows;
}

/** Details come evenly over this many passes, so that no burst leaves the rest of the hour empty. */
const EVEN_PASSES = 10;

/**
 * Additional windows for detail and backfill requests: what is left once every coming pass has its lists, and in any ten passes
 * no more than an even share of the hour.
 */
export function lowPriorityWindows(limits: Limits, demand: Demand): readonly Window[] {
  const left = windowsOf(limits).map(({ lengthMs, requestsMax }) => {
    const headroom = lengthMs >= HOUR_MS ? Math.ceil(requestsMax * HEADROOM_RATIO) : 0;
    const needed = Math.ceil(lengthMs / demand.intervalMs) * demand.listCallsPerPass;
    return { lengthMs, requestsMax: Math.max(0, requestsMax - needed - headroom), isLowPriorityOnly: true };
  });
  const hour = left.find((window) => window.lengthMs >= HOUR_MS);
  const evenMs = EVEN_PASSES * demand.intervalMs;
  if (hour === undefined || evenMs >= hour.lengthMs) return left;
  const requestsMax = Math.ceil((hour.requestsMax * evenMs) / hour.lengthMs);
  // Shorter by half a pass, since passes do not come to the second.
  return [...left, { lengthMs: evenMs - demand.intervalMs / 2, requestsMax, isLowPriorityOnly: true }];
}

/** A pass's share of the details that the hour allows, rounded up; null: as many as the windows let through. */
export function lowPriorityPerPass(limits: Limits, demand: Demand): number | null {
  const hour = lowPriorityWindows(limits, demand).find((window) => window.lengthMs >= HOUR_MS);
  return hour === undefined ? null : Math.ceil((hour.requestsMax * demand.intervalMs) / hour.lengthMs);
}

/** The shortest time between two passes for which the quota has enough list calls; 0: nothing limits it. */
export function intervalMinMs(limits: Limits, listCalls: number): number {
  return Math.max(0, ...windowsOf(limits).map(({ lengthMs, requestsMax }) => (listCalls * lengthMs) / requestsMax));
}

/** When the `n`th newest request left; null: there are fewer. */
type NthNewest = (n: number, isLowPriorityOnly: boolean) => EpochMs | null | Promise<EpochMs | null>;

/** The first instant at which one more request may leave; `now` or earlier: at once. */
export async function earliest(windows: readonly Window[], now: EpochMs, nthNewest: NthNewest): Promise<EpochMs> {
  let at: number = now;
  for (const { lengthMs, requestsMax, isLowPriorityOnly } of windows) {
    const blocking = requestsMax === 0 ? now : await nthNewest(requestsMax, isLowPriorityOnly);
    if (blocking !== null) at = Math.max(at, blocking + lengthMs);
  }
  return toEpochMs(at);
}

/**
 * How old details become at most in steady state, ms: each is asked again once all others were.
 *
 * @returns null when nothing limits it; Infinity when lists alone use the whole quota
 */
export function detailAgeMaxMs(limits: Limits, demand: Demand & { readonly monitorsTotal: number }): number | null {
  // A window that is not a whole number of passes long frees its requests at the next one.
  const ages = lowPriorityWindows(limits, demand).map(({ lengthMs, requestsMax }) =>
    requestsMax === 0
      ? Number.POSITIVE_INFINITY
      : (demand.monitorsTotal / requestsMax) * Math.ceil(lengthMs / demand.intervalMs) * demand.intervalMs,
  );
  return ages.length === 0 ? null : Math.max(...ages, demand.intervalMs);
}
