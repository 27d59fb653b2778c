/**
 * Notifications of monitoring services, `POST /-/hooks/<upstream id>`. Nothing in a body is believed: it only hints that
 * now is a good time to ask the upstream.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type EpochMs, SECOND_MS } from '../../model/time.ts';
import type { OwnRequest } from '../answer.ts';

export interface Hook {
  readonly header: string;
  readonly secrets: readonly { readonly reveal: () => string }[];
}

export interface HookHandlerOptions {
  /** Of an upstream; null: it takes no notifications, or there is none of that id. */
  readonly hookOf: (upstreamId: string) => Hook | null;
  /** Asks the upstream and publishes, before anything that waits; the id of the run. */
  readonly pull: (upstreamId: string, request: Pick<OwnRequest, 'clientAddress' | 'trace'>) => string;
  /** False: this process asks nobody. */
  readonly canPull: boolean;
  readonly now: () => EpochMs;
  /** Calls back after a delay. */
  readonly later: (ms: number, call: () => void) => void;
}

export type HookResult =
  | { readonly kind: 'refused' }
  /** `runId`: null while an earlier one is too recent; the trailing run will see it. */
  | { readonly kind: 'taken'; readonly runId: string | null }
  | { readonly kind: 'known' }
  | { readonly kind: 'idle' };

/** After a pull at once, at most one in this time; by hand, since packages that debounce read a clock of their own. */
const DEBOUNCE_MS = 10 * SECOND_MS;
/** Bodies remembered, so that one that is sent again asks for nothing. */
const REMEMBERED_MAX = 10_000;

interface Turn {
  lastAt: EpochMs;
  isTrailing: boolean;
}

/** Makes the handler. An upstream without a hook refuses like one with a wrong secret. */
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
    if (!isAuthentic(request, hook)) return { kind: 'refused' };
    if (!options.canPull) return { kind: 'idle' };
    const body = await request.body();
    const fingerprint = createHash('sha256').update(upstreamId).update('\0').update(body).digest('base64url');
    if (body.length > 0 && seen.has(fingerprint)) return { kind: 'known' };
    seen.set(fingerprint, true);
    return { kind: 'taken', runId: pull(upstreamId, request) };
  };
}

const NO_SECRET = { header: 'x-webhook-secret', secrets: [{ reveal: () => '' }] };

/** Every secret is compared, in constant time; a header that came twice is joined by Node and equals none. */
function isAuthentic(request: OwnRequest, hook: Hook | null): boolean {
  const { header, secrets } = hook ?? NO_SECRET;
  const given = request.headers[header.toLowerCase()];
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const presented = digest(typeof given === 'string' ? given : '');
  const matches = secrets.map((secret) => timingSafeEqual(presented, digest(secret.reveal())));
  return hook !== null && typeof given === 'string' && given !== '' && matches.includes(true);
}
