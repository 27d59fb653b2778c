/** Assembles the gates. */

import pLimit from 'p-limit';
import { isStatusError } from '../errors.ts';
import { SECOND_MS, toEpochMs } from '../model/time.ts';
import { createSender } from '../outbox/outbox.ts';
import { type GatedPage, type GateRequest, type GateResponse, safeBase, safeReturnTo } from './access.ts';
import { ATTEMPT_WINDOW_MS, forgetAttempts } from './attempts.ts';
import { createBadgeTokens } from './gate/badge-tokens.ts';
import { forgetIdentities } from './oidc/identities.ts';
import { type AccessOptions, createParts } from './parts.ts';
import { answerRoute, returnFromProvider } from './routes.ts';
import { createSignInLane, forgetChallenges, hasChallenges } from './sign-in-mail.ts';
import { show, type Visit, visitOf } from './visit.ts';

/** Longer than sending an answer takes, so that response times don't reveal whether a mail is sent. */
const MAIL_DELAY_MS = 100;
/** Longer than one attempt takes, but short compared with the life of a code. */
const MAIL_CLAIM_MS = 45 * SECOND_MS;

/** How often queued mails and expired rows are checked. */
const TEND_INTERVAL_MS = 5 * SECOND_MS;

/** The interface for the front door. */
export type Access = ReturnType<typeof createAccess>;

/** Creates the gates over an open database. Everybody is locked out until `setPages` was called. */
export function createAccess(options: AccessOptions) {
  const { database, now, onError } = options;
  const parts = createParts(options, () => mails.wake(MAIL_DELAY_MS));
  const { gates, sessions, documents, random } = parts;
  const signInLane = createSignInLane({ localeOf: () => null, ...options, gates, random });
  const mails = createSender({
    ...{ database, now, random: () => 0, claimMs: MAIL_CLAIM_MS },
    lanes: () => [signInLane],
    onError: (error) => onError(error, 'sign-in mail'),
  });
  const badgeTokens = createBadgeTokens(parts.database, random);
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
    principalOf: parts.principals.principalOf,
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
    closePublic: gates.closePublic,
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
function repeat(task: () => Promise<void>, intervalMs: number | null, onError: AccessOptions['onError']) {
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
