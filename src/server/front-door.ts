/**
 * The front door: every request enters here, and this is the only place that opens a file of a release.
 *
 * Order: host and path, method, the server's own addresses, gates, files. Forbidden and missing resources get the same
 * response.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { clientAddressOf } from '../access/attempts/client-address.ts';
import { isSubscribePath } from '../notify/subscriptions.ts';
import { type Address, resolveAddress, type SiteAddresses } from './address.ts';
import { type Answer, notAllowed, type OwnRequest, plain } from './answer.ts';
import { BodyTooLargeError, readBody } from './request-body.ts';
import { type AnsweredRequest, accessFacts, headerLines, isTaken, send, tellWhenClosed } from './send.ts';
import { guardSockets } from './sockets.ts';
import { gateAnswer, isGatePath } from './visitors/gate-answer.ts';
import { missing, type PageAnswer, type PageDeps, pageAnswer } from './visitors/page-answer.ts';
import { createReadyAnswers, plainRequestOf } from './visitors/ready-answers.ts';
import { type SubscribeDeps, subscribeAnswer } from './visitors/subscribe-answer.ts';

export interface FrontDoorOptions extends PageDeps, SubscribeDeps {
  /** The same object as long as nothing of it changed. */
  readonly addresses: () => SiteAddresses;
  /** Answers requests below `/-/`; null: not found. */
  readonly own: (request: OwnRequest) => Promise<Answer | null>;
  /** Forwards them to the main process instead. */
  readonly forward?: (request: IncomingMessage, response: ServerResponse) => void;
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
  const ready = createReadyAnswers(options);
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
      const startedAt = performance.now();
      const log = options.accessLog?.() ?? null;
      const plainRequest = options.isStopping?.() === true ? null : plainRequestOf(request);
      const found = plainRequest === null ? null : ready.find(plainRequest);
      if (found !== null && log === null) {
        send(response, found, found.lines);
        const tell = (status: number): void => options.onAnswered?.(status, (performance.now() - startedAt) / 1_000);
        if (isTaken(response)) tell(found.status);
        else tellWhenClosed(response, tell);
        return;
      }
      const facts = log === null ? null : accessFacts(request, options.now(), clientAddress(options, request));
      tellWhenClosed(response, (status) => {
        const seconds = (performance.now() - startedAt) / 1_000;
        options.onAnswered?.(status, seconds);
        if (facts !== null) log?.(facts(status, seconds));
      });
      if (found !== null) return send(response, found, found.lines);
      const keep = (result: PageAnswer, lines: string[]): void => {
        if (plainRequest !== null) ready.keep(plainRequest, result, lines);
      };
      answer({ options, keep }, request, response).catch((error: unknown) => {
        if (error instanceof BodyTooLargeError)
          return sendWith(options, response, plain(413, 'The body is larger than 64 kB.'));
        const target = request.url ?? '/';
        options.onError(error, target.split('?', 1)[0] ?? '');
        const failed = plain(500, 'Something went wrong on our side.');
        const address = resolveAddress(request.headers.host, target, options.addresses());
        sendWith(options, response, isOpenToScripts(options, address) ? openedToScripts(failed) : failed);
      });
    },
  );
  const heard = guardSockets(server);
  return server;
}

async function answer(
  { options, keep }: { options: FrontDoorOptions; keep: (result: PageAnswer, lines: string[]) => void },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? '/';
  if (hasAmbiguousHeader(request))
    return sendWith(options, response, plain(400, 'A header that may appear only once was sent twice.'));
  const address = resolveAddress(request.headers.host, target, options.addresses());
  const isOpen = isOpenToScripts(options, address);
  // Other responses set this header themselves.
  const reply = (result: Answer): void =>
    sendWith(
      options,
      response,
      isOpen && result.status >= 400 ? openedToScripts(result) : result,
      request.method === 'HEAD',
    );
  if (address.kind === 'refused')
    return reply(plain(address.status, address.status === 421 ? 'This host name is not served here.' : 'Bad request.'));
  const query = queryOf(target);
  if (address.kind === 'own' && options.forward !== undefined) return options.forward(request, response);
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
  const result = await pageAnswer(options, request, { address, query });
  if (result.status < 400) keep(result, headerLines(result.headers, options.isHttpsSite));
  reply(result);
}

/**
 * Whether scripts on other sites may read the response, including errors. A missing page counts as private, so that this
 * reveals nothing.
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

/** Headers that decide about access. If one is repeated, Node takes the first and a proxy may take the last. */
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

function sendWith(options: FrontDoorOptions, response: ServerResponse, result: Answer, isHead = false): void {
  const lines = headerLines(result.headers, options.isHttpsSite);
  send(
    response,
    isHead ? { ...result, body: null } : result,
    options.isStopping?.() === true ? [...lines, 'connection', 'close'] : lines,
  );
}
