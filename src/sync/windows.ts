/** Sliding windows: how many requests may leave in any stretch of time. Pure; the ledger is somebody else's. */

import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import type { Limits } from './connector.ts';

/**
 * A request may be counted there this much later than it left here: 5 s to connect and 10 s to its first header, after
 * which it is given up. Windows are longer by it, so that requests that travel slowly and quickly never meet in one.
 */
export const ARRIVAL_MS = 15 * SECOND_MS;

export interface Window {
  readonly lengthMs: number;
  /** At most this many in any stretch of that length. */
  readonly requestsMax: number;
  /** Whether only detail and back-fill count, which live on what lists leave. */
  readonly isSpareOnly: boolean;
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
    windows.push({ lengthMs: MINUTE_MS + ARRIVAL_MS, requestsMax: limits.perMinute, isSpareOnly: false });
  if (limits.perHour !== null)
    windows.push({ lengthMs: HOUR_MS + ARRIVAL_MS, requestsMax: limits.perHour, isSpareOnly: false });
  return windows;
}

/** The windows that detail and back-fill are bound by as well: what is left when every pass to come had its lists. */
export function spareWindowsOf(limits: Limits, demand: Demand): readonly Window[] {
  return windowsOf(limits).map(({ lengthMs, requestsMax }) => {
    const isHour = lengthMs >= HOUR_MS;
    const headroom = isHour ? Math.ceil(requestsMax * HEADROOM_RATIO) : 0;
    const needed = Math.ceil(lengthMs / demand.intervalMs) * demand.listCallsPerPass;
    return { lengthMs, requestsMax: Math.max(0, requestsMax - needed - headroom), isSpareOnly: true };
  });
}

/**
 * How many details one pass may ask for so that they come evenly over the hour instead of in one burst and a long
 * silence; null: as many as the windows let through.
 */
export function sparePerPass(limits: Limits, demand: Demand): number | null {
  const hour = spareWindowsOf(limits, demand).find((window) => window.lengthMs >= HOUR_MS);
  return hour === undefined ? null : Math.ceil((hour.requestsMax * demand.intervalMs) / hour.lengthMs);
}

/** When the `n`th newest request left; null: there are fewer. */
export type NthNewest = (n: number, isSpareOnly: boolean) => EpochMs | null | Promise<EpochMs | null>;

/** The first instant at which one more request may leave; `now` or earlier: at once. */
export async function earliest(windows: readonly Window[], now: EpochMs, nthNewest: NthNewest): Promise<EpochMs> {
  let at: number = now;
  for (const { lengthMs, requestsMax, isSpareOnly } of windows) {
    const blocking = requestsMax === 0 ? now : await nthNewest(requestsMax, isSpareOnly);
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
  const ages = spareWindowsOf(limits, demand).map(({ lengthMs, requestsMax }) =>
    requestsMax === 0 ? Number.POSITIVE_INFINITY : (demand.monitorsTotal / requestsMax) * lengthMs,
  );
  return ages.length === 0 ? null : Math.max(...ages, demand.intervalMs);
}
