/** Requests and responses of the server. */

import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';

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
  /** Reads the body, at most 64 kB. */
  readonly body: () => Promise<Buffer>;
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

/** The fields of a form; empty: the body is none. */
export function readForm(headers: IncomingHttpHeaders, body: Buffer): URLSearchParams {
  const isForm = (headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
  return new URLSearchParams(isForm ? body.toString('utf8') : '');
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
