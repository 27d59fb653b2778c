/** Sends responses: writes headers, compresses, limits slow readers and idle sockets, and counts what was sent. */

import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { type EpochMs, SECOND_MS } from '../model/time.ts';
import { compress, EVERY_ANSWER, HSTS, type Variant } from '../publish/releases/manifest.ts';
import type { Answer } from './answer.ts';
import { negotiate } from './visitors/release-reader.ts';

// An import reads all that the module exports, among it `WebSocket`, for which Node loads its whole `fetch`.
const { STATUS_CODES, validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http');

/** A response for the access log. Without the query, which may contain a token. */
export interface AnsweredRequest {
  readonly at: EpochMs;
  readonly clientAddress: string;
  readonly method: string;
  readonly path: string;
  /** Node builds the headers of a request when somebody asks for them. */
  readonly sent: Pick<IncomingMessage, 'headers'>;
  /** 499: the client disconnected before it had everything. */
  readonly status: number;
  /** Including headers. */
  readonly bytes: number;
  readonly seconds: number;
}

const CLIENT_GONE = 499;
/**
 * A client that reads nothing for this long is disconnected; after reading something, for up to twice as long. Streams are
 * exempt.
 */
const READER_PATIENCE_MS = 10_000;

interface Sending {
  readonly head: Head;
  readonly now: () => EpochMs;
  readonly isLast: boolean;
}

/**
 * Sends a response. If its headers were already sent, it is ended.
 *
 * @param now  the time for its `Date` header
 * @param isLast  whether to close the connection afterwards
 * @returns true if the system has taken every byte, as usual: then no timers and no event are needed. Streams return
 * false
 */
export function send(
  response: Response,
  { status, body, stream }: Omit<Answer, 'headers'>,
  { head, now, isLast }: Sending,
): boolean {
  if (response.closed) return false;
  if (response.headersSent) response.end();
  else if (stream === undefined && head.text !== null && !isLast && isUsual(response)) {
    const text = head.text + lastLines(now());
    const piece = typeof body === 'string' ? null : inOnePiece(text, head, body);
    response.statusCode = status;
    response._header = text;
    response._headerSent = piece !== null;
    response.end(piece ?? body);
  } else {
    response.writeHead(status, isLast ? [...head.lines, 'connection', 'close'] : head.lines);
    if (stream !== undefined) stream(response);
    else response.end(body);
  }
  if (stream !== undefined) return false;
  if (response.socket?.writableLength === 0) return true;
  bePatient(response);
  return false;
}

/**
 * Node validates and joins the header lines of every response, and sends head and body in two pieces, together a quarter of the
 * time of a response. Where nothing depends on the connection, a finished head replaces Node's own (`_header`); `_headerSent`
 * says that it comes with the body.
 */
type Response = ServerResponse & { _header?: string | null; _headerSent?: boolean };

function isUsual(response: Response): boolean {
  const { shouldKeepAlive, useChunkedEncodingByDefault, req } = response;
  return shouldKeepAlive && useChunkedEncodingByDefault && response._header === null && req.method !== 'HEAD';
}

/** Larger bodies are not copied. */
const PIECE_MAX = 65_536;
/** Bytes of all pieces that are kept, until their `Date` is past. */
const PIECES_MAX = 8 * 1024 * 1024;

/** Head and body; null: in two pieces. */
function inOnePiece(text: string, head: Head, body: Uint8Array | null): Buffer | null {
  const known = lately.pieces.get(head);
  if (known !== undefined && known.body === body) return known.bytes;
  const size = text.length + (body?.length ?? 0);
  if (size > PIECE_MAX || lately.size + size > PIECES_MAX) return null;
  const bytes = Buffer.concat(body === null ? [Buffer.from(text, 'latin1')] : [Buffer.from(text, 'latin1'), body]);
  lately.pieces.set(head, { body, bytes });
  lately.size += size;
  return bytes;
}

/** How long a connection without a request stays open. */
export const KEEP_ALIVE_MS = 65_000;

/** The last header lines, as Node writes them, cached for a second. */
function lastLines(now: EpochMs): string {
  const second = Math.floor(now / SECOND_MS);
  if (second !== lately.second) {
    const date = new Date(second * SECOND_MS).toUTCString();
    const lines = `Date: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / SECOND_MS}\r\n\r\n`;
    lately = { second, lines, pieces: new Map(), size: 0 };
  }
  return lately.lines;
}

/** Of this second. */
let lately = { second: -1, lines: '', pieces: new Map<Head, { body: Uint8Array | null; bytes: Buffer }>(), size: 0 };

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

/**
 * The head of responses with the same status and headers, built once, because a file's headers are always the same
 * object.
 */
interface Head {
  readonly status: number;
  /** Alternating names and values. */
  readonly lines: string[];
  /** The same as sent; null: only Node knows how the body ends. */
  readonly text: string | null;
}

const headsOverHttp = new WeakMap<OutgoingHttpHeaders, Head>();
const headsOverHttps = new WeakMap<OutgoingHttpHeaders, Head>();

/** Adds the headers that every response has. Throws if one of them is invalid. */
export function finishHead({ status, headers }: Pick<Answer, 'status' | 'headers'>, isHttpsSite: boolean): Head {
  const known = isHttpsSite ? headsOverHttps : headsOverHttp;
  const found = known.get(headers);
  if (found?.status === status) return found;
  const all = { ...EVERY_ANSWER, ...(isHttpsSite ? { 'strict-transport-security': HSTS } : {}), ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((one) => [name, String(one)]),
  );
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let index = 0; index < lines.length; index += 2) {
    const [name = '', value = ''] = lines.slice(index, index + 2);
    validateHeaderName(name);
    validateHeaderValue(name, value);
    text += `${name}: ${value}\r\n`;
  }
  const isWhole = status === 304 || 'content-length' in headers;
  const head = { status, lines, text: isWhole ? text : null };
  known.set(headers, head);
  return head;
}

/** Fields for the access log. They are read before the response, because the socket may be gone at its end. */
export function accessFacts(request: IncomingMessage, at: EpochMs, clientAddress: string) {
  const { method = 'GET', url = '/', socket } = request;
  const writtenBefore = socket.bytesWritten;
  return (status: number, seconds: number): AnsweredRequest => ({
    at,
    clientAddress,
    method,
    path: url.split('?', 1)[0] ?? '',
    sent: request,
    status,
    bytes: socket.bytesWritten - writtenBefore,
    seconds,
  });
}

// Compresses responses that the server creates. Only for those that are the same for everybody: if a response
// contains a secret and text that an attacker chose, its compressed length would reveal the secret.

/** Number of documents kept; few are the same for everybody. */
const VARIANTS_MAX = 16;
const variants = new LRUCache<string, Promise<readonly Variant[]>>({ max: VARIANTS_MAX });

/** The response in the smallest encoding that `Accept-Encoding` allows. */
export async function compressed(answer: Answer, acceptEncoding: string | undefined): Promise<Answer> {
  const { body, headers } = answer;
  if (typeof body !== 'string') return answer;
  const known = variants.get(body) ?? compress(String(headers['content-type']), Buffer.from(body));
  variants.set(body, known);
  const found = await known;
  const encoding = negotiate({ variants: found.map((one) => one.encoding) }, acceptEncoding);
  const bytes = found.find((one) => one.encoding === encoding)?.bytes;
  const varied = { ...headers, vary: 'Accept-Encoding' };
  if (encoding === null || bytes === undefined) return { ...answer, headers: varied };
  return {
    ...answer,
    headers: { ...varied, 'content-encoding': encoding, 'content-length': bytes.length },
    body: bytes,
  };
}

// Closes clients' sockets in time. Node has time limits for requests but only ends sockets, and a client that ignores
// this keeps its file descriptor open forever.

export type SocketLimits = typeof SOCKET_LIMITS;

export const SOCKET_LIMITS = {
  /** Time in ms between ending a connection and cutting it. */
  lingerMs: 1_000,
  /** Maximum time in ms for a client to receive one response; streams are exempt. */
  answerMs: 120_000,
  /**
   * Maximum number of open sockets. Above it, those that have been silent longest are closed. Most systems give a process
   * 1,024 descriptors or more, and files need some.
   */
  socketsMax: 8_192,
};

/** Responses to unreadable requests. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** Requests within this time count as simultaneous, because the order of sockets is kept only roughly. */
const HEARD_AGAIN_MS = 1_000;

/**
 * Guards the sockets of a server.
 *
 * @returns a function to call with the socket of every request, and the milliseconds of the process
 */
export function guardSockets(server: Server, limits: SocketLimits = SOCKET_LIMITS) {
  /**
   * `silent`: sockets without a complete request, oldest first. `known`: other sockets with the time of their last request,
   * oldest first.
   */
  const silent = new Set<Socket>();
  const known = new Map<Socket, number>();

  function shed(): void {
    if (silent.size + known.size <= limits.socketsMax) return;
    const [quietest] = silent.size > 0 ? silent : known.keys();
    quietest?.destroy();
  }

  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => {
      silent.delete(socket);
      known.delete(socket);
    });
    // A client that has ended its side can still receive data. One that ignores that we have ended ours is cut.
    socket.once('finish', () => destroyLater(socket, limits.lingerMs));
    shed();
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const status = UNREADABLE[code ?? ''] ?? '400 Bad Request';
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n`);
    destroyLater(socket as Socket, limits.lingerMs);
  });
  return (socket: Socket, now: number): void => {
    const before = known.get(socket);
    if (before !== undefined && now - before < HEARD_AGAIN_MS) return;
    silent.delete(socket);
    known.delete(socket);
    known.set(socket, now);
  };
}

/** Destroys a socket that is still open after a while. */
function destroyLater(socket: Socket, ms: number): void {
  const timer = setTimeout(() => socket.destroy(), ms).unref();
  socket.once('close', () => clearTimeout(timer));
}
