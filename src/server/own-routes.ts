/** The server's own addresses below `/-/`. */

import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Access } from '../access/create-access.ts';
import { CALLBACK_PATH, LOGOUT_PATH, type Oidc } from '../access/oidc/oidc.ts';
import { type EpochMs, SECOND_MS } from '../model/time.ts';
import type { SignInResult } from '../store/audit.ts';
import { type Answer, json, jsonNotAllowed, NEVER_CACHED, type OwnRequest, retryAfter, whole } from './answer.ts';
import { bearerFrom, isSame, type Operator, type OperatorGuard } from './operators/operator.ts';
import { gateReply, returnRequest, signInResultOf } from './visitors/gate-answer.ts';

interface OwnRoutesOptions {
  readonly guard: OperatorGuard;
  /** False: this process only serves; it neither syncs nor publishes. */
  readonly canRun: boolean;
  readonly now: () => EpochMs;
  /** Queues a run over everything, or one that publishes only this page. */
  readonly submit: (
    page: string | null,
    request: Pick<OwnRequest, 'clientAddress' | 'trace'>,
    actor: string,
  ) => {
    readonly id: string;
    readonly report: Promise<{ readonly hasFailed: boolean }>;
  };
  readonly hasPage: (slug: string) => boolean;
  readonly hooks: (upstreamId: string, request: OwnRequest) => Promise<Answer>;
  /** Reasons why load balancers shouldn't send visitors here; empty: none. */
  readonly unreadiness: () => Promise<readonly string[]>;
  /** Reasons why served pages may be out of date; empty: none. */
  readonly staleness: () => Promise<readonly string[]>;
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  /** How long `?wait=1` waits for a report; default nine minutes. */
  readonly waitMs?: number;
  /** The operators' page; `rest` is the path behind `ops`. */
  readonly ops: (request: OwnRequest, rest: readonly string[]) => Promise<Answer | null>;
  /** Messages of alerting systems. */
  readonly intake: (request: OwnRequest, id: string) => Promise<Answer>;
  /** Requests from identity providers; `rest` is the path behind `oidc`. */
  readonly oidc: (request: OwnRequest, rest: readonly string[]) => Promise<Answer | null>;
  /** The API; `rest` is the path behind `v1`. */
  readonly api: (request: OwnRequest, rest: readonly string[]) => Promise<Answer | null>;
}

/** Longer than slow upstreams and a full publish take, and shorter than clients time out. */
const WAIT_MS = 9 * 60_000;

const RebuildSchema = z.strictObject({ page: z.string().max(256).optional() });

/** Creates the handler of `/-/…`; null: not found. */
export function createOwnRoutes(options: OwnRoutesOptions): (request: OwnRequest) => Promise<Answer | null> {
  return async (request) => {
    const [name = '', ...rest] = request.path.split('/');
    if (name === 'ops') return options.ops(request, rest);
    if (name === 'oidc') return options.oidc(request, rest);
    if (name === 'v1') return options.api(request, rest);
    if (name === 'hooks' && rest.length === 1)
      return request.method === 'POST' ? options.hooks(rest[0] ?? '', request) : jsonNotAllowed('POST');
    if (name === 'intake' && rest.length === 1)
      return request.method === 'POST' ? options.intake(request, rest[0] ?? '') : jsonNotAllowed('POST');
    if (rest.length > 0) return null;
    if (name === 'rebuild') return request.method === 'POST' ? rebuild(options, request) : jsonNotAllowed('POST');
    if (name !== 'health' && name !== 'ready' && name !== 'fresh' && name !== 'metrics') return null;
    if (request.method !== 'GET' && request.method !== 'HEAD') return jsonNotAllowed('GET, HEAD');
    if (name === 'health') return json(200, { status: 'ok' });
    if (name === 'ready') return verdict(options, request, { word: 'ready', reasons: await options.unreadiness() });
    if (name === 'fresh') return verdict(options, request, { word: 'fresh', reasons: await options.staleness() });
    return metrics(options, request);
  };
}

/** Everybody gets the status. The reasons need the token. */
function verdict(
  options: OwnRoutesOptions,
  request: OwnRequest,
  { word, reasons }: { readonly word: string; readonly reasons: readonly string[] },
): Answer {
  if (reasons.length === 0) return json(200, { status: word });
  const maySeeReasons = 'seesAll' in authorise(options, request);
  return json(503, { status: `not ${word}`, ...(maySeeReasons ? { reasons } : {}) });
}

/**
 * Needs the token, because names of upstreams are internal. The client's address isn't checked: a proxy on this machine may
 * forward anyone's request.
 */
async function metrics(options: OwnRoutesOptions, request: OwnRequest): Promise<Answer> {
  const operator = authorise(options, request);
  if (!('seesAll' in operator)) return operator;
  const { text, contentType } = await options.metrics();
  return whole(200, text, { 'content-type': contentType, 'cache-control': 'no-store' });
}

async function rebuild(options: OwnRoutesOptions, request: OwnRequest): Promise<Answer> {
  const operator = authorise(options, request);
  if (!('seesAll' in operator)) return operator;
  if (!operator.isAdmin) return json(403, { message: 'This token’s role may not rebuild; an admin’s may.' });
  if (!options.canRun) return servesOnly();
  const text = (await request.body()).toString('utf8').trim();
  const body = RebuildSchema.safeParse(text === '' ? {} : parsed(text));
  if (!body.success)
    return json(400, { message: 'The body must be a JSON object with an optional "page" (a page slug).' });
  const page = body.data.page ?? null;
  if (page !== null && !options.hasPage(page)) return json(404, { message: 'No such page.' });
  const { id, report } = options.submit(page, request, operator.actor);
  if ((request.query.get('wait') ?? '0') === '0')
    return json(202, { run: id, message: 'Run queued. Add ?wait=1 to wait for its report.' });
  try {
    const ended = await within(options.waitMs ?? WAIT_MS, report);
    if (ended !== null) return json(200, { run: id, report: ended });
    return json(202, { run: id, message: 'The run is still in progress. See /-/ops or the log for its result.' });
  } catch {
    // The engine has already logged the error, without secrets.
    return json(503, { run: id, message: 'The run ended without a report. Search the log for its id.' });
  }
}

/** Waits at most this long; null: not finished yet. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  const timeout = new AbortController();
  const late = wait(ms, null, { signal: timeout.signal, ref: false }).catch(() => null);
  try {
    return await Promise.race([promise, late]);
  } finally {
    timeout.abort();
  }
}

function servesOnly(): Answer {
  return json(409, {
    message: 'This process only serves pages. Send the request to the one that runs `pharos start`.',
  });
}

/** The operator behind the request's token, if they may see everything; otherwise the refusal. */
function authorise({ guard, now }: OwnRoutesOptions, request: OwnRequest): Operator | Answer {
  const given = bearerFrom(request.headers.authorization);
  // No token was sent, so nothing is counted.
  const verdict: ReturnType<OperatorGuard['check']> =
    given === '' ? { kind: 'wrong' } : guard.check(given, { address: request.clientAddress, now: now() });
  if (verdict.kind === 'right' && verdict.operator.seesAll) return verdict.operator;
  if (verdict.kind === 'limited') return limited(verdict.retryAfterMs, 'operator token');
  return json(
    401,
    { message: 'The operator token is missing or incorrect. Send it as Authorization: Bearer <token>.' },
    { 'www-authenticate': 'Bearer' },
  );
}

/** The response to a client that sent too many wrong secrets. */
export function limited(retryAfterMs: number, secret: string): Answer {
  const message = `Too many requests with an incorrect ${secret}. Try again later.`;
  return json(429, { message }, retryAfter(retryAfterMs));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// Webhooks of monitoring services, `POST /-/hooks/<upstream id>`. Their bodies aren't trusted: a webhook only
// triggers a query of the upstream.

interface Hook {
  readonly header: string;
  readonly secrets: readonly { readonly reveal: () => string }[];
}

/** Minimum time between two runs. Our own debounce, because packages read the clock themselves. */
const DEBOUNCE_MS = 10 * SECOND_MS;
/** Number of bodies remembered, to recognise duplicates. */
const REMEMBERED_MAX = 10_000;

/**
 * Creates the handler. Without a hook, the response is the same as for a wrong secret.
 *
 * @param hookOf  the hook of an upstream; null: it has none, or there is no such upstream
 * @param pull  queries the upstream and publishes, before waiting runs, and returns the id of the run; null: this process
 *   doesn't sync
 */
export function createHookHandler(
  guard: OperatorGuard,
  now: () => EpochMs,
  hookOf: (upstreamId: string) => Hook | null,
  pull: ((upstreamId: string, request: OwnRequest) => string) | null,
) {
  const turns = new Map<string, { lastAt: EpochMs; isTrailing: boolean }>();
  const seen = new LRUCache<string, true>({ max: REMEMBERED_MAX });

  /** The id of the run; null: the last one is too recent, so that a run follows a little later. */
  function soon(run: () => string, upstreamId: string): string | null {
    const turn = turns.get(upstreamId);
    const waitMs = turn === undefined ? 0 : turn.lastAt + DEBOUNCE_MS - now();
    if (turn === undefined || waitMs <= 0) {
      turns.set(upstreamId, { lastAt: now(), isTrailing: false });
      return run();
    }
    if (!turn.isTrailing) {
      turn.isTrailing = true;
      setTimeout(() => {
        turns.set(upstreamId, { lastAt: now(), isTrailing: false });
        run();
      }, waitMs).unref();
    }
    return null;
  }

  return async (upstreamId: string, request: OwnRequest): Promise<Answer> => {
    const hook = hookOf(upstreamId);
    const client = { address: request.clientAddress, now: now() };
    const verdict = guard.judge('hook', client, () => isAuthentic(request, hook));
    if (verdict.kind === 'limited') return limited(verdict.retryAfterMs, 'secret');
    if (verdict.kind === 'wrong')
      return json(401, { message: 'No such hook, or its secret header is missing or incorrect.' });
    if (pull === null) return servesOnly();
    const body = await request.body();
    const fingerprint = createHash('sha256').update(upstreamId).update('\0').update(body).digest('base64url');
    if (body.length > 0 && seen.has(fingerprint)) return json(200, { message: 'Duplicate notification; ignored.' });
    seen.set(fingerprint, true);
    const run = soon(() => pull(upstreamId, request), upstreamId);
    return json(202, { message: 'Notification accepted; the upstream will be queried.', run });
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

// `/-/oidc/…`: where identity providers send browsers back, and where they report ended sessions.

interface OidcRoutesOptions {
  readonly oidc: Oidc;
  readonly access: Pick<Access, 'returned'>;
  /** Handles the browser of an operator. */
  readonly returned: (request: OwnRequest) => Promise<Answer>;
  /** Called for every sign-in attempt, even if the page doesn't exist. */
  readonly onSignIn: (slug: string, result: SignInResult) => void;
  /** Path of the site, with a trailing slash. */
  readonly sitePath: () => string;
  readonly now: () => EpochMs;
}

/** Null: not found. */
export function createOidcRoutes(options: OidcRoutesOptions) {
  return async (request: OwnRequest): Promise<Answer | null> => {
    const { oidc } = options;
    const clients = [...new Set([oidc.client('visitors'), oidc.client('operators')])].filter((one) => one !== null);
    if (clients.length === 0) return null;
    if (request.path === LOGOUT_PATH) {
      if (request.method !== 'POST') return jsonNotAllowed('POST');
      const token = new URLSearchParams((await request.body()).toString('utf8')).get('logout_token') ?? '';
      const ended = await Promise.all(clients.map((client) => oidc.identities.endByToken(client, token)));
      return ended.includes(true) ? json(200, {}) : json(400, { error: 'invalid_request' });
    }
    if (request.path !== CALLBACK_PATH) return null;
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return json(405, { message: 'Method not allowed. Use GET.' }, { allow: 'GET, HEAD' });
    // Providers send browsers here after signing out too.
    if (!['code', 'error'].some((name) => request.query.has(name)))
      return {
        status: 303,
        headers: { location: request.isSiteHost ? options.sitePath() : '/', 'cache-control': NEVER_CACHED },
        body: null,
      };
    const asked = returnRequest(request, options.now());
    const place = oidc.pending(asked)?.place;
    if (place?.purpose === 'operators') return options.returned(request);
    const answer = await options.access.returned(asked);
    const result = signInResultOf(asked.path, answer);
    if (result !== null) options.onSignIn(place?.slug ?? '', result);
    return gateReply(answer);
  };
}
