/** Assembles the gates. */

import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { isStatusError } from '../errors.ts';
import type { SendMail } from '../mail/mail.ts';
import { type EpochMs, HOUR_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import { createSender } from '../outbox/sender.ts';
import type { Database } from '../store/database.ts';
import type { GatedPage, GateRequest, GateResponse } from './access.ts';
import { createAttempts, forgetAttempts } from './attempts.ts';
import { forgetChallenges, hasChallenges } from './challenges.ts';
import { type RandomBytes, type Revealing, systemRandom } from './digest.ts';
import { createBadgeTokens } from './gate/badge-tokens.ts';
import { createGates } from './gate/gates.ts';
import {
  ATTEMPT_WINDOW_MS,
  HASHES_AT_ONCE,
  HASHES_WAITING_MAX,
  SESSION_MAX_MS,
  TEND_INTERVAL_MS,
  TURNS_MAX,
  TURNS_WAITING_MAX,
} from './limits.ts';
import type { RenderLogin } from './login/document-answer.ts';
import { createLoginDocuments } from './login/login-documents.ts';
import { forgetIdentities } from './oidc/identities.ts';
import type { Oidc } from './oidc/oidc.ts';
import { createPrincipals } from './principals.ts';
import { safeBase, safeReturnTo } from './request-checks.ts';
import { answerRoute } from './routes.ts';
import { createSessions } from './sessions.ts';
import { createSignInLane, type WriteMail } from './sign-in-mail.ts';
import { returnFromProvider } from './sign-in-oidc.ts';
import { createSemaphore, type GateParts, type Semaphore, show, type Visit, visitOf } from './visit.ts';

export interface AccessOptions {
  /** Shared with the store; not closed with the gates. */
  readonly database: Database;
  /** Key for hashes of addresses; not stored in the database. */
  readonly key: Revealing;
  /** Clock for work that no request triggers: queued mails, expiry. */
  readonly now: () => EpochMs;
  readonly sendMail: SendMail;
  /** How long a session may stay unused. */
  readonly sessionHours: number;
  /** Called with errors hidden from the visitor; they never contain a secret. */
  readonly onError: (error: unknown, where: string) => void;
  /** If it fails, a plain document in English is shown instead. */
  readonly renderLogin: RenderLogin;
  /** The language of the page at `to`, one of few; null: the site's. Default: null. */
  readonly localeOf?: (to: string) => string | null;
  readonly writeMail: WriteMail;
  readonly oidc: Oidc;
  readonly siteUrl: () => string;
  /** Default: the system's. */
  readonly random?: RandomBytes;
  /** Default: every five seconds; null: only when `tend` is called. */
  readonly tendIntervalMs?: number | null;
}

/** Longer than sending an answer takes, so that response times don't reveal whether a mail is sent. */
const MAIL_DELAY_MS = 100;
/** Longer than one attempt takes, but short compared with the life of a code. */
const MAIL_CLAIM_MS = 45 * SECOND_MS;

/** The interface for the front door. */
export type Access = ReturnType<typeof createAccess>;

/** Creates the gates over an open database. Everybody is locked out until `setPages` was called. */
export function createAccess(options: AccessOptions) {
  const { database, now, onError, random = systemRandom } = options;
  const gates = createGates(database, random, onError);
  const idleMs = Math.min(options.sessionHours * HOUR_MS, SESSION_MAX_MS);
  const sessions = createSessions({ database, random, idleMs, onError });
  const attempts = createAttempts({ database, random, key: options.key });
  const { localeOf = () => null } = options;
  const signInLane = createSignInLane({ ...options, gates, random, localeOf });
  const mails = createSender({
    database,
    now,
    random: () => 0,
    lanes: () => [signInLane],
    onError: (error) => onError(error, 'sign-in mail'),
    claimMs: MAIL_CLAIM_MS,
  });
  const documents = createLoginDocuments(options.renderLogin, onError, localeOf);
  const hashing = createSemaphore(HASHES_AT_ONCE, HASHES_WAITING_MAX);
  const turns = new LRUCache<string, Semaphore>({
    max: TURNS_MAX,
    memoMethod: () => createSemaphore(1, TURNS_WAITING_MAX),
  });
  const badgeTokens = createBadgeTokens(database, random);
  const principals = createPrincipals({ sessions, gates, oidc: options.oidc, onError });
  const parts: GateParts = {
    database,
    random,
    gates,
    sessions,
    attempts,
    documents,
    hashing,
    turns,
    mailSoon: () => mails.wake(MAIL_DELAY_MS),
    oidc: options.oidc,
    siteUrl: options.siteUrl,
    principalOf: principals.principalOf,
    endSession: principals.end,
    onError,
  };
  const hasGates = (): boolean => Object.values(gates.kinds()).includes(true);

  /** Whether the write-ahead log may still contain a deleted address. After a start this is unknown. */
  let isLogStale = true;

  async function tend(): Promise<void> {
    const at = now();
    if (hasGates()) await mails.run();
    await database.transaction(async (tx) => {
      isLogStale ||= await hasChallenges(tx);
      await forgetAttempts(tx, toEpochMs(at - ATTEMPT_WINDOW_MS));
      await sessions.forgetExpired(tx, at);
      await forgetIdentities(tx);
      await forgetChallenges(tx, at);
    });
    if (isLogStale) isLogStale = !(await database.truncateLog());
  }
  const { tendIntervalMs = database.isReadOnly ? null : TEND_INTERVAL_MS } = options;
  const stopTending = repeat(tend, tendIntervalMs, onError);

  return {
    principalOf: principals.principalOf,
    /**
     * Signs in, sends links, signs out. Answers the same for pages that do not exist. Null: no page of the site has a
     * gate, so these addresses do not exist.
     */
    handle: async (request: GateRequest) => (hasGates() ? answer(visitOf(request, parts), answerRoute) : null),
    /** Handles a browser that returns from the identity provider; the pending sign-in says for which page. */
    returned: (request: GateRequest) =>
      answer(visitOf(request, parts), () => returnFromProvider(request, parts, options.oidc)),
    /**
     * The answer for every address of a page that does not exist or that the visitor may not see: 404 with the sign-in
     * form. Null: no page of the site has a gate, so the ordinary 404 reveals nothing.
     *
     * @param path below `base`, to return to after signing in
     */
    denied: async ({ base, path }: { readonly base: string; readonly path: string }) => {
      if (!hasGates()) return null;
      const place = { kinds: gates.kinds(), base: safeBase(base), to: safeReturnTo(path) };
      return documents.answer({ status: 404, step: 'sign-in', ...place });
    },
    showPublic: gates.showPublic,
    setPages: gates.setPages,
    /** The gate of a page as last set; null: unknown, unpublished or closed. */
    pageOf: (slug: string): GatedPage | null => gates.find(slug)?.gated ?? null,
    /** False until the first pages are known. */
    knowsPages: () => !gates.isEmpty(),
    /**
     * Whether a token opens the badges of this gated page; it opens no others. Looked up for unknown pages too, so that
     * the response time reveals nothing.
     */
    allowsBadge: (slug: string, token: string) => badgeTokens.allows(gates.keyOf(slug), token),
    /** Retries queued mails and deletes what has expired; a timer calls it every few seconds. */
    tend,
    /** Waits for work in progress; the database stays open. */
    close: async () => {
      await stopTending();
      await mails.close();
    },
  };
}

/** If the store cannot be used, the gates are closed for the time being, whichever page is requested. */
async function answer(visit: Visit, route: (visit: Visit) => Promise<GateResponse>): Promise<GateResponse> {
  try {
    return await route(visit);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    visit.parts.onError(error, 'sign-in');
    return show(visit, { status: 503, step: 'sign-in', fault: 'unavailable', retryAfterSeconds: 30 });
  }
}

/** Runs `task` repeatedly, never twice at once; returns a function that stops this and waits for the last run. */
function repeat(
  task: () => Promise<void>,
  intervalMs: number | null,
  onError: AccessOptions['onError'],
): () => Promise<void> {
  const inTurn = pLimit(1);
  const begin = (): void => {
    if (inTurn.activeCount === 0) inTurn(task).catch((error: unknown) => onError(error, 'gates'));
  };
  const timer = intervalMs === null ? undefined : setInterval(begin, intervalMs).unref();
  return async () => {
    clearInterval(timer);
    await inTurn(() => undefined);
  };
}
