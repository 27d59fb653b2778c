/** What faults do to a connection: silence, single bytes, half an answer, a bomb. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { MINUTE_MS, SECOND_MS } from '../../src/model/time.ts';
import type { Reply } from './exchange.ts';
import type { Fault } from './faults.ts';

type Sending = (response: ServerResponse, reply: Reply, fault: Fault) => void;

/** Sends a reply, through its fault when there is one. */
export function send(response: ServerResponse, reply: Reply, fault: Fault | null): void {
  const sending = fault === null ? undefined : SENDINGS.get(fault.name);
  if (fault === null || sending === undefined) sendWhole(response, reply);
  else sending(response, reply, fault);
}

const SENDINGS: ReadonlyMap<string, Sending> = new Map<string, Sending>([
  ['down', (response) => void response.socket?.resetAndDestroy()],
  ['slow', (response, reply, { delayMs = MINUTE_MS }) => later(response, delayMs, () => sendWhole(response, reply))],
  ['drip', drip],
  ['stall', (response, reply) => void sendHead(response, reply).write(half(reply))],
  ['truncated', (response, reply) => sendHead(response, reply).write(half(reply), () => response.socket?.destroy())],
  ['truncated-close', closeEarly],
  ['redirect', redirect],
  ['gzip-bomb', bomb],
]);

function sendWhole(response: ServerResponse, reply: Reply): void {
  sendHead(response, reply).end(reply.body);
}

function sendHead(response: ServerResponse, { status, headers, body }: Reply): ServerResponse {
  // 204 and 415 come without a body; a length of zero on 204 would be against the protocol.
  const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return response.writeHead(status, { ...headers, ...length });
}

function half({ body }: Reply): Buffer {
  const bytes = Buffer.from(body);
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
}

function later(response: ServerResponse, delayMs: number, action: () => void): void {
  const timer = setTimeout(action, delayMs);
  response.once('close', () => clearTimeout(timer));
}

function drip(response: ServerResponse, reply: Reply, { delayMs = SECOND_MS }: Fault): void {
  const bytes = Buffer.from(reply.body);
  let sent = 0;
  sendHead(response, reply).flushHeaders();
  const timer = setInterval(() => {
    if (sent < bytes.length) response.write(bytes.subarray(sent, ++sent));
    else response.end();
  }, delayMs);
  response.once('close', () => clearInterval(timer));
}

/** Half a body whose end is the end of the connection: nothing on the wire tells that it is half. */
function closeEarly(response: ServerResponse, reply: Reply): void {
  response.useChunkedEncodingByDefault = false;
  response.shouldKeepAlive = false;
  response.writeHead(reply.status, reply.headers);
  response.end(half(reply));
}

/** Elsewhere by default is this very server under another name: another origin, so a request that follows is seen. */
function redirect(response: ServerResponse, _reply: Reply, { location }: Fault): void {
  const { url = '/' } = response.req;
  const port = response.socket?.localPort ?? 80;
  response.writeHead(302, { location: location ?? `http://localhost:${port}${url}`, 'content-length': '0' }).end();
}

const BOMB_BYTES = 64 * 1024 * 1024;
const BOMB_CHUNK = Buffer.alloc(64 * 1024, ' ');

/** The true answer behind so much white space: small on the wire, large in memory, valid JSON all the same. */
function bomb(response: ServerResponse, reply: Reply, { bytes = BOMB_BYTES }: Fault): void {
  response.writeHead(reply.status, { ...reply.headers, 'content-encoding': 'gzip' });
  const chunks = function* (): Generator<Buffer> {
    for (let sent = 0; sent < bytes; sent += BOMB_CHUNK.length) yield BOMB_CHUNK;
    yield Buffer.from(reply.body);
  };
  const gzip = createGzip();
  response.once('close', () => gzip.destroy());
  Readable.from(chunks()).pipe(gzip).pipe(response);
}
