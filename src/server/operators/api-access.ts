/** Who may use the API: whoever has a token of one page with its scopes, or one of the configuration with its role. */

import { LRUCache } from 'lru-cache';
import { digest, isToken } from '../../access/digest.ts';
import { type EpochMs, MINUTE_MS } from '../../model/time.ts';
import { type ApiTokens, isInForce } from '../../store/written/tokens.ts';
import { apiOperator, type Operator } from './operator.ts';
import type { OperatorGuard } from './ops-guard.ts';

/** Requests per minute for one token; a client that needs more has a bug. */
const REQUESTS_PER_MINUTE = 120;
/** Prefix of tokens, so that people and secret scanners recognise them. */
export const TOKEN_PREFIX = 'pharos_';
const COUNTED_MAX = 10_000;

export type ApiVerdict =
  | { readonly kind: 'right'; readonly operator: Operator }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

export interface ApiAccess {
  readonly check: (
    authorization: string | undefined,
    client: { readonly address: string; readonly now: EpochMs },
  ) => Promise<ApiVerdict>;
}

/** The form in which a token is stored. */
export function tokenHash(token: string): string {
  return digest('api token', token);
}

/**
 * Tokens are looked up by their hash, so only values that aren't tokens of ours count as attempts: at an API token if they look like
 * one, else at the operator token. Neither counts where operators sign in.
 */
export function createApiAccess(tokens: Pick<ApiTokens, 'find'>, guard: OperatorGuard): ApiAccess {
  const counts = new LRUCache<string, { since: EpochMs; count: number }>({ max: COUNTED_MAX });

  /** Time to wait; null: none. */
  function waitOf(id: string, now: EpochMs): number | null {
    const known = counts.get(id);
    const current = known === undefined || now - known.since >= MINUTE_MS || now < known.since ? null : known;
    if (current === null) counts.set(id, { since: now, count: 1 });
    else current.count += 1;
    return current !== null && current.count > REQUESTS_PER_MINUTE ? current.since + MINUTE_MS - now : null;
  }

  return {
    check: async (authorization, { address, now }) => {
      const given = credentialsIn(authorization);
      if (given === '') return { kind: 'wrong' };
      const isOurs = given.startsWith(TOKEN_PREFIX) && isToken(given.slice(TOKEN_PREFIX.length));
      const token = isOurs ? await tokens.find(tokenHash(given)) : null;
      if (token === null) {
        const kind = given.startsWith(TOKEN_PREFIX) ? 'API token' : 'operator over API';
        return guard.check(given, { address, now }, kind);
      }
      if (!isInForce(token, now)) return { kind: 'wrong' };
      const retryAfterMs = waitOf(token.id, now);
      if (retryAfterMs !== null) return { kind: 'limited', retryAfterMs };
      return { kind: 'right', operator: apiOperator(token) };
    },
  };
}

/** The token of an Authorization header, after `Bearer` or, as Statuspage has it, `OAuth` or nothing; empty: there is none. */
function credentialsIn(header: string | undefined): string {
  return /^(?:(?:Bearer|OAuth) )?([^\s,]{1,200})$/i.exec(header ?? '')?.[1] ?? '';
}
