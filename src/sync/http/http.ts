/**
 * Sends requests to upstreams, with what undici lacks: a total deadline besides its idle timeouts, a limit for unpacked bytes,
 * redirects only within the origin, and checks for truncated bodies.
 */

import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { isStatusError, type StatusError } from '../../errors.ts';
import { type EpochMs, HOUR_MS, SECOND_MS } from '../../model/time.ts';
import { createDispatcher, type Dispatcher } from '../../network/dispatcher.ts';
import { type ProxySettings, proxyText } from '../../network/proxy.ts';
import { ACCEPTED_ENCODINGS, dropBody, readBody } from './body.ts';
import type { HttpQuestion } from './http-faults.ts';
import {
  errorForStatus,
  ownWords,
  requestPlace,
  shapeError,
  tooOld,
  toStatusError,
  unreachable,
} from './http-faults.ts';
import { parseJson, plainText } from './json.ts';
import { isPrivateHost, leadsToPrivate, lookupPublic, privateAddress } from './public-only.ts';
import { parseHttpDate, parseRemaining, parseRetryAfter } from './retry-after.ts';

export interface HttpLimits {
  readonly connectMs: number;
  /** From sending the request to the last header. */
  readonly headersMs: number;
  /** Longest pause between two chunks of the body. */
  readonly idleMs: number;
  /** For one question, including redirects. */
  readonly totalMs: number;
  /** Size limit of a body, compressed and decompressed. */
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

export interface Http {
  /**
   * Sends one question and returns the answer.
   *
   * @throws UPSTREAM_UNREACHABLE, UPSTREAM_FAILED and UPSTREAM_LIMITED (both with `retryAt` if given), UPSTREAM_REFUSED,
   *   UPSTREAM_SHAPE, CONFIG_INVALID for an address or header that can't be sent, and whatever `permit` throws. Messages
   *   contain origin and path, never query, headers or body.
   */
  readonly request: (question: HttpQuestion, context: HttpContext) => Promise<HttpAnswer>;
  readonly close: () => Promise<void>;
}

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
  /** Whether there may be a proxy, which resolves names itself. */
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
      // After a redirect, the tag belongs to another response.
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
  /** False: it was redirected. */
  readonly isFirst: boolean;
  /** The conditional headers, with which a 304 is a valid answer. */
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
  const ageMs = readAge(headers['age']);
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

// Redirects: followed within the origin, refused elsewhere.

/** The target of a redirect; null if it isn't one. Credentials are never sent to another origin, and a POST is never repeated. */
function redirectTarget(
  response: {
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    readonly body: Readable;
  },
  { url, place, question }: { readonly url: URL; readonly place: string; readonly question: HttpQuestion },
): URL | null {
  const { statusCode, headers } = response;
  if (![301, 302, 303, 307, 308].includes(statusCode)) return null;
  const location = headers['location'];
  const target = typeof location === 'string' ? URL.parse(location, url) : null;
  const fault =
    question.method !== 'GET'
      ? `a ${question.method} request is not redirected`
      : target === null
        ? 'without a target address'
        : target.origin !== url.origin || target.username !== ''
          ? 'to another origin, which must not get the key'
          : null;
  if (fault === null && target !== null) return target;
  dropBody(response.body);
  throw refusedRedirect(place, statusCode, fault ?? 'without a target address');
}

/** The error for a redirect that isn't followed, with the reason. */
function refusedRedirect(place: string, status: number, words: string): StatusError {
  return errorForStatus(`${place}: redirect rejected (${words}); set the final address in the configuration`, {
    status,
    retryAt: null,
  });
}

// Conditional requests: remembers the validators and the parsed body of earlier answers.

/** Enough for three lists of more than eighty upstreams. */
const ANSWERS_MAX = 256;
/** After this time the full answer is requested again, in case a server forgets to change its tag. */
const BELIEVED_MS = HOUR_MS;

interface Remembered {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly payload: unknown;
  readonly at: EpochMs;
}

interface Revalidation {
  /** Headers that make the request conditional; empty if it isn't conditional or nothing is remembered. */
  readonly headersFor: (question: HttpQuestion, now: EpochMs) => Readonly<Record<string, string>>;
  /** The previous answer, for a 304; undefined: there is none, so a 304 is an error. */
  readonly recall: (question: HttpQuestion) => { readonly payload: unknown } | undefined;
  readonly remember: (
    question: HttpQuestion,
    answer: { readonly headers: Readonly<Record<string, unknown>>; readonly payload: unknown; readonly at: EpochMs },
  ) => void;
}

/** Remembers answers in memory, by address and headers. */
function createRevalidation(): Revalidation {
  const answers = new LRUCache<string, Remembered>({ max: ANSWERS_MAX });
  return {
    headersFor: (question, now) => {
      const known = question.isConditional === true ? answers.get(cacheKey(question)) : undefined;
      if (known === undefined || now - known.at > BELIEVED_MS || now < known.at) return {};
      return {
        ...(known.etag === null ? {} : { 'if-none-match': known.etag }),
        ...(known.lastModified === null ? {} : { 'if-modified-since': known.lastModified }),
      };
    },
    recall: (question) => (question.isConditional === true ? answers.get(cacheKey(question)) : undefined),
    remember: (question, { headers, payload, at }) => {
      if (question.isConditional !== true || question.method !== 'GET') return;
      const etag = headerValue(headers['etag']);
      const lastModified = headerValue(headers['last-modified']);
      if (etag === null && lastModified === null) answers.delete(cacheKey(question));
      else answers.set(cacheKey(question), { etag, lastModified, payload, at });
    },
  };
}

/** Secrets are among the headers, so only a digest is kept. */
function cacheKey({ url, headers }: HttpQuestion): string {
  return hash('sha256', JSON.stringify([url, Object.entries(headers).toSorted()]));
}

/** Validators are sent back unchanged. Those that don't fit into a header are ignored. */
function headerValue(value: unknown): string | null {
  return typeof value === 'string' && /^[\x20-\x7e]{1,512}$/.test(value) ? value : null;
}

// Reads bodies: complete JSON, text or bytes of the expected type.

interface WireAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

interface PayloadRules extends Pick<HttpQuestion, 'reads' | 'allowEmpty' | 'acceptAnyType'> {
  /** The request, for messages. */
  readonly place: string;
  readonly bytesMax: number;
}

/**
 * The parsed body; null if it is empty or not JSON, and that is allowed.
 *
 * @throws UPSTREAM_SHAPE, and whatever the stream fails with
 */
async function readPayload({ headers, body }: WireAnswer, rules: PayloadRules): Promise<unknown> {
  const { place, bytesMax, allowEmpty } = rules;
  const type = String(headers['content-type'] ?? '');
  const isText = rules.reads === 'text' || rules.reads === 'bytes';
  // The type is checked before the body is read.
  const isTypeRefused = !isText && rules.acceptAnyType !== true && !isJsonType(type);
  if (isTypeRefused && allowEmpty !== true) {
    dropBody(body);
    throw shapeError(place, `the response is ${typeWords(type)}, not JSON`);
  }
  const encoding = headers['content-encoding'];
  const bytes = await readBody(body, {
    encoding: Array.isArray(encoding) ? encoding.join(',') : encoding,
    bytesMax,
    place,
  });
  if (allowEmpty === true && (bytes.length === 0 || isTypeRefused)) return null;
  const isEndKnown = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (rules.reads === 'bytes') return wholeBytes(bytes, isEndKnown, place);
  return isText ? readText(bytes, isEndKnown, place) : readJson(bytes, isEndKnown, place);
}

/** @param isEndKnown  false: the body ends with the connection, so a truncated body looks complete */
function wholeBytes(bytes: Buffer, isEndKnown: boolean, place: string): Buffer {
  if (!isEndKnown) throw shapeError(place, 'it is not clear whether the response is complete');
  return bytes;
}

function readText(bytes: Buffer, isEndKnown: boolean, place: string): string {
  return plainText(new TextDecoder().decode(wholeBytes(bytes, isEndKnown, place)));
}

function readJson(bytes: Buffer, isEndKnown: boolean, place: string): unknown {
  const parsed = parseJson(bytes);
  if (!parsed.isValid) throw shapeError(place, `the response ${parsed.reason}`);
  // A truncated number is still a number, but a truncated list or object isn't valid.
  const closesItself = typeof parsed.value === 'object' && parsed.value !== null;
  if (!closesItself && !isEndKnown) throw shapeError(place, 'it is not clear whether the response is complete');
  return parsed.value;
}

/** By hand, because nothing else of the header is used. */
function isJsonType(type: string): boolean {
  return /^(application|text)\/([a-z0-9.!#$&^_-]+\+)?json\s*(;|$)/i.test(type.trim());
}

/** Only characters that a type may contain, because the header is untrusted. */
function typeWords(type: string): string {
  return /^[a-z]+\/[a-z0-9.+-]{1,60}/i.exec(type)?.[0] ?? 'of an unknown type';
}
