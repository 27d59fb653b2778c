/** Answers on their way out: headers as they are written, patience with whoever reads them, and counting them. */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { EpochMs } from '../model/time.ts';
import { EVERY_ANSWER, HSTS } from '../publish/releases/answer-headers.ts';
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
/** Who takes no byte of an answer for this long, or twice as long after taking some, is cut off; streams are not. */
const READER_PATIENCE_MS = 10_000;

/** Sends an answer; one that was begun already is ended. */
export function send(
  response: ServerResponse,
  { status, body, stream }: Pick<Answer, 'status' | 'body' | 'stream'>,
  lines: readonly string[],
): void {
  if (response.headersSent) {
    response.end();
    return;
  }
  // Node only reads the list; it asks for one that may be written.
  response.writeHead(status, lines as string[]);
  if (stream !== undefined) {
    stream(response);
    return;
  }
  if (body === null) response.end();
  else response.end(body);
  if (!isTaken(response)) bePatient(response);
}

/** Whether the system has taken every byte: most answers are gone at once, and need no looking after. */
export function isTaken({ socket }: ServerResponse): boolean {
  return socket !== null && socket.writableLength === 0;
}

/** Cuts off who takes no bytes for long, or one byte at a time for ever. */
function bePatient(response: ServerResponse): void {
  response.setTimeout(READER_PATIENCE_MS, () => response.destroy());
  const tooLong = setTimeout(() => response.destroy(), SOCKET_LIMITS.answerMs).unref();
  response.once('close', () => clearTimeout(tooLong));
}

/** Headers as they are written, kept for those that are answered with again: names and values in turns. */
const linesOverHttp = new WeakMap<OutgoingHttpHeaders, string[]>();
const linesOverHttps = new WeakMap<OutgoingHttpHeaders, string[]>();

/** The headers of an answer with those that every answer has. */
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

/** Tells of an answer when its last byte is handed over or its client is gone. */
export function tellWhenClosed(response: ServerResponse, tell: (status: number) => void): void {
  response.once('close', () => tell(response.writableFinished ? response.statusCode : CLIENT_GONE));
}

/** All of a request that the access log wants, taken before it is answered: by the end it may have lost its socket. */
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
