/** Sends responses: writes headers, limits slow readers, and counts what was sent. */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { EpochMs } from '../model/time.ts';
import { EVERY_ANSWER, HSTS } from '../publish/releases/manifest.ts';
import type { Answer } from './answer.ts';
import { SOCKET_LIMITS } from './sockets.ts';

/** A request that was answered, for the access log. Without its query, which may carry a token. */
export interface AnsweredRequest {
  readonly at: EpochMs;
  readonly clientAddress: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly agent: string;
  /** 499: the client was gone before it had all. */
  readonly status: number;
  /** With headers. */
  readonly bytes: number;
  readonly seconds: number;
}

const CLIENT_GONE = 499;
/**
 * A client that reads nothing for this long is disconnected; after reading something, for up to twice as long. Streams are
 * exempt.
 */
const READER_PATIENCE_MS = 10_000;

/**
 * Sends a response. If its headers were already sent, it is ended.
 *
 * @returns whether the system has taken every byte, as of most: such a response needs no timers and no event. Streams go on
 */
export function send(
  response: ServerResponse,
  { status, body, stream }: Pick<Answer, 'status' | 'body' | 'stream'>,
  lines: readonly string[],
): boolean {
  if (response.closed) return false;
  if (response.headersSent) response.end();
  else {
    // Node only reads this list, although its type is mutable.
    response.writeHead(status, lines as string[]);
    if (stream !== undefined) stream(response);
    else if (body === null) response.end();
    else response.end(body);
  }
  if (stream !== undefined) return false;
  if (response.socket?.writableLength === 0) return true;
  bePatient(response);
  return false;
}

/** Reports a response when it was sent completely, or when the client has left. */
export function whenClosed(response: ServerResponse, report: (status: number) => void): void {
  if (response.closed) report(CLIENT_GONE);
  else response.once('close', () => report(response.writableFinished ? response.statusCode : CLIENT_GONE));
}

/** Disconnects a client that reads nothing for long, or takes too long for the whole response. */
function bePatient(response: ServerResponse): void {
  response.setTimeout(READER_PATIENCE_MS, () => response.destroy());
  const tooLong = setTimeout(() => response.destroy(), SOCKET_LIMITS.answerMs).unref();
  response.once('close', () => clearTimeout(tooLong));
}

/** Headers as lists of names and values, cached because they are reused. */
const linesOverHttp = new WeakMap<OutgoingHttpHeaders, string[]>();
const linesOverHttps = new WeakMap<OutgoingHttpHeaders, string[]>();

/** Adds the headers that every response has. */
export function headerLines(headers: OutgoingHttpHeaders, isHttpsSite: boolean): string[] {
  const known = isHttpsSite ? linesOverHttps : linesOverHttp;
  const found = known.get(headers);
  if (found !== undefined) return found;
  const all = { ...EVERY_ANSWER, ...(isHttpsSite ? { 'strict-transport-security': HSTS } : {}), ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((one) => [name, String(one)]),
  );
  known.set(headers, lines);
  return lines;
}

/** Fields for the access log. They are read before the response, because the socket may be gone at its end. */
export function accessFacts(
  { method = 'GET', url = '/', headers, socket }: IncomingMessage,
  at: EpochMs,
  clientAddress: string,
): (status: number, seconds: number) => AnsweredRequest {
  const writtenBefore = socket.bytesWritten;
  return (status, seconds) => ({
    at,
    clientAddress,
    method,
    host: headers.host ?? '',
    path: url.split('?', 1)[0] ?? '',
    agent: headers['user-agent'] ?? '',
    status,
    bytes: socket.bytesWritten - writtenBefore,
    seconds,
  });
}
