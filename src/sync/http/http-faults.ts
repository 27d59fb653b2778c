/** Turns failed requests to upstreams into errors, each with a code and a sentence for the log. */

import { type ErrorCode, isStatusError, StatusError } from '../../errors.ts';
import { type EpochMs, MINUTE_MS } from '../../model/time.ts';
import { type Fault, networkFault } from '../../network/faults.ts';
import type { Question } from '../connector.ts';

/** The part of a question that goes over the wire. */
export type HttpQuestion = Omit<Question<unknown>, 'name' | 'priority' | 'schema' | 'isRepeatable' | 'reads'> & {
  readonly reads?: Question<unknown>['reads'] | 'bytes';
};

const ASK_OWNER = 'Check that it is running and can be reached from here.';

/** OpenSSL and Node have many names for these. None is ever ignored. */
const TLS_CODE = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

/** undici's message when a proxy refuses to open a tunnel. */
const PROXY_REFUSAL = /^Proxy response \((\d{3})\)/;

/** The target of a request, safe to log: method, origin and path, without user and query. */
export function requestPlace(method: string, url: URL): string {
  return `${method} ${url.origin === 'null' ? url.protocol : url.origin}${url.pathname}`;
}

/** Converts an error of the network layer. */
export function toStatusError(error: unknown, place: string): StatusError {
  if (isStatusError(error)) return error;
  const { code, fault, words } = networkFault(error);
  if (code === 'UND_ERR_INVALID_ARG') return unsendable(place);
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || (error instanceof Error && error.name === 'HTTPParserError'))
    return shapeError(place, 'the response is not valid HTTP');
  const proxyStatus = PROXY_REFUSAL.exec(error instanceof Error ? error.message : '')?.[1];
  if (proxyStatus !== undefined) {
    const refused = `the proxy refused to connect (status ${proxyStatus}). Check HTTPS_PROXY, its user and password, and NO_PROXY`;
    return unreachable(place, 'connect', refused, error);
  }
  if (TLS_CODE.test(code)) {
    return new StatusError({
      code: 'UPSTREAM_UNREACHABLE',
      message: `${place}: TLS certificate or handshake rejected (${code}). Renew or fix the upstream’s certificate. If it is signed by your own CA, set ca on this upstream (docs/network.md). Pharos never skips this check.`,
      cause: error,
      context: { fault: 'tls', cause: code },
    });
  }
  return unreachable(place, fault, words, error);
}

/** For addresses and headers that can't be sent. */
export function unsendable(place: string): StatusError {
  const message = `${place}: the address or a header contains characters that HTTP does not allow. Check the key or password for line breaks.`;
  return new StatusError({ code: 'CONFIG_INVALID', message, context: { fault: 'address' } });
}

/** For missing and incomplete responses. */
export function unreachable(place: string, fault: Fault, words: string, cause?: unknown): StatusError {
  return new StatusError({
    code: 'UPSTREAM_UNREACHABLE',
    message: `${place}: ${words}. ${ASK_OWNER}`,
    cause,
    context: { fault },
  });
}

/** For responses that can't be read. */
export function shapeError(place: string, words: string, own: string | null = null): StatusError {
  const [said, advice] =
    own === null ? [words, ' Check that the address points to the API.'] : [`it answered with an error: ${own}`, ''];
  const message = `${place}: ${said}. The last good data is kept.${advice}`;
  return new StatusError({ code: 'UPSTREAM_SHAPE', message });
}

const STATUS_WORDS: Readonly<Record<number, string>> = {
  400: 'it did not understand the request',
  401: 'the key or password was rejected; check it, and that it has not expired',
  403: 'the key is not allowed to read this; grant it access',
  404: 'there is nothing at this address; check the base address',
  405: 'this address does not accept such requests; check the base address',
  408: 'it waited too long for the request',
  410: 'this address no longer exists; check the base address',
  429: 'too many requests; Pharos waits as long as the upstream asks',
};

/** The error for an unexpected status: 429 is limited, 408 and 5xx failed, and all others refused. */
export function errorForStatus(
  place: string,
  { status, retryAt, words: own = null }: { status: number; retryAt: EpochMs | null; words?: string | null },
): StatusError {
  const code: ErrorCode =
    status === 429 ? 'UPSTREAM_LIMITED' : status === 408 || status >= 500 ? 'UPSTREAM_FAILED' : 'UPSTREAM_REFUSED';
  const words = STATUS_WORDS[status] ?? (status >= 500 ? 'it failed' : 'unexpected status');
  return new StatusError({
    code,
    message: `${place}: status ${status}, ${words}.${own === null ? '' : ` It says: ${own}`}`,
    context: { status },
    ...(retryAt === null ? {} : { retryAt }),
  });
}

/** The error for a response from a cache that is too old to be trusted. */
export function tooOld(place: string, ageMs: number): StatusError {
  const minutes = Math.floor(ageMs / MINUTE_MS);
  const message = `${place}: a cache in front of it returned data that is ${minutes} minutes old. If this persists, the upstream behind it may be down.`;
  return new StatusError({ code: 'UPSTREAM_FAILED', message });
}

// The upstream's own error message, shortened and escaped, without the values of our headers.

const CHARS_MAX = 200;
/** Fields that contain the message, the most specific first. */
const FIELDS = ['error', 'message', 'detail', 'error_description', 'errors', 'reason'];

/** The error message in a JSON document, in quotes; null if there is none. */
export function ownWords(payload: unknown, secrets: readonly string[]): string | null {
  const words = sentenceIn(payload, 3);
  if (words === null) return null;
  const safe = secrets
    .filter((secret) => secret.length > 3)
    .reduce((text, secret) => text.replaceAll(secret, '***'), words);
  const clean = safe.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  if (clean === '') return null;
  return JSON.stringify(clean.length > CHARS_MAX ? `${clean.slice(0, CHARS_MAX)}…` : clean);
}

function sentenceIn(payload: unknown, depth: number): string | null {
  if (typeof payload !== 'object' || payload === null || depth === 0) return null;
  const [first] = Array.isArray(payload) ? payload : [];
  if (first !== undefined) return typeof first === 'string' ? first : sentenceIn(first, depth - 1);
  for (const field of FIELDS) {
    const value = (payload as Readonly<Record<string, unknown>>)[field];
    if (typeof value === 'string') return value;
    const inner = sentenceIn(value, depth - 1);
    if (inner !== null) return inner;
  }
  return null;
}
