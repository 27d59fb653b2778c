/** Requests per key in two sliding windows, by the sandbox's clock; packages that limit requests read the machine's. */

import { type EpochMs, HOUR_MS, MINUTE_MS } from '../../../../model/time.ts';

export interface RequestLimits {
  readonly perMinute: number;
  readonly perHour: number;
}

/** The figures of the document. */
export const DOCUMENTED_LIMITS: RequestLimits = { perMinute: 60, perHour: 1_000 };

/** Of an account with more monitors than a page or two: the past of all of them is told at once. */
const LARGE_LIMITS: RequestLimits = { perMinute: 600, perHour: 20_000 };
const LARGE_FROM = 40;

/** What an account with so many monitors may ask. */
export function limitsFor(monitorsTotal: number): RequestLimits {
  return monitorsTotal >= LARGE_FROM ? LARGE_LIMITS : DOCUMENTED_LIMITS;
}

type LimitVerdict =
  | { readonly kind: 'allowed'; readonly remaining: number }
  | { readonly kind: 'refused'; readonly retryAfterSeconds: number };

/**
 * Counts requests per key. A request counts from its instant until one window later, that instant excluded;
 * a refused one does not count. Null limits allow everything.
 */
export function createRequestLimiter(limits: RequestLimits | null): (key: string, now: EpochMs) => LimitVerdict {
  const sentByKey = new Map<string, EpochMs[]>();
  return (key, now) => {
    if (limits === null) return { kind: 'allowed', remaining: Number.MAX_SAFE_INTEGER };
    const sent = (sentByKey.get(key) ?? []).filter((at) => at > now - HOUR_MS);
    const inMinute = sent.filter((at) => at > now - MINUTE_MS);
    const waitMs = Math.max(
      freeAfterMs(inMinute, limits.perMinute, MINUTE_MS, now),
      freeAfterMs(sent, limits.perHour, HOUR_MS, now),
    );
    sentByKey.set(key, sent);
    if (waitMs > 0) return { kind: 'refused', retryAfterSeconds: Math.ceil(waitMs / 1_000) };
    sent.push(now);
    return {
      kind: 'allowed',
      remaining: Math.min(limits.perMinute - inMinute.length, limits.perHour - sent.length + 1) - 1,
    };
  };
}

function freeAfterMs(sent: readonly EpochMs[], max: number, windowMs: number, now: EpochMs): number {
  const blocking = sent[sent.length - max];
  return blocking === undefined ? 0 : blocking + windowMs - now;
}
