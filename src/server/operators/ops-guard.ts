/**
 * Checks the operator token. Each attempt is counted before it is compared, in constant time, and a correct one is uncounted.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Attempts } from '../../access/attempts/attempts.ts';
import { clientNetworkOf } from '../../access/attempts/client-address.ts';
import type { Revealing } from '../../access/digest.ts';
import { type EpochMs, toEpochMs } from '../../model/time.ts';

export type TokenVerdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  /** Too many wrong attempts from this client. Until then, even the correct token is rejected. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

export interface OperatorGuard {
  readonly check: (given: string, client: { readonly address: string; readonly now: EpochMs }) => Promise<TokenVerdict>;
}

interface OperatorGuardOptions {
  /** Null: none is configured, so every attempt is wrong. */
  readonly token: () => Revealing | null;
  readonly attempts: Pick<Attempts, 'admit' | 'forgive'>;
}

/** Maximum number of blocked clients in memory. Beyond it, the oldest is checked by the store again. */
const BLOCKED_MAX = 10_000;
/** No page can have this slug, so attempts at pages are counted separately. */
const COUNTED_AS = '-';

/**
 * Creates the guard. Attempts are counted in the store, so that restarts and other processes share them. Attempts of one client
 * are handled one after the other, so that correct ones at the same time don't add up.
 */
export function createOperatorGuard({ token, attempts }: OperatorGuardOptions): OperatorGuard {
  const blocked = new LRUCache<string, EpochMs>({ max: BLOCKED_MAX });
  const turns = new LRUCache<string, LimitFunction>({ max: BLOCKED_MAX, memoMethod: () => pLimit(1) });
  const waitOf = (network: string, now: EpochMs): TokenVerdict | null => {
    const until = blocked.get(network);
    return until !== undefined && until > now ? { kind: 'limited', retryAfterMs: until - now } : null;
  };
  return {
    check: async (given, { address, now }) => {
      const network = clientNetworkOf(address);
      return waitOf(network, now) ?? turns.memo(network)(() => tryOnce(given, { address, network, now }));
    },
  };

  async function tryOnce(
    given: string,
    { address, network, now }: { readonly address: string; readonly network: string; readonly now: EpochMs },
  ): Promise<TokenVerdict> {
    const wait = waitOf(network, now);
    if (wait !== null) return wait;
    const admission = await attempts.admit({ kind: 'operator', slug: COUNTED_AS, clientAddress: address, now });
    if (admission.isAdmitted) {
      if (!isSame(given, token())) return { kind: 'wrong' };
      await attempts.forgive(admission.attempt);
      return { kind: 'right' };
    }
    blocked.set(network, toEpochMs(now + admission.retryAfterMs));
    return { kind: 'limited', retryAfterMs: admission.retryAfterMs };
  }
}

/** Compares a text with the secret in constant time. Without a secret, nothing matches. */
export function isSame(given: string, secret: Revealing | null): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const isEqual = timingSafeEqual(digest(given), digest(secret?.reveal() ?? ''));
  return isEqual && secret !== null && given !== '';
}

/** The token of an Authorization header; empty: none. A repeated header counts as none. */
export function bearerFrom(header: string | undefined): string {
  return typeof header === 'string' ? (/^Bearer ([^\s,]+)$/i.exec(header)?.[1] ?? '') : '';
}
