/**
 * Sends requests to upstreams, with what undici lacks: a total deadline besides its idle timeouts, a limit for unpacked bytes,
 * redirects only within the origin, and checks for truncated bodies.
 */

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isStatusError, type StatusError } from '../../errors.ts';
import { type EpochMs, HOUR_MS, SECOND_MS } from '../../model/time.ts';
import { createDispatcher, type Dispatcher, headerText } from '../../network/dispatcher.ts';
import { type ProxySettings, proxyText } from '../../network/proxy.ts';
import { ACCEPTED_ENCODINGS, dropBody, readBody } from './body.ts';
import {
  errorForStatus,
  type HttpQuestion,
  ownWords,
  requestPlace,
  shapeError,
  tooOld,
  toStatusError,
  unreachable,
  unsendable,
} from './http-faults.ts';
import { parseJson, plainText } from './json.ts';
import { isPrivateHost, leadsToPrivate, lookupPublic, privateAddress } from './public-only.ts';
import { parseHttpDate, parseRemaining, parseRetryAfter } from './retry-after.ts';

export const HTTP_LIMITS = Object.freeze({
  connectMs: 5 * SECOND_MS,
  /** From sending the request to the last header. */
  headersMs: 10 * SECOND_MS,
  /** Longest pause between two chunks of the body. */
  idleMs: 10 * SECOND_MS,
  /** For one question, including redirects. */
  totalMs: 30 * SECOND_MS,
  /** Size limit of a body, compressed and decompressed. */
  bytesMax: 16 * 1024 * 1024,
  redirectsMax: 3,
  /** Sockets to one origin. */
  connectionsMax: 8,
});
export type HttpLimits = Readonly<Record<keyof typeof HTTP_LIMITS, number>>;

/** How much of an error page is read to free the connection. */
const DISCARDED_BYTES_MAX = 64 * 1024;
/** And for how long, because the status is already known. */
const DISCARD_MS = SECOND_MS;

export interface HttpContext {
  readonly now: () => EpochMs;
  /** Aborts the request, for example when the process ends. */
  readonly signal?: AbortSignal;
  /** Awaited before each request, including redirected ones. Throws a StatusError if the request must not be sent. */
  readonly permit?: () => Promise<void>;
  /** Certificates (PEM) trusted for this request instead of the usual ones. */
  readonly ca?: string;
  /** A shorter total deadline, in milliseconds from the first permit. */
  readonly totalMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** The parsed body, or text if requested; null if it is empty and that is allowed. */
  readonly payload: unknown;
  /** When the request was sent, by our clock. */
  readonly at: EpochMs;
  /** How far the upstream's clock is ahead of ours, to a second; null: not known. */
  readonly clockSkewMs: number | null;
  /** Requests left by its own count (`X-RateLimit-Remaining`); null: not given. */
  readonly remaining: number | null;
}

export type Http = ReturnType<typeof createHttp>;

export interface HttpOptions {
  readonly limits?: Partial<HttpLimits>;
  /** Certificates (PEM) trusted instead of the system's. */
  readonly ca?: string;
  /** True: connects to public addresses only, whatever a name resolves to. Default: to all. */
  readonly isPublicOnly?: boolean;
  /** Default: none. */
  readonly proxy?: ProxySettings;
}

/** Creates the client for upstreams. It keeps connections open until it is closed. */
export function createHttp(options: HttpOptions = {}) {
  const client = createClient(options);
  return {
    /**
     * Sends one question and returns the answer.
     *
     * @throws UPSTREAM_UNREACHABLE, UPSTREAM_FAILED and UPSTREAM_LIMITED (both with `retryAt` if given), UPSTREAM_REFUSED,
     *   UPSTREAM_SHAPE, CONFIG_INVALID for an address or header that can't be sent, and whatever `permit` throws. Messages
     *   contain origin and path, never query, headers or body.
     */
    request: (question: HttpQuestion, context: HttpContext) => request(client, question, context),
    close: async () => {
      await Promise.all([...client.dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

type Client = ReturnType<typeof createClient>;

function createClient({ isPublicOnly = false, proxy, ...options }: HttpOptions) {
  const limits: HttpLimits = { ...HTTP_LIMITS, ...options.limits };
  const lookup = isPublicOnly ? lookupPublic : undefined;
  const dispatchers = new Map<string | undefined, Dispatcher>();
  return {
    ...{ limits, isPublicOnly, dispatchers },
    /** Whether there may be a proxy, which resolves names itself. */
    isProxied: proxy !== undefined && proxyText(proxy) !== null,
    revalidation: createRevalidation(),
    /** Certificates that are not given are those of the client. */
    dispatcherFor: (ca = options.ca) =>
      dispatchers.getOrInsertComputed(ca, () => createDispatcher({ ...limits, ca, proxy, lookup })),
  };
}

async function request(client: Client, question: HttpQuestion, context: HttpContext): Promise<HttpAnswer> {
  const { limits, revalidation } = client;
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
      if (client.isPublicOnly && (isPrivateHost(url) || (client.isProxied && (await leadsToPrivate(url)))))
        throw privateAddress();
      // After a redirect, the tag belongs to another response.
      const conditions = redirects === 0 ? revalidation.headersFor(question, at) : null;
      const sent = toRequest(question, url, conditions ?? {});
      const response = await client.dispatcherFor(context.ca).request({ ...sent, signal });
      const target = redirectTarget(response, { url, place, question });
      if (target === null) return await toAnswer(response, { client, question, context, place, at, conditions });
      await discard(response);
      if (redirects === limits.redirectsMax)
        throw refusedRedirect(place, response.statusCode, `more than ${limits.redirectsMax} redirects`);
      await context.permit?.();
      url = target;
    }
  } catch (error) {
    if (isStatusError(error)) throw error;
    if (deadline.signal.aborted)
      throw unreachable(place, 'timeout', `no complete response within ${totalMs / SECOND_MS} s`);
    if (context.signal?.aborted === true) throw unreachable(place, 'stopped', 'the request was cancelled');
    throw toStatusError(error, place);
  } finally {
    clearTimeout(timer);
  }
}

function parseAddress({ method, ...question }: HttpQuestion): URL {
  const url = URL.parse(question.url);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '') return url;
  throw unsendable(`${method} (unreadable address)`);
}

type Conditions = Readonly<Record<string, string>>;

function toRequest(question: HttpQuestion, url: URL, conditions: Conditions) {
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
  };
}

interface Exchange {
  readonly client: Client;
  readonly question: HttpQuestion;
  readonly context: HttpContext;
  readonly place: string;
  readonly at: EpochMs;
  /** The conditional headers, with which a 304 is a valid answer; null: it was redirected. */
  readonly conditions: Conditions | null;
}

async function toAnswer(response: Dispatcher.ResponseData, exchange: Exchange): Promise<HttpAnswer> {
  const { statusCode: status, headers } = response;
  const { client, question, context, place, at, conditions } = exchange;
  const now = context.now();
  const theirNow = parseHttpDate(typeof headers['date'] === 'string' ? headers['date'] : '', now);
  const facts = {
    at,
    clockSkewMs: theirNow === null ? null : theirNow - now,
    remaining: parseRemaining(headers['x-ratelimit-remaining']),
  };
  const ageMs = readAge(headers['age']);
  if (status < 400 && question.maxAgeMs !== undefined && ageMs > question.maxAgeMs) {
    await discard(response);
    throw tooOld(place, ageMs);
  }
  const isSame = status === 304 && Object.keys(conditions ?? {}).length > 0;
  const before = isSame ? client.revalidation.recall(question) : undefined;
  if (before !== undefined) {
    await discard(response);
    return { ...facts, status: 200, payload: before.payload };
  }
  if (!((status >= 200 && status < 300) || question.acceptStatuses?.includes(status) === true)) {
    const words = await readWords(response, Object.values(question.headers));
    throw errorForStatus(place, { status, retryAt: parseRetryAfter(headers['retry-after'], { now, theirNow }), words });
  }
  const payload = await readPayload(response, question, { place, bytesMax: client.limits.bytesMax });
  if (conditions !== null) client.revalidation.remember(question, { headers, payload, at });
  return { ...facts, status, payload };
}

/** How long caches have kept the response (RFC 9111, 5.1); 0 if not given. */
function readAge(header: unknown): number {
  return typeof header === 'string' && /^\d{1,10}$/.test(header) ? Number(header) * SECOND_MS : 0;
}

/** The message in the JSON of an error; null if there is none. Failures to read it are ignored. */
async function readWords(response: Dispatcher.ResponseData, secrets: readonly string[]): Promise<string | null> {
  const { headers, body } = response;
  if (!String(headers['content-type']).includes('json')) {
    await discard(response);
    return null;
  }
  const timer = setTimeout(() => dropBody(body), DISCARD_MS);
  try {
    const encoding = [headers['content-encoding']].flat()[0];
    const parsed = parseJson(await readBody(body, encoding, DISCARDED_BYTES_MAX));
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

// Redirects: followed within the origin, refused elsewhere.

/** The target of a redirect; null if it isn't one. Credentials are never sent to another origin, and a POST is never repeated. */
function redirectTarget(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { url, place, question }: { readonly url: URL; readonly place: string; readonly question: HttpQuestion },
): URL | null {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return null;
  const location = headers['location'];
  const target = typeof location === 'string' ? URL.parse(headerText(location), url) : null;
  const fault =
    question.method !== 'GET'
      ? `a ${question.method} request is not redirected`
      : target === null
        ? 'without a target address'
        : target.origin !== url.origin || target.username !== ''
          ? 'to another origin, which must not get the key'
          : null;
  if (fault === null) return target;
  dropBody(body);
  throw refusedRedirect(place, statusCode, fault);
}

/** The error for a redirect that isn't followed, with the reason. */
function refusedRedirect(place: string, status: number, words: string): StatusError {
  const refused = `${place}: redirect rejected (${words}); set the final address in the configuration`;
  return errorForStatus(refused, { status, retryAt: null });
}

// Conditional requests: remembers the validators and the parsed body of earlier answers.

/** Enough for three lists of more than eighty upstreams. */
const ANSWERS_MAX = 256;
/** After this time the full answer is requested again, in case a server forgets to change its tag. */
const BELIEVED_MS = HOUR_MS;

interface Remembered {
  /** With the validators of the answer. */
  readonly conditions: Conditions;
  readonly payload: unknown;
  readonly at: EpochMs;
}

/** Remembers answers in memory, by address and headers. */
function createRevalidation() {
  const answers = new LRUCache<string, Remembered>({ max: ANSWERS_MAX });
  /** The previous answer, for a 304; undefined: there is none, so a 304 is an error. */
  const recall = (question: HttpQuestion): Remembered | undefined =>
    question.isConditional === true ? answers.get(cacheKey(question)) : undefined;
  return {
    recall,
    /** Headers that make the request conditional; empty if it isn't conditional or nothing is remembered. */
    headersFor: (question: HttpQuestion, now: EpochMs): Conditions => {
      const known = recall(question);
      return known === undefined || now - known.at > BELIEVED_MS || now < known.at ? {} : known.conditions;
    },
    remember: (
      question: HttpQuestion,
      { headers, payload, at }: { headers: Readonly<Record<string, unknown>>; payload: unknown; at: EpochMs },
    ): void => {
      if (question.isConditional !== true || question.method !== 'GET') return;
      const conditions = {
        ...condition('if-none-match', headers['etag']),
        ...condition('if-modified-since', headers['last-modified']),
      };
      if (Object.keys(conditions).length === 0) answers.delete(cacheKey(question));
      else answers.set(cacheKey(question), { conditions, payload, at });
    },
  };
}

/** Secrets are among the headers, so only a digest is kept. */
function cacheKey({ url, headers }: HttpQuestion): string {
  return hash('sha256', JSON.stringify([url, Object.entries(headers).toSorted()]));
}

/** Validators are sent back unchanged. Those that don't fit into a header are ignored. */
function condition(name: string, value: unknown): Conditions {
  return typeof value === 'string' && /^[\x20-\x7e]{1,512}$/.test(value) ? { [name]: value } : {};
}

// Reads bodies: complete JSON, text or bytes of the expected type.

/**
 * The parsed body; null if it is empty or not JSON, and that is allowed.
 *
 * @throws UPSTREAM_SHAPE, and whatever the stream fails with
 */
async function readPayload(
  { headers, body }: Dispatcher.ResponseData,
  { reads, allowEmpty, acceptAnyType }: HttpQuestion,
  { place, bytesMax }: { readonly place: string; readonly bytesMax: number },
): Promise<unknown> {
  const type = String(headers['content-type'] ?? '');
  const isJson = reads !== 'text' && reads !== 'bytes';
  // The type is checked before the body is read.
  const isTypeRefused = isJson && acceptAnyType !== true && !isJsonType(type);
  if (isTypeRefused && allowEmpty !== true) {
    dropBody(body);
    throw shapeError(place, `the response is ${typeWords(type)}, not JSON`);
  }
  const encoding = [headers['content-encoding'] ?? []].flat().join(',');
  const bytes = await readBody(body, encoding, bytesMax, place);
  if (allowEmpty === true && (bytes.length === 0 || isTypeRefused)) return null;
  const parsed = isJson ? parseJson(bytes) : null;
  if (parsed?.isValid === false) throw shapeError(place, `the response ${parsed.reason}`);
  // Where the body ends with the connection, a truncated one looks complete. A truncated number is still a number, but a
  // truncated list or object isn't valid.
  const closesItself = typeof parsed?.value === 'object' && parsed.value !== null;
  const isEndKnown = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (!closesItself && !isEndKnown) throw shapeError(place, 'it is not clear whether the response is complete');
  if (parsed !== null) return parsed.value;
  return reads === 'bytes' ? bytes : plainText(new TextDecoder().decode(bytes));
}

/** By hand, because nothing else of the header is used. */
function isJsonType(type: string): boolean {
  return /^(application|text)\/([a-z0-9.!#$&^_-]+\+)?json\s*(;|$)/i.test(type.trim());
}

/** Only characters that a type may contain, because the header is untrusted. */
function typeWords(type: string): string {
  return /^[a-z]+\/[a-z0-9.+-]{1,60}/i.exec(type)?.[0] ?? 'of an unknown type';
}
