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
import { type Access, canView, type GateRequest, type GateResponse, NOBODY } from '../access/access.ts';
import { clientAddressOf } from '../access/attempts/client-address.ts';
import type { EpochMs } from '../model/time.ts';
import { EVERY_ANSWER, HSTS } from '../publish/releases/answer-headers.ts';
import { SITE_SLUG } from '../publish/releases/folders.ts';
import type { SignInResult } from '../store/audit.ts';
import { type Address, resolveAddress, type SiteAddresses } from './address.ts';
import { BodyTooLargeError, readBody } from './request-body.ts';
import { guardSockets, SOCKET_LIMITS } from './sockets.ts';
import { type BadgeService, badgeAddressOf } from './visitors/badge-service.ts';
import { type FileAnswer, fileAnswer } from './visitors/file-answer.ts';
import type { OpenRelease, ReleaseReader } from './visitors/release-reader.ts';

export interface OwnRequest {
  readonly method: string;
  /** Below `/-/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly clientAddress: string;
  readonly isSecure: boolean;
  /** By the site's own host, or from this machine; not by the domain of one page. */
  readonly isSiteHost: boolean;
  /** Reads the body, at most 64 kB. */
  readonly body: () => Promise<Buffer>;
}

export interface OwnAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array;
  /** Keeps the answer open (server-sent events) instead of sending `body`. */
  readonly stream?: (response: ServerResponse) => void;
}

export interface FrontDoorOptions {
  readonly addresses: () => SiteAddresses;
  readonly reader: ReleaseReader;
  readonly access: Access;
  /** Answers below `/-/`; null: nothing there. */
  readonly own: (request: OwnRequest) => Promise<OwnAnswer | null>;
  /** Draws badges from the data of a release. */
  readonly badges: BadgeService;
  readonly trustedProxyHops: number;
  /** Whether site.url is https: cookies and HSTS follow it, never a header a client can send. */
  readonly isHttpsSite: boolean;
  readonly now: () => EpochMs;
  readonly onError: (error: unknown, where: string) => void;
  /** Every answer, when its last byte is handed over. */
  readonly onAnswered?: (status: number, seconds: number) => void;
  /** Every try to get into a page, whether there is such a page or not. */
  readonly onSignIn?: (slug: string, result: SignInResult) => void;
}

/** Who takes no byte of an answer for this long, or twice as long after taking some, is cut off; streams are not. */
const READER_PATIENCE_MS = 10_000;
const NEVER_CACHED = 'private, no-store';
const PLAIN = 'text/plain; charset=utf-8';

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
      const startedAt = performance.now();
      response.once('finish', () => options.onAnswered?.(response.statusCode, (performance.now() - startedAt) / 1_000));
      answer(options, request, response).catch((error: unknown) => {
        if (error instanceof BodyTooLargeError)
          return send(options, response, plain(413, 'The body is larger than 64 kB.'));
        options.onError(error, request.url?.split('?', 1)[0] ?? '');
        send(options, response, plain(500, 'Something went wrong on our side.'));
      });
    },
  );
  guardSockets(server);
  return server;
}

async function answer(options: FrontDoorOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = request.url ?? '/';
  if (hasAmbiguousHeader(request))
    return send(options, response, plain(400, 'A header that may come once came twice.'));
  const address = resolveAddress(request.headers.host, target, options.addresses());
  const reply = (result: FileAnswer | OwnAnswer): void => send(options, response, result, request.method === 'HEAD');
  if (address.kind === 'refused')
    return reply(plain(address.status, address.status === 421 ? 'This host is not served here.' : 'Bad request.'));
  const query = queryOf(target);
  if (address.kind === 'own')
    return reply((await ownAnswer(options, request, { address, query })) ?? plain(404, 'Not found.'));
  const method = request.method ?? 'GET';
  if (method === 'OPTIONS')
    return reply({
      status: 204,
      headers: { allow: 'GET, HEAD, OPTIONS', 'access-control-allow-origin': '*' },
      body: null,
    });
  if (address.kind === 'redirect')
    return reply({
      status: 301,
      headers: { location: address.location, 'cache-control': 'public, max-age=300' },
      body: null,
    });
  if (address.kind === 'page' && isGatePath(address.path)) {
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return reply(notAllowed());
    return reply(await gateAnswer(options, request, { address, query, method }));
  }
  if (method !== 'GET' && method !== 'HEAD') return reply(notAllowed());
  reply(await pageAnswer(options, request, { address, query }));
}

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
): Promise<OwnAnswer | null> {
  return options.own({
    method: request.method ?? 'GET',
    path: address.path,
    query,
    headers: request.headers,
    clientAddress: clientAddress(options, request),
    isSecure: options.isHttpsSite,
    isSiteHost: address.isSite,
    body: () => readBody(request),
  });
}

async function pageAnswer(
  options: FrontDoorOptions,
  request: IncomingMessage,
  { address, query }: { address: Address & { kind: 'page' | 'site' }; query: URLSearchParams },
): Promise<FileAnswer | OwnAnswer> {
  if (address.kind === 'site') {
    const release = options.reader.open(SITE_SLUG);
    const found =
      release === null ? null : fileAnswer(release, { path: address.path, isPublic: true, headers: request.headers });
    return found ?? missing(options, request);
  }
  const page = options.access.pageOf(address.slug);
  const isPublic = page?.gate.kind === 'public';
  const badge = badgeAddressOf(address.path);
  // Asked for pages that do not exist too, so that the time it takes tells nothing.
  const principal = isPublic ? NOBODY : await options.access.principalOf(request.headers.cookie ?? null, options.now());
  const isSeen = canView(principal, page) || (badge !== null && (await hasBadgeToken(options, address.slug, query)));
  const release = isSeen ? openSeen(options.reader, address.slug, isPublic) : null;
  if (badge !== null) {
    if (release === null) return options.badges.missing();
    return options.badges.draw(release, {
      address: badge,
      query,
      now: options.now(),
      isPublic,
      ifNoneMatch: request.headers['if-none-match'],
    });
  }
  if (release === null) return denied(options, request, address);
  const found =
    fileAnswer(release, { path: address.path, isPublic, headers: request.headers }) ??
    directoryRedirect(release.manifest.files, address);
  return found ?? missing(options, request);
}

/** A release that went behind a gate in another process is not shown while this one still takes the page for public. */
function openSeen(reader: ReleaseReader, slug: string, isPublic: boolean): OpenRelease | null {
  const release = reader.open(slug);
  return isPublic && release?.manifest.access !== 'public' ? null : release;
}

/** Badges of a gated page also open for a token that the operator gave out; asked for every page, so that it tells nothing. */
async function hasBadgeToken(options: FrontDoorOptions, slug: string, query: URLSearchParams): Promise<boolean> {
  const token = query.get('token');
  return token !== null && options.access.allowsBadge(slug, token);
}

/** `/acme/history` is the folder `/acme/history/`, as static hosts have it. */
function directoryRedirect(
  files: Readonly<Record<string, unknown>>,
  { path, base }: Address & { kind: 'page' },
): FileAnswer | null {
  if (!Object.hasOwn(files, `${path}/index.html`)) return null;
  return { status: 301, headers: { location: `${base}${path}/`, 'cache-control': 'no-store' }, body: null };
}

/** The one answer for a page that does not exist and for one that is not for whoever asks. */
async function denied(
  options: FrontDoorOptions,
  request: IncomingMessage,
  { base, path }: Address & { kind: 'page' },
): Promise<FileAnswer | OwnAnswer> {
  const answered = await options.access.denied({ base, path: path.replace(/(^|\/)index\.html$/, '$1') });
  return answered === null ? missing(options, request) : gateReply(answered);
}

/** What is not there, on the site or on a page that whoever asks may see. */
function missing(options: FrontDoorOptions, request: IncomingMessage): FileAnswer | OwnAnswer {
  const release = options.reader.open(SITE_SLUG);
  const page =
    release === null
      ? null
      : fileAnswer(release, {
          path: '404.html',
          isPublic: false,
          headers: { 'accept-encoding': request.headers['accept-encoding'] },
        });
  return page === null ? plain(404, 'Not found.') : { ...page, status: 404 };
}

function isGatePath(path: string): boolean {
  return path === 'logout' || path === 'logout/index.html' || path === 'login' || path.startsWith('login/');
}

async function gateAnswer(
  options: FrontDoorOptions,
  request: IncomingMessage,
  {
    address,
    query,
    method,
  }: { address: Address & { kind: 'page' }; query: URLSearchParams; method: GateRequest['method'] },
): Promise<FileAnswer | OwnAnswer> {
  const isForm = (request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
  const body = method === 'POST' ? await readBody(request) : null;
  const fetchSite = request.headers['sec-fetch-site'];
  const result = await options.access.handle({
    method,
    path: address.path.replace(/index\.html$/, ''),
    slug: address.slug,
    query,
    form: new URLSearchParams(isForm && body !== null ? body.toString('utf8') : ''),
    cookie: request.headers.cookie ?? null,
    origin: request.headers.origin ?? null,
    fetchSite: typeof fetchSite === 'string' ? fetchSite : null,
    ownOrigin: `${options.isHttpsSite ? 'https' : 'http'}://${request.headers.host ?? ''}`,
    base: address.base,
    isSecure: options.isHttpsSite,
    clientAddress: clientAddress(options, request),
    now: options.now(),
  });
  if (result === null) return missing(options, request);
  const signedIn = method === 'POST' ? signInResultOf(address.path, result) : null;
  if (signedIn !== null) options.onSignIn?.(address.slug, signedIn);
  return gateReply(result);
}

/** How a try to get in ended, by what it is answered; null: no try, or none that is decided yet. */
function signInResultOf(path: string, { status, headers }: GateResponse): SignInResult | null {
  if (!path.startsWith('login')) return null;
  if (status === 429) return 'limited';
  if (status === 403) return 'refused';
  const isIn = status === 303 && [headers['set-cookie'] ?? []].flat().some((cookie) => SESSION_COOKIE.test(cookie));
  return isIn ? 'signed_in' : null;
}

const SESSION_COOKIE = /^(__Host-)?pharos=./;

function gateReply({ status, headers, body }: GateResponse): OwnAnswer {
  return { status, headers: { 'content-length': Buffer.byteLength(body), ...headers } as OutgoingHttpHeaders, body };
}

function clientAddress(options: FrontDoorOptions, request: IncomingMessage): string {
  return clientAddressOf(
    request.socket.remoteAddress ?? '',
    request.headers['x-forwarded-for'],
    options.trustedProxyHops,
  );
}

function send(
  options: FrontDoorOptions,
  response: ServerResponse,
  result: FileAnswer | OwnAnswer,
  isHead = false,
): void {
  if (response.headersSent) {
    response.end();
    return;
  }
  response.writeHead(result.status, headerLines(result.headers, options.isHttpsSite));
  if ('stream' in result && result.stream !== undefined) {
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

function plain(status: number, text: string): OwnAnswer {
  const body = `${text}\n`;
  return {
    status,
    headers: { 'content-type': PLAIN, 'content-length': Buffer.byteLength(body), 'cache-control': NEVER_CACHED },
    body,
  };
}

function notAllowed(): OwnAnswer {
  const answered = plain(405, 'This address is only read.');
  return { ...answered, headers: { ...answered.headers, allow: 'GET, HEAD, OPTIONS' } };
}
