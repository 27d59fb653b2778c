/** Requests as the upstreams of the tests get them: with their body, and with records that move under a reader of pages. */

import type { IncomingHttpHeaders } from 'node:http';
import type { Request as PlainRequest, Reply } from '../../src/sandbox/server-monitor.ts';

export { bearerToken, json, type Reply } from '../../src/sandbox/server-monitor.ts';

/** Records that appear (newest first lists grow at the top) or vanish between two requests of a reader. */
export interface PagingShift {
  readonly direction: 'insert' | 'delete';
  /** Requests answered since the fault was set. */
  readonly step: number;
}

export interface Request extends PlainRequest {
  readonly body: string;
  /** How the records move under a reader of pages; null: they do not. */
  readonly pagingShift: PagingShift | null;
}

export type Upstream = (request: Request) => Reply;

/** A reply without a body. */
export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: '' };
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
