/**
 * The front door: every request comes in here, and this is the only place that opens a file of a release.
 *
 * Order: host and path, method, the server's own addresses, gates, files. What nobody may see and what does not exist
 * answer alike.
 */

import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { clientAddressOf } from '../access/attempts/client-address.ts';
import type { EpochMs } from '../model/time.ts';
import { isSubscribePath } from '../notify/subscriptions.ts';
import { EVERY_ANSWER, HSTS } from '../publish/releases/answer-headers.ts';
import { type Address, resolveAddress, type SiteAddresses } from './address.ts';
import { type Answer, notAllowed, type OwnRequest, plain } from './answer.ts';
import { BodyTooLargeError, readBody } from './request-body.ts';
import { guardSockets, SOCKET_LIMITS } from './sockets.ts';
import { gateAnswer, isGatePath } from './visitors/gate-answer.ts';
import { missing, type PageDeps, pageAnswer } from './visitors/page-answer.ts';
import { type SubscribeDeps, subscribeAnswer } from './visitors/subscribe-answer.ts';

export interface FrontDoorOptions extends PageDeps, SubscribeDeps {
  readonly addresses: () => SiteAddresses;
  /** Answers below `/-/`; null: nothing there. */
  readonly own: (request: OwnRequest) => Promise<Answer | null>;
  readonly trustedProxyHops: number;
  readonly onError: (error: unknown, where: string) => void;
  /** True: answers say that the connection ends, so that clients go to another node. */
  readonly isStopping?: () => boolean;
  /** Every answer, when its last byte is handed over or its client is gone. */
  readonly onAnswered?: (request: AnsweredRequest) => void;
}

/** A request that was answered, for logs and metrics. Without its query, which may carry a token. */
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

/** Who takes no byte of an answer for this long, or twice as long after taking some, is cut off; streams are not. */
const READER_PATIENCE_MS = 10_000;

/** Makes the server; the caller listens and closes. */
export function createFrontDoor(options: FrontDoorOptions): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 2_000,
    },
    (request, response) => {
      tellAnswered(options, request, response);
      answer(options, request, response).catch((error: unknown) => {
        if (error instanceof BodyTooLargeError)
          return send(options, response, plain(413, 'The body is larger than 64 kB.'));
        const target = request.url ?? '/';
        options.onError(error, target.split('?', 1)[0] ?? '');
        const failed = plain(500, 'Something went wrong on our side.');
        const address = resolveAddress(request.headers.host, target, options.addresses());
        send(options, response, isOpenToScripts(options, address) ? openedToScripts(failed) : failed);
      });
    },
  );
  guardSockets(server);
  return server;
}

const CLIENT_GONE = 499;

function tellAnswered(options: FrontDoorOptions, request: IncomingMessage, response: ServerResponse): void {
  const { socket, headers, method = 'GET', url = '/' } = request;
  const [startedAt, writtenBefore] = [performance.now(), socket.bytesWritten];
  // Looked up now: by the end the request may have lost its socket.
  const client = clientAddress(options, request);
  response.once('close', () =>
    options.onAnswered?.({
      at: options.now(),
      clientAddress: client,
      method,
      host: headers.host ?? '',
      path: url.split('?', 1)[0] ?? '',
      agent: headers['user-agent'] ?? '',
      status: response.writableFinished ? response.statusCode : CLIENT_GONE,
      bytes: socket.bytesWritten - writtenBefore,
      seconds: (performance.now() - startedAt) / 1_000,
    }),
  );
}

async function answer(options: FrontDoorOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = request.url ?? '/';
  if (hasAmbiguousHeader(request))
    return send(options, response, plain(400, 'A header that may appear only once was sent twice.'));
  const address = resolveAddress(request.headers.host, target, options.addresses());
  const isOpen = isOpenToScripts(options, address);
  // What is not an error says by itself who may read it.
  const reply = (result: Answer): void =>
    send(
      options,
      response,
      isOpen && result.status >= 400 ? openedToScripts(result) : result,
      request.method === 'HEAD',
    );
  if (address.kind === 'refused')
    return reply(plain(address.status, address.status === 421 ? 'This host name is not served here.' : 'Bad request.'));
  const query = queryOf(target);
  if (address.kind === 'own')
    return reply((await ownAnswer(options, request, { address, query })) ?? plain(404, 'Not found.'));
  const method = request.method ?? 'GET';
  if (method === 'OPTIONS') return reply(isOpen ? PREFLIGHT_OPEN : PREFLIGHT_CLOSED);
  if (address.kind === 'redirect')
    return reply({
      status: 301,
      headers: { location: address.location, 'cache-control': 'public, max-age=300' },
      body: null,
    });
  if (address.kind === 'page' && isGatePath(address.path)) {
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return reply(notAllowed());
    const asked = { address, query, method, clientAddress: clientAddress(options, request) } as const;
    return reply((await gateAnswer(options, request, asked)) ?? missing(options, request));
  }
  if (address.kind === 'page' && isSubscribePath(address.path)) {
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return reply(notAllowed());
    const asked = { address, query, method, clientAddress: clientAddress(options, request) } as const;
    const result = await subscribeAnswer(options, request, asked);
    if (result !== null) return reply(result);
  }
  if (method !== 'GET' && method !== 'HEAD') return reply(notAllowed());
  reply(await pageAnswer(options, request, { address, query }));
}

/**
 * Whether scripts of other sites may read what is answered, errors too. A page that does not exist counts as a gated one,
 * so that this tells nothing.
 */
function isOpenToScripts({ access }: FrontDoorOptions, address: Address): boolean {
  return address.kind === 'site' || (address.kind === 'page' && access.pageOf(address.slug)?.gate.kind === 'public');
}

function openedToScripts(result: Answer): Answer {
  return { ...result, headers: { ...result.headers, 'access-control-allow-origin': '*' } };
}

const ALLOW = { allow: 'GET, HEAD, OPTIONS' };
const PREFLIGHT_CLOSED: Answer = { status: 204, headers: ALLOW, body: null };
/** Any header may be sent: none decides what a public answer says, and `*` never covers credentials. */
const PREFLIGHT_OPEN: Answer = {
  status: 204,
  headers: {
    ...ALLOW,
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD',
    'access-control-allow-headers': '*',
    'access-control-max-age': '7200',
  },
  body: null,
};

/** What decides who may see what. Of two of them Node takes the first, and a proxy in front perhaps the last. */
const HEADERS_ONCE = new Set(['authorization', 'host', 'origin', 'sec-fetch-site', 'content-type']);

function hasAmbiguousHeader({ rawHeaders }: IncomingMessage): boolean {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!HEADERS_ONCE.has(name)) continue;
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}

const NO_QUERY = new URLSearchParams();

function queryOf(target: string): URLSearchParams {
  const start = target.indexOf('?');
  return start === -1 ? NO_QUERY : new URLSearchParams(target.slice(start + 1));
}

async function ownAnswer(
  options: FrontDoorOptions,
  request: IncomingMessage,
  { address, query }: { address: Address & { kind: 'own' }; query: URLSearchParams },
): Promise<Answer | null> {
  return options.own({
    method: request.method ?? 'GET',
    path: address.path,
    query,
    headers: request.headers,
    clientAddress: clientAddress(options, request),
    trace: traceOf(request.headers['traceparent']),
    isSecure: options.isHttpsSite,
    isSiteHost: address.isSite,
    body: () => readBody(request),
  });
}

function traceOf(header: string | string[] | undefined): string | null {
  return /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(String(header))?.[1] ?? null;
}

function clientAddress(options: FrontDoorOptions, request: IncomingMessage): string {
  return clientAddressOf(
    request.socket.remoteAddress ?? '',
    request.headers['x-forwarded-for'],
    options.trustedProxyHops,
  );
}

function send(options: FrontDoorOptions, response: ServerResponse, result: Answer, isHead = false): void {
  if (response.headersSent) {
    response.end();
    return;
  }
  const lines = headerLines(result.headers, options.isHttpsSite);
  response.writeHead(result.status, options.isStopping?.() === true ? [...lines, 'connection', 'close'] : lines);
  if (result.stream !== undefined) {
    result.stream(response);
    return;
  }
  response.setTimeout(READER_PATIENCE_MS, () => response.destroy());
  // Nor may an answer be taken byte by byte for ever.
  const tooLong = setTimeout(() => response.destroy(), SOCKET_LIMITS.answerMs).unref();
  response.once('close', () => clearTimeout(tooLong));
  if (isHead || result.body === null) response.end();
  else response.end(result.body);
}

/** Headers as they are written, kept for those that are answered with again: names and values in turns. */
const linesOverHttp = new WeakMap<OutgoingHttpHeaders, readonly string[]>();
const linesOverHttps = new WeakMap<OutgoingHttpHeaders, readonly string[]>();

function headerLines(headers: OutgoingHttpHeaders, isHttpsSite: boolean): string[] {
  const known = isHttpsSite ? linesOverHttps : linesOverHttp;
  const found = known.get(headers);
  // Node only reads the list; it asks for one that may be written.
  if (found !== undefined) return found as string[];
  const all = { ...EVERY_ANSWER, ...(isHttpsSite ? { 'strict-transport-security': HSTS } : {}), ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((one) => [name, String(one)]),
  );
  known.set(headers, lines);
  return lines;
}
