/**
 * Webhooks of monitoring services, `POST /-/hooks/<upstream id>`. Their bodies aren't trusted: a webhook only triggers a query
 * of the upstream.
 */

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type EpochMs, SECOND_MS } from '../../model/time.ts';
import type { OwnRequest } from '../answer.ts';
import { isSame, type OperatorGuard } from '../operators/operator.ts';

interface Hook {
  readonly header: string;
  readonly secrets: readonly { readonly reveal: () => string }[];
}

interface HookHandlerOptions {
  /** The hook of an upstream; null: it has none, or there is no such upstream. */
  readonly hookOf: (upstreamId: string) => Hook | null;
  /** Queries the upstream and publishes, before waiting runs. Returns the id of the run. */
  readonly pull: (upstreamId: string, request: Pick<OwnRequest, 'clientAddress' | 'trace'>) => string;
  /** False: this process doesn't sync. */
  readonly canPull: boolean;
  readonly now: () => EpochMs;
  readonly guard: OperatorGuard;
  /** Calls back after a delay. */
  readonly later: (ms: number, call: () => void) => void;
}

export type HookResult =
  | { readonly kind: 'refused' }
  | { readonly kind: 'limited'; readonly retryAfterMs: number }
  /** `runId`: null if the last one is too recent; then a run follows a little later. */
  | { readonly kind: 'taken'; readonly runId: string | null }
  | { readonly kind: 'known' }
  | { readonly kind: 'idle' };

/** Minimum time between two runs. Our own debounce, because packages read the clock themselves. */
const DEBOUNCE_MS = 10 * SECOND_MS;
/** Number of bodies remembered, to recognise duplicates. */
const REMEMBERED_MAX = 10_000;

interface Turn {
  lastAt: EpochMs;
  isTrailing: boolean;
}

/** Creates the handler. Without a hook, the response is the same as for a wrong secret. */
export function createHookHandler(
  options: HookHandlerOptions,
): (upstreamId: string, request: OwnRequest) => Promise<HookResult> {
  const turns = new Map<string, Turn>();
  const seen = new LRUCache<string, true>({ max: REMEMBERED_MAX });

  function pull(upstreamId: string, request: OwnRequest): string | null {
    const now = options.now();
    const turn = turns.get(upstreamId);
    const waitMs = turn === undefined ? 0 : turn.lastAt + DEBOUNCE_MS - now;
    if (turn === undefined || waitMs <= 0) {
      turns.set(upstreamId, { lastAt: now, isTrailing: false });
      return options.pull(upstreamId, request);
    }
    if (!turn.isTrailing) {
      turn.isTrailing = true;
      options.later(waitMs, () => {
        turns.set(upstreamId, { lastAt: options.now(), isTrailing: false });
        options.pull(upstreamId, request);
      });
    }
    return null;
  }

  return async (upstreamId, request) => {
    const hook = options.hookOf(upstreamId);
    const client = { address: request.clientAddress, now: options.now() };
    const verdict = options.guard.judge('hook', client, () => isAuthentic(request, hook));
    if (verdict.kind !== 'right') return verdict.kind === 'wrong' ? { kind: 'refused' } : verdict;
    if (!options.canPull) return { kind: 'idle' };
    const body = await request.body();
    const fingerprint = createHash('sha256').update(upstreamId).update('\0').update(body).digest('base64url');
    if (body.length > 0 && seen.has(fingerprint)) return { kind: 'known' };
    seen.set(fingerprint, true);
    return { kind: 'taken', runId: pull(upstreamId, request) };
  };
}

const NO_SECRET = { header: 'x-webhook-secret', secrets: [{ reveal: () => '' }] };

/** Compares every secret in constant time. Node joins a repeated header, which then matches none. */
function isAuthentic(request: OwnRequest, hook: Hook | null): boolean {
  const { header, secrets } = hook ?? NO_SECRET;
  const given = request.headers[header.toLowerCase()];
  const matches = secrets.map((secret) => isSame(typeof given === 'string' ? given : '', secret));
  return hook !== null && matches.includes(true);
}
