/** The operator token: each try counted before it is compared, in constant time, and taken back when it was right. */

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
  /** Too many wrong ones from this client: not even the right one is taken before then. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

export interface OperatorGuard {
  readonly check: (given: string, client: { readonly address: string; readonly now: EpochMs }) => Promise<TokenVerdict>;
}

export interface OperatorGuardOptions {
  /** Null: none is configured, so none is right. */
  readonly token: () => Revealing | null;
  readonly attempts: Pick<Attempts, 'admit' | 'forgive'>;
}

/** Clients kept out at the same time; the oldest is let in again beyond that, and counted anew by the store. */
const BLOCKED_MAX = 10_000;
/** No page can have this name, so nobody's tries at a page are counted with these. */
const COUNTED_AS = '-';

/**
 * Makes the guard. Tries are counted in the store, so that restarts and other processes share them, and before they are
 * compared. Those of one client are made one after the other: right ones that come at the same time are not counted together.
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

/** Whether a text is the secret, in a time that tells nothing of either; nothing equals a secret that is not there. */
export function isSame(given: string, secret: Revealing | null): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const isEqual = timingSafeEqual(digest(given), digest(secret?.reveal() ?? ''));
  return isEqual && secret !== null && given !== '';
}

/** The token of an Authorization header; empty when there is none. A header sent twice is none. */
export function bearerFrom(header: string | undefined): string {
  return typeof header === 'string' ? (/^Bearer ([^\s,]+)$/i.exec(header)?.[1] ?? '') : '';
}
