/**
 * Sends requests to upstreams, with what undici lacks: a total deadline besides its idle timeouts, a limit for unpacked bytes,
 * redirects only within the origin, and checks for truncated bodies.
 */

import { isStatusError, type StatusError } from '../../errors.ts';
import { type EpochMs, SECOND_MS } from '../../model/time.ts';
import { createDispatcher, type Dispatcher } from '../../network/dispatcher.ts';
import { type ProxySettings, proxyText } from '../../network/proxy.ts';
import { ACCEPTED_ENCODINGS, dropBody, readBody } from './body.ts';
import { errorForStatus, requestPlace, tooOld, toStatusError, unreachable } from './http-faults.ts';
import type { HttpQuestion } from './http-question.ts';
import { parseJson } from './json.ts';
import { ownWords } from './own-words.ts';
import { readPayload } from './payload.ts';
import { isPrivateHost, leadsToPrivate, lookupPublic, privateAddress } from './public-only.ts';
import { redirectTarget, refusedRedirect } from './redirects.ts';
import { parseHttpDate, parseRemaining, parseRetryAfter } from './retry-after.ts';
import { createRevalidation, type Revalidation } from './revalidation.ts';

export interface HttpLimits {
  readonly connectMs: number;
  /** From the request sent to the last header. */
  readonly headersMs: number;
  /** Without a byte of the body. */
  readonly idleMs: number;
  /** One question from its first byte to its last, redirects included. */
  readonly totalMs: number;
  /** Of a body, on the wire and unpacked. */
  readonly bytesMax: number;
  readonly redirectsMax: number;
  /** Sockets to one origin. */
  readonly connectionsMax: number;
}

export const HTTP_LIMITS: HttpLimits = Object.freeze({
  connectMs: 5 * SECOND_MS,
  headersMs: 10 * SECOND_MS,
  idleMs: 10 * SECOND_MS,
  totalMs: 30 * SECOND_MS,
  bytesMax: 16 * 1024 * 1024,
  redirectsMax: 3,
  connectionsMax: 8,
});

/** An error page is read to free the connection, no further than this. */
const DISCARDED_BYTES_MAX = 64 * 1024;
/** And no longer than this: the status is known already. */
const DISCARD_MS = SECOND_MS;

export interface HttpContext {
  readonly now: () => EpochMs;
  /** Stops the request, for instance when the process ends. */
  readonly signal?: AbortSignal;
  /** Awaited before every request that leaves, those of a redirect included; throws a StatusError when none may leave. */
  readonly permit?: () => Promise<void>;
  /** Certificates (PEM) trusted for this request instead of the usual ones. */
  readonly ca?: string;
  /** A total deadline below the usual one, ms from the first permit. */
  readonly totalMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** The parsed body (text when so asked), null when it is empty and may be. */
  readonly payload: unknown;
  /** When it was asked, by our clock. */
  readonly at: EpochMs;
  /** How far the upstream's clock is ahead of ours, to a second; null when it does not tell. */
  readonly clockSkewMs: number | null;
  /** How many more requests it says that it takes for now (`X-RateLimit-Remaining`); null: it does not say. */
  readonly remaining: number | null;
}

export interface Http {
  /**
   * The answer to one question.
   *
   * @throws UPSTREAM_UNREACHABLE, UPSTREAM_FAILED, UPSTREAM_REFUSED, UPSTREAM_LIMITED (with `retryAt` when it says so;
   *   so may UPSTREAM_FAILED), UPSTREAM_SHAPE, CONFIG_INVALID for an address or header that cannot be sent, and
   *   whatever `permit` throws. Messages name origin and path, never query, header or body.
   */
  readonly request: (question: HttpQuestion, context: HttpContext) => Promise<HttpAnswer>;
  readonly close: () => Promise<void>;
}

export interface HttpOptions {
  readonly limits?: Partial<HttpLimits>;
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string;
  /** True: only public addresses are reached, whatever a name leads to. Default: all are. */
  readonly isPublicOnly?: boolean;
  /** Default: none. */
  readonly proxy?: ProxySettings;
}

/** Makes the one way out to upstreams; it keeps connections open until it is closed. */
export function createHttp(options: HttpOptions = {}): Http {
  const limits: HttpLimits = { ...HTTP_LIMITS, ...options.limits };
  const isPublicOnly = options.isPublicOnly ?? false;
  const dispatchers = new Map<string | undefined, Dispatcher>();
  const dispatcherFor = (ca: string | undefined): Dispatcher =>
    dispatchers.getOrInsertComputed(ca, () =>
      createDispatcher({ ...limits, ca, proxy: options.proxy, lookup: isPublicOnly ? lookupPublic : undefined }),
    );
  const revalidation = createRevalidation();
  return {
    request: (question, context) =>
      request(dispatcherFor(context.ca ?? options.ca), limits, {
        question,
        context,
        isPublicOnly,
        isProxied: options.proxy !== undefined && proxyText(options.proxy) !== null,
        revalidation,
      }),
    close: async () => {
      await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

interface Exchange {
  readonly question: HttpQuestion;
  readonly context: HttpContext;
  readonly isPublicOnly: boolean;
  /** A proxy may be between, which looks names up by itself. */
  readonly isProxied: boolean;
  readonly revalidation: Revalidation;
}

async function request(agent: Dispatcher, limits: HttpLimits, exchange: Exchange): Promise<HttpAnswer> {
  const { question, context } = exchange;
  const start = parseAddress(question);
  const place = requestPlace(question.method, start);
  await context.permit?.();
  const deadline = new AbortController();
  const totalMs = Math.min(limits.totalMs, context.totalMs ?? limits.totalMs);
  const timer = setTimeout(() => deadline.abort(), totalMs);
  const signal = context.signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, context.signal]);
  const at = context.now();
  try {
    let url = start;
    for (let redirects = 0; ; redirects += 1) {
      if (exchange.isPublicOnly && (isPrivateHost(url) || (exchange.isProxied && (await leadsToPrivate(url)))))
        throw privateAddress();
      // Where it was sent on to, another answer has that tag.
      const conditions = redirects === 0 ? exchange.revalidation.headersFor(question, at) : {};
      const response = await agent.request(toRequest(question, url, { signal, conditions }));
      const target = redirectTarget(response, { url, place, question });
      if (target === null)
        return await toAnswer(response, { ...exchange, place, at, limits, isFirst: redirects === 0, conditions });
      await discard(response);
      if (redirects === limits.redirectsMax)
        throw refusedRedirect(place, response.statusCode, `more than ${limits.redirectsMax} redirects`);
      await context.permit?.();
      url = target;
    }
  } catch (error) {
    if (isStatusError(error)) throw error;
    if (deadline.signal.aborted)
      throw unreachable(place, 'timeout', { words: `no complete response within ${totalMs / SECOND_MS} s` });
    if (context.signal?.aborted === true) throw unreachable(place, 'stopped', { words: 'the request was cancelled' });
    throw toStatusError(error, place);
  } finally {
    clearTimeout(timer);
  }
}

function parseAddress(question: HttpQuestion): URL {
  const url = URL.parse(question.url);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '') return url;
  throw unsendable(question.method);
}

function unsendable(method: string): StatusError {
  return toStatusError(Object.assign(new Error(), { code: 'UND_ERR_INVALID_ARG' }), `${method} (unreadable address)`);
}

function toRequest(
  question: HttpQuestion,
  url: URL,
  { signal, conditions }: { readonly signal: AbortSignal; readonly conditions: Readonly<Record<string, string>> },
): { origin: string } & Dispatcher.RequestOptions {
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: question.method,
    headers: {
      accept: question.reads === 'text' || question.reads === 'bytes' ? '*/*' : 'application/json',
      'accept-encoding': ACCEPTED_ENCODINGS,
      'user-agent': 'Pharos',
      ...(question.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...conditions,
      ...Object.fromEntries(Object.entries(question.headers).map(([name, value]) => [name.toLowerCase(), value])),
    },
    body: question.body === undefined ? null : JSON.stringify(question.body),
    signal,
  };
}

interface Reading extends Exchange {
  readonly place: string;
  readonly at: EpochMs;
  readonly limits: HttpLimits;
  /** False: it was sent on to another address. */
  readonly isFirst: boolean;
  /** Headers that it was asked with, under which nothing new is an answer. */
  readonly conditions: Readonly<Record<string, string>>;
}

async function toAnswer(response: Dispatcher.ResponseData, reading: Reading): Promise<HttpAnswer> {
  const { statusCode: status, headers } = response;
  const { question, context, place, at, limits, revalidation, isFirst, conditions } = reading;
  const now = context.now();
  const theirNow = parseHttpDate(typeof headers['date'] === 'string' ? headers['date'] : '', now);
  const facts = {
    at,
    clockSkewMs: theirNow === null ? null : theirNow - now,
    remaining: parseRemaining(headers['x-ratelimit-remaining']),
  };
  const ageMs = ageOf(headers['age']);
  if (status < 400 && question.maxAgeMs !== undefined && ageMs > question.maxAgeMs) {
    await discard(response);
    throw tooOld(place, ageMs);
  }
  const isSame = status === 304 && Object.keys(conditions).length > 0;
  const before = isSame ? revalidation.recall(question) : undefined;
  if (before !== undefined) {
    await discard(response);
    return { ...facts, status: 200, payload: before.payload };
  }
  if (!((status >= 200 && status < 300) || question.acceptStatuses?.includes(status) === true)) {
    const words = await readWords(response, Object.values(question.headers));
    throw errorForStatus(place, { status, retryAt: parseRetryAfter(headers['retry-after'], { now, theirNow }), words });
  }
  const payload = await readPayload(response, { ...question, place, bytesMax: limits.bytesMax });
  if (isFirst) revalidation.remember(question, { headers, payload, at });
  return { ...facts, status, payload };
}

/** How long caches on the way have kept it (RFC 9111, 5.1); 0 where none says so. */
function ageOf(header: unknown): number {
  return typeof header === 'string' && /^\d{1,10}$/.test(header) ? Number(header) * SECOND_MS : 0;
}

/** What an error's JSON says; null: nothing. How the reading of an error page ends is of no interest. */
async function readWords(response: Dispatcher.ResponseData, secrets: readonly string[]): Promise<string | null> {
  const { headers, body } = response;
  if (!String(headers['content-type']).includes('json')) {
    await discard(response);
    return null;
  }
  const timer = setTimeout(() => dropBody(body), DISCARD_MS);
  try {
    const encoding = headers['content-encoding'];
    const bounds = {
      bytesMax: DISCARDED_BYTES_MAX,
      place: '',
      encoding: Array.isArray(encoding) ? encoding[0] : encoding,
    };
    const parsed = parseJson(await readBody(body, bounds));
    return parsed.isValid ? ownWords(parsed.value, secrets) : null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Frees the connection. */
async function discard(response: Dispatcher.ResponseData): Promise<void> {
  const dumped = response.body.dump({ limit: DISCARDED_BYTES_MAX, signal: AbortSignal.timeout(DISCARD_MS) });
  await dumped.catch(() => undefined);
}
