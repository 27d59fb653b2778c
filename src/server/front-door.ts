/**
 * The front door: every request enters here, and this is the only place that opens a file of a release.
 *
 * Order: host and path, method, the server's own addresses, gates, files. Forbidden and missing resources get the same
 * response.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { clientAddressOf, isForwarded } from '../access/attempts/client-address.ts';
import { type Address, resolveAddress, type SiteAddresses } from './address.ts';
import { type Answer, notAllowed, type OwnRequest, plain } from './answer.ts';
import { BodyTooLargeError, readBody } from './request-body.ts';
import { isReturning, type RequestHead, readHead } from './request-head.ts';
import { type AnsweredRequest, accessFacts, headerLines, send } from './send.ts';
import { guardSockets } from './sockets.ts';
import { gateAnswer } from './visitors/gate-answer.ts';
import { missing, type PageDeps, pageAnswer } from './visitors/page-answer.ts';
import { type SubscribeDeps, subscribeAnswer } from './visitors/subscribe-answer.ts';

export interface FrontDoorOptions extends PageDeps, SubscribeDeps {
  /** The same object as long as nothing of it changed. */
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
  /** The same with everything for the access log; null: there is none. */
  readonly accessLog?: () => ((request: AnsweredRequest) => void) | null;
}

/** Makes the server; the caller listens and closes. */
export function createFrontDoor(options: FrontDoorOptions): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 2_000,
      // Most requests have no body, and creating a stream for one costs as much as finding the response.
      optimizeEmptyRequests: true,
    },
    (request, response) => {
      heard(request.socket);
      serve(options, request, response);
    },
  );
  const heard = guardSockets(server);
  return server;
}

/** Answers one request, and reports it. Without anything to wait for, the response is sent before this returns. */
function serve(options: FrontDoorOptions, request: IncomingMessage, response: ServerResponse): void {
  const startedAt = performance.now();
  const log = options.accessLog?.() ?? null;
  const facts = log === null ? null : accessFacts(request, options.now(), socketOrForwarded(options, request));
  const report = (status: number): void => {
    const seconds = (performance.now() - startedAt) / 1_000;
    options.onAnswered?.(status, seconds);
    if (facts !== null) log?.(facts(status, seconds));
  };
  const head = readHead(request);
  const address = resolveAddress(head.host, request.url ?? '/', options.addresses());
  const reply = (result: Answer): void => {
    const isOpen = result.status >= 400 && isOpenToScripts(options, address);
    const lines = headerLines(isOpen ? { ...result.headers, ...OPEN_TO_SCRIPTS } : result.headers, options.isHttpsSite);
    send(response, request.method === 'HEAD' ? { ...result, body: null } : result, {
      lines: options.isStopping?.() === true ? [...lines, 'connection', 'close'] : lines,
      report,
    });
  };
  const fail = (error: unknown): void => {
    const isTooLarge = error instanceof BodyTooLargeError;
    if (!isTooLarge) options.onError(error, (request.url ?? '/').split('?', 1)[0] ?? '');
    reply(isTooLarge ? plain(413, 'The body is larger than 64 kB.') : plain(500, 'Something went wrong on our side.'));
  };
  try {
    const result = answer(options, request, { head, address });
    if (result instanceof Promise) result.then(reply).catch(fail);
    else reply(result);
  } catch (error) {
    fail(error);
  }
}

/** Decides in this order: is the request well formed, what is at its address, may it be changed, may it be seen. */
function answer(
  options: FrontDoorOptions,
  request: IncomingMessage,
  { head, address }: { readonly head: RequestHead; readonly address: Address },
): Answer | Promise<Answer> {
  if (head.isAmbiguous) return plain(400, 'A header that may appear only once was sent twice.');
  if (address.kind === 'refused')
    return plain(address.status, address.status === 421 ? 'This host name is not served here.' : 'Bad request.');
  if (address.kind === 'own') return ownAnswer(options, request, address);
  const method = request.method ?? 'GET';
  if (method === 'OPTIONS') return isOpenToScripts(options, address) ? PREFLIGHT_OPEN : PREFLIGHT_CLOSED;
  if (address.kind === 'redirect')
    return {
      status: 301,
      headers: { location: address.location, 'cache-control': 'public, max-age=300' },
      body: null,
    };
  if (address.kind === 'page' && address.form !== null) return formAnswer(options, request, address, head);
  if (method !== 'GET' && method !== 'HEAD') return notAllowed();
  const give = (): Answer | Promise<Answer> => pageAnswer(options, { address, query: queryOf(request), head });
  // Whatever page it is about, so that the time it takes tells nothing of any.
  const catchingUp = isReturning(head) ? options.catchUp?.() : null;
  return catchingUp ? catchingUp.then(give) : give();
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
  return method === 'POST' ? notAllowed() : pageAnswer(options, { address, query, head });
}

/**
 * Whether scripts on other sites may read the response, including errors. A missing page counts as private, so that this
 * reveals nothing.
 */
function isOpenToScripts({ access }: FrontDoorOptions, address: Address): boolean {
  return address.kind === 'site' || (address.kind === 'page' && access.pageOf(address.slug)?.gate.kind === 'public');
}

const OPEN_TO_SCRIPTS = { 'access-control-allow-origin': '*' };

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
    body: () => readBody(request),
  });
  return answered ?? plain(404, 'Not found.');
}

function traceOf(header: string | string[] | undefined): string | null {
  return /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(String(header))?.[1] ?? null;
}

/** Empty if the request came by a proxy that isn't configured: it may be anybody's, and nobody is locked out for others. */
function clientAddress(options: FrontDoorOptions, request: IncomingMessage): string {
  const isUnknown = options.trustedProxyHops === 0 && isForwarded(request);
  return isUnknown ? '' : socketOrForwarded(options, request);
}

function socketOrForwarded({ trustedProxyHops }: FrontDoorOptions, { socket, headers }: IncomingMessage): string {
  return clientAddressOf(socket.remoteAddress ?? '', headers['x-forwarded-for'], trustedProxyHops);
}
