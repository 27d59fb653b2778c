/**
 * Compares secrets of operators and of programs that write, and counts wrong ones. All of it happens in memory, so that health
 * checks and metrics are answered while the database hangs, and a right secret never waits for the count of the wrong ones.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { clientNetwork } from '../../access/attempts/client-address.ts';
import type { Revealing } from '../../access/digest.ts';
import { type EpochMs, MINUTE_MS } from '../../model/time.ts';
import { TOKEN_LENGTH_MIN } from '../../schema/secret.ts';
import type { OperatorToken } from './operator.ts';

export type SecretVerdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  /** Too many wrong secrets from this client. Until then, even the right one is rejected. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

type TokenVerdict =
  | { readonly kind: 'right'; readonly operator: OperatorToken }
  | { readonly kind: 'wrong' }
  /** Too many wrong secrets from this client. Until then, even the right one is rejected. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

/** What is compared; each is counted by itself, so that a script with an old API token locks out nobody else. */
type SecretKind = 'operator' | 'operator over API' | 'API token' | 'intake' | 'hook';

interface Client {
  /** Empty: unknown, because a proxy sent the request that isn't configured. */
  readonly address: string;
  readonly now: EpochMs;
}

export interface OperatorGuard {
  /** Whose token of the configuration a text is. Without any, nothing is. */
  readonly check: (given: string, client: Client, kind?: SecretKind) => TokenVerdict;
  /** Compares any other secret, unless the client has sent too many wrong ones. */
  readonly judge: (kind: SecretKind, client: Client, isRight: () => boolean) => SecretVerdict;
}

/** Wrong secrets of one client within a window. */
const OF_CLIENT = { max: 10, windowMs: 15 * MINUTE_MS };
/** Of all unknown clients: they can't be told apart, so this slows guessing down, and locks nobody out for long. */
const OF_UNKNOWN = { max: 100, windowMs: MINUTE_MS };
/** Clients that are counted at most; beyond, those seen longest ago are forgotten. */
const CLIENTS_MAX = 10_000;

export function createOperatorGuard(tokens: () => readonly OperatorToken[]): OperatorGuard {
  /** Times of wrong secrets, oldest first, as many as are allowed at most. */
  const wrong = new LRUCache<string, EpochMs[]>({ max: CLIENTS_MAX, memoMethod: () => [] });

  function judge(kind: SecretKind, { address, now }: Client, isRight: () => boolean): SecretVerdict {
    const { max, windowMs } = address === '' ? OF_UNKNOWN : OF_CLIENT;
    const times = wrong.memo(`${kind} ${clientNetwork(address)}`);
    const [oldest] = times;
    if (times.length === max && oldest !== undefined && oldest <= now && oldest + windowMs > now)
      return { kind: 'limited', retryAfterMs: oldest + windowMs - now };
    if (isRight()) return { kind: 'right' };
    times.push(now);
    if (times.length > max) times.shift();
    return { kind: 'wrong' };
  }

  return {
    judge,
    check: (given, client, kind = 'operator') => {
      // Every token is compared, so that how long it takes tells nothing.
      const right = tokens().filter(({ token }) => isSame(given, token));
      const [operator] = right;
      // Visitors behind the same proxy can't lock out a token that nobody guesses at any rate.
      if (operator !== undefined && client.address === '' && given.length >= TOKEN_LENGTH_MIN)
        return { kind: 'right', operator };
      const verdict = judge(kind, client, () => right.length > 0);
      if (verdict.kind !== 'right') return verdict;
      return operator === undefined ? { kind: 'wrong' } : { kind: 'right', operator };
    },
  };
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
