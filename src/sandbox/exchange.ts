/** What every upstream of the sandbox is: a function from a request to a reply. The server does the sockets. */

import type { IncomingHttpHeaders } from 'node:http';
import type { EpochMs } from '../model/time.ts';

/** Records that appear (newest first lists grow at the top) or vanish between two requests of a reader. */
export interface PagingShift {
  readonly direction: 'insert' | 'delete';
  /** Requests answered since the fault was set. */
  readonly step: number;
}

export interface Request {
  readonly method: string;
  /** After the upstream's prefix, beginning with a slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly now: EpochMs;
  /** How the records move under a reader of pages; null: they do not. */
  readonly pagingShift: PagingShift | null;
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

/** A reply without a body. */
export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: '' };
}

/** The token of `Authorization: Bearer …`; null without one. */
export function bearerToken(headers: IncomingHttpHeaders): string | null {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** A header that comes once; null when absent. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? null);
}

/** The body as a JSON object; null when it is anything else. */
export function objectOf(body: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether it is a JSON object, not an array and not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
