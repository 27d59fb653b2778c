/** Requests and responses of the server. */

import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface OwnRequest {
  readonly method: string;
  /** Below `/-/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly clientAddress: string;
  /** Trace id of the caller, 32 hexadecimal digits (W3C `traceparent`); null: not sent. */
  readonly trace: string | null;
  readonly isSecure: boolean;
  /** Whether it was sent to the site's own host or came from this machine, rather than to a page's domain. */
  readonly isSiteHost: boolean;
  /** Reads the body, by default at most 64 kB. */
  readonly body: (bytesMax?: number) => Promise<Buffer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Null: the answer has no body. */
  readonly body: string | Uint8Array | null;
  /** Keeps the response open (server-sent events) instead of sending `body`. */
  readonly stream?: (response: ServerResponse) => void;
}

/** Only for this client, never cached. */
export const NEVER_CACHED = 'private, no-store';

/** A whole body; `headers` name its type. */
export function whole(status: number, body: string, headers: OutgoingHttpHeaders): Answer {
  return { status, headers: { 'content-length': Buffer.byteLength(body), ...headers }, body };
}

export function plain(status: number, text: string, headers: OutgoingHttpHeaders = {}): Answer {
  const type = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': NEVER_CACHED };
  return whole(status, `${text}\n`, { ...type, ...headers });
}

export function notAllowed(): Answer {
  return plain(405, 'Method not allowed. Use GET.', { allow: 'GET, HEAD, OPTIONS' });
}

/** JSON that is never cached. */
export function json(status: number, value: unknown, headers: OutgoingHttpHeaders = {}): Answer {
  const type = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  return whole(status, `${JSON.stringify(value)}\n`, { ...type, ...headers });
}

export function jsonNotAllowed(allow: string): Answer {
  return json(405, { message: `Method not allowed. Use ${allow}.` }, { allow });
}

/** When to try again, in whole seconds. */
export function retryAfter(ms: number): OutgoingHttpHeaders {
  return { 'retry-after': String(Math.ceil(ms / 1_000)) };
}

/** The fields of a form, with line breaks as browsers count them; empty: the body is none. */
export function readForm(headers: IncomingHttpHeaders, body: Buffer): URLSearchParams {
  const isForm = (headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
  return new URLSearchParams(isForm ? body.toString('utf8').replaceAll('%0D%0A', '%0A') : '');
}

/** From which site a request was sent, and to which. */
export function originFacts(headers: IncomingHttpHeaders, isSecure: boolean) {
  const fetchSite = headers['sec-fetch-site'];
  return {
    origin: headers.origin ?? null,
    fetchSite: typeof fetchSite === 'string' ? fetchSite : null,
    ownOrigin: `${isSecure ? 'https' : 'http'}://${headers.host ?? ''}`,
  };
}

// The request headers that a response to visitors depends on, and the bodies of requests.

/** Headers that may only be sent once, with a bit for each. */
const SINGLE = new Map(
  ['host', 'authorization', 'origin', 'sec-fetch-site', 'content-type'].map((name, index) => [name, 1 << index]),
);
/** Lengths of these names, to skip most other headers quickly. */
const LENGTHS = new Set([...SINGLE.keys()].map(({ length }) => length));

export type RequestHead = ReturnType<typeof readHead>;

export function readHead({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>) {
  const { host, range, cookie = null } = headers;
  return {
    host,
    acceptEncoding: headers['accept-encoding'],
    ifNoneMatch: headers['if-none-match'],
    // With If-Range, the client may have a part of another version; the whole file is always right.
    range: headers['if-range'] === undefined ? range : undefined,
    cookie,
    cacheControl: headers['cache-control'],
    fetchSite: headers['sec-fetch-site'],
    // True: a header that affects access was sent twice. Node uses the first, but a proxy may use the last.
    isAmbiguous: isAmbiguous(rawHeaders),
  };
}

function isAmbiguous(rawHeaders: readonly string[]): boolean {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!LENGTHS.has(name.length)) continue;
    const bit = SINGLE.get(name) ?? SINGLE.get(name.toLowerCase()) ?? 0;
    if ((seen & bit) !== 0) return true;
    seen |= bit;
  }
  return false;
}

/**
 * Whether the visitor may have been here before, maybe on another node: a reload, a revalidation, a link or script of
 * the same site, or a session. Public pages set no cookie that would tell.
 */
export function isReturning({ ifNoneMatch, cacheControl, fetchSite, cookie }: RequestHead): boolean {
  return (
    ifNoneMatch !== undefined ||
    cookie !== null ||
    fetchSite === 'same-origin' ||
    (cacheControl !== undefined && /\b(?:no-cache|max-age=0)\b/.test(cacheControl))
  );
}

/** Most forms and hooks are small; anything larger is refused before it is read. */
const BODY_BYTES_MAX = 64 * 1024;

export class BodyTooLargeError extends Error {
  constructor(bytesMax: number) {
    super(`The body is larger than ${bytesMax / 1024} kB.`);
    this.name = 'BodyTooLargeError';
  }
}

/** Reads the whole body. A larger one throws BodyTooLargeError, and the rest is not read. */
export async function readBody(request: IncomingMessage, bytesMax = BODY_BYTES_MAX): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw new BodyTooLargeError(bytesMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new BodyTooLargeError(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
