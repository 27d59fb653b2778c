/**
 * The front door: every request enters here, and this is the only place that opens a file of a release.
 *
 * Order: host and path, method, the server's own addresses, gates, files. Forbidden and missing resources get the same
 * response.
 */

import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import { clientAddressOf, isForwarded } from '../access/client-address.ts';
import { isStoreError } from '../errors.ts';
import { type Address, createAddressBook, type SiteAddresses } from './address.ts';
import {
  type Answer,
  BodyTooLargeError,
  isReturning,
  notAllowed,
  type OwnRequest,
  plain,
  type RequestHead,
  readBody,
  readHead,
} from './answer.ts';
import {
  type AnsweredRequest,
  accessFacts,
  finishHead,
  guardSockets,
  KEEP_ALIVE_MS,
  send,
  whenClosed,
} from './send.ts';
import { type GateDeps, gateAnswer, subscribeAnswer } from './visitors/gate-answer.ts';
import { missing, type PageDeps, pageAnswer, siteAnswer } from './visitors/page-answer.ts';

export interface FrontDoorOptions extends PageDeps, GateDeps {
  /** Returns the same object until something in it changes. */
  readonly addresses: () => SiteAddresses;
  /** Answers requests below `/-/`; null: not found. */
  readonly own: (request: OwnRequest) => Promise<Answer | null>;
  /** Brings this node up to date; null: don't wait. Absent: no other node serves the same site. */
  readonly catchUp?: (() => Promise<void> | null) | undefined;
  readonly trustedProxyHops: number;
  readonly onError: (error: unknown, where: string) => void;
  /** True: responses close the connection, so that clients use another node. */
  readonly isStopping?: () => boolean;
  /** Called for every response when it was sent completely, or when the client has left (499). */
  readonly onAnswered?: (status: number, seconds: number) => void;
  /** The same with all details for the access log; null: there is no log. */
  readonly accessLog?: () => ((request: AnsweredRequest) => void) | null;
}

/** Creates the server; the caller listens and closes. */
export function createFrontDoor(options: FrontDoorOptions): Server {
  // As in `send.ts`.
  const server = process.getBuiltinModule('node:http').createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 2_000,
      // Most requests have no body, and creating a stream for one costs as much as finding the response.
      optimizeEmptyRequests: true,
    },
    (request, response) => {
      const startedAt = performance.now();
      noteRequest(request.socket, startedAt);
      const head = readHead(request);
      serve({
        options,
        request,
        response,
        head,
        address: resolve(head.host, request.url ?? '/', options.addresses()),
        startedAt,
        facts: options.accessLog === undefined ? null : factsForLog(options, request),
      });
    },
  );
  const noteRequest = guardSockets(server);
  const resolve = createAddressBook();
  return server;
}

/** A request in progress. */
interface Visit {
  readonly options: FrontDoorOptions;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: RequestHead;
  readonly address: Address;
  readonly startedAt: number;
  /** Writes the access log; null: there is none. */
  readonly facts: ((status: number, seconds: number) => void) | null;
}

/** Answers one request. Without anything to wait for, the response is sent before this returns. */
function serve(visit: Visit): void {
  try {
    const result = answer(visit);
    if (result instanceof Promise)
      result.then((later) => reply(visit, later)).catch((error: unknown) => fail(visit, error));
    else reply(visit, result);
  } catch (error) {
    fail(visit, error);
  }
}

function reply(visit: Visit, result: Answer): void {
  const { options, request, response, address } = visit;
  const isOpen = result.status >= 400 && isOpenToScripts(options, address);
  const headers = isOpen ? openHeaders.getOrInsertComputed(result.headers, openToScripts) : result.headers;
  const head = finishHead({ status: result.status, headers }, options.isHttpsSite);
  const sending = { head, now: options.now, isLast: options.isStopping?.() === true };
  const isSent = send(response, request.method === 'HEAD' ? { ...result, body: null } : result, sending);
  if (isSent) report(visit, response.statusCode);
  else whenClosed(response, (status) => report(visit, status));
}

/** Called once for every request, when the response was sent completely or the client has left. */
function report({ options, startedAt, facts }: Visit, status: number): void {
  const seconds = (performance.now() - startedAt) / 1_000;
  options.onAnswered?.(status, seconds);
  facts?.(status, seconds);
}

function factsForLog(options: FrontDoorOptions, request: IncomingMessage): Visit['facts'] {
  const log = options.accessLog?.() ?? null;
  if (log === null) return null;
  const facts = accessFacts(request, options.now(), socketOrForwarded(options, request));
  return (status, seconds) => log(facts(status, seconds));
}

function fail(visit: Visit, error: unknown): void {
  const isTooLarge = error instanceof BodyTooLargeError;
  if (!isTooLarge) visit.options.onError(error, (visit.request.url ?? '/').split('?', 1)[0] ?? '');
  const away = 'This is temporarily unavailable. Try again in a few minutes.';
  if (isTooLarge) reply(visit, plain(413, error.message));
  else if (isStoreError(error)) reply(visit, plain(503, away, { 'retry-after': '30' }));
  else reply(visit, plain(500, 'Something went wrong on our side.'));
}

/** Decides in this order: is the request well formed, what is at the address, is the method allowed, may it be seen. */
function answer({ options, request, head, address }: Visit): Answer | Promise<Answer> {
  if (head.isAmbiguous) return plain(400, 'A header that may appear only once was sent twice.');
  if (address.kind === 'refused')
    return plain(address.status, address.status === 421 ? 'This host name is not served here.' : 'Bad request.');
  if (address.kind === 'own') return ownAnswer(options, request, address);
  const method = request.method ?? 'GET';
  if (method === 'OPTIONS') return isOpenToScripts(options, address) ? PREFLIGHT_OPEN : PREFLIGHT_CLOSED;
  if (address.kind === 'redirect')
    return { status: 301, headers: { location: address.location, 'cache-control': 'public, max-age=300' }, body: null };
  if (address.kind === 'page' && address.form !== null) return formAnswer(options, request, address, head);
  if (method !== 'GET' && method !== 'HEAD') return notAllowed();
  // For any page, so that the response time reveals nothing.
  const catchingUp = isReturning(head) ? options.catchUp?.() : null;
  if (address.kind === 'site')
    return catchingUp ? catchingUp.then(() => siteAnswer(options, address, head)) : siteAnswer(options, address, head);
  const asked = { address, query: queryOf(request), head, clientAddress: () => clientAddress(options, request) };
  return catchingUp ? catchingUp.then(() => pageAnswer(options, asked)) : pageAnswer(options, asked);
}

/** Forms of a page: to sign in and out, and to subscribe. */
async function formAnswer(
  options: FrontDoorOptions,
  request: IncomingMessage,
  address: Address & { readonly kind: 'page' },
  head: RequestHead,
): Promise<Answer> {
  const { method = 'GET' } = request;
  if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return notAllowed();
  const query = queryOf(request);
  const asked = { address, query, method, clientAddress: clientAddress(options, request) } as const;
  if (address.form === 'gate') return (await gateAnswer(options, request, asked)) ?? missing(options, head);
  const result = await subscribeAnswer(options, request, asked);
  if (result !== null) return result;
  return method === 'POST'
    ? notAllowed()
    : pageAnswer(options, { ...asked, head, clientAddress: () => asked.clientAddress });
}

/**
 * Whether scripts on other sites may read the response, including errors. A missing page counts as private, so that this
 * reveals nothing.
 */
function isOpenToScripts({ access }: FrontDoorOptions, address: Address): boolean {
  return address.kind === 'site' || (address.kind === 'page' && access.pageOf(address.slug)?.gate.kind === 'public');
}

/** By those of the response, so that the head of a page that says what is missing is made once. */
const openHeaders = new WeakMap<OutgoingHttpHeaders, OutgoingHttpHeaders>();
const openToScripts = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders => ({
  ...headers,
  'access-control-allow-origin': '*',
});

const ALLOW = { allow: 'GET, HEAD, OPTIONS' };
const PREFLIGHT_CLOSED: Answer = { status: 204, headers: ALLOW, body: null };
/** Any header is allowed: none affects a public response, and `*` never covers credentials. */
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

const NO_QUERY = new URLSearchParams();

function queryOf({ url = '/' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?');
  return start === -1 ? NO_QUERY : new URLSearchParams(url.slice(start + 1));
}

async function ownAnswer(
  options: FrontDoorOptions,
  request: IncomingMessage,
  address: Address & { readonly kind: 'own' },
): Promise<Answer> {
  const answered = await options.own({
    method: request.method ?? 'GET',
    path: address.path,
    query: queryOf(request),
    headers: request.headers,
    clientAddress: clientAddress(options, request),
    trace: traceOf(request.headers['traceparent']),
    isSecure: options.isHttpsSite,
    isSiteHost: address.isSite,
    body: (bytesMax) => readBody(request, bytesMax),
  });
  return answered ?? plain(404, 'Not found.');
}

function traceOf(header: string | string[] | undefined): string | null {
  return /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(String(header))?.[1] ?? null;
}

/**
 * Empty if the request came through a proxy that isn't configured: the client is then unknown, and nobody is locked out
 * because of others.
 */
function clientAddress(options: FrontDoorOptions, request: IncomingMessage): string {
  const isUnknown = options.trustedProxyHops === 0 && isForwarded(request);
  return isUnknown ? '' : socketOrForwarded(options, request);
}

function socketOrForwarded({ trustedProxyHops }: FrontDoorOptions, request: IncomingMessage): string {
  const { socket } = request;
  // Without our own proxies, all requests of a connection have one address.
  if (trustedProxyHops === 0)
    return peers.getOrInsertComputed(socket, ({ remoteAddress }) => clientAddressOf(remoteAddress, undefined, 0));
  return clientAddressOf(socket.remoteAddress, request.headers['x-forwarded-for'], trustedProxyHops);
}

const peers = new WeakMap<IncomingMessage['socket'], string>();
