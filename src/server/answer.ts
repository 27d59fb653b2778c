/** What the front door is asked and answers, whoever of the server works it out. */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface OwnRequest {
  readonly method: string;
  /** Below `/-/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly clientAddress: string;
  /** Trace id of the caller, 32 hexadecimal digits (W3C `traceparent`); null: it sent none. */
  readonly trace: string | null;
  readonly isSecure: boolean;
  /** By the site's own host, or from this machine; not by the domain of one page. */
  readonly isSiteHost: boolean;
  /** Reads the body, at most 64 kB. */
  readonly body: () => Promise<Buffer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Null: the answer has no body. */
  readonly body: string | Uint8Array | null;
  /** Keeps the answer open (server-sent events) instead of sending `body`. */
  readonly stream?: (response: ServerResponse) => void;
}

/** For whoever asked, and in no cache. */
export const NEVER_CACHED = 'private, no-store';

export function plain(status: number, text: string, headers: OutgoingHttpHeaders = {}): Answer {
  const body = `${text}\n`;
  return {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': NEVER_CACHED,
      ...headers,
    },
    body,
  };
}

export function notAllowed(): Answer {
  return plain(405, 'Method not allowed. Use GET.', { allow: 'GET, HEAD, OPTIONS' });
}

/** JSON that nobody keeps. */
export function json(status: number, value: unknown, headers: OutgoingHttpHeaders = {}): Answer {
  const body = `${JSON.stringify(value)}\n`;
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      ...headers,
    },
    body,
  };
}
