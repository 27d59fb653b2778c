/** What every upstream of the sandbox is: a function from a request to a reply. The server does the sockets. */

import type { IncomingHttpHeaders } from 'node:http';
import type { EpochMs } from '../model/time.ts';

export interface Request {
  readonly method: string;
  /** After the upstream's prefix, beginning with a slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly now: EpochMs;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Upstream = (request: Request) => Reply;

/** A reply in JSON. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** The token of `Authorization: Bearer …`; null without one. */
export function bearerToken(headers: IncomingHttpHeaders): string | null {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}
