/** One try of an HTTP check: a connection of its own, so that every part of it is checked and timed. */

import { Client } from 'undici';
import { isStatusError } from '../errors.ts';
import { createDispatcher, type Dispatcher, headerText } from '../network/dispatcher.ts';
import type { HttpCheck } from '../sync/connectors/check.ts';
import { ACCEPTED_ENCODINGS, dropBody, readBody } from '../sync/http/body.ts';
import { openConnection } from './connect.ts';
import { CheckFault, expectation, holds, type Meter, type TryDeps } from './measure.ts';

/** More of a body is neither read nor looked through. */
const BODY_BYTES_MAX = 1024 * 1024;
const REDIRECTS_MAX = 10;

interface Hop {
  readonly url: URL;
  readonly method: string;
  /** False: another origin is asked, which gets neither headers nor body of the configuration. */
  readonly isOwn: boolean;
  readonly hasBody: boolean;
}

/** @throws CheckFault where the answer isn't as it has to be, and whatever the network gives */
export async function tryHttp(check: HttpCheck, deps: TryDeps, meter: Meter): Promise<void> {
  const hasBody = check.body !== undefined && ['POST', 'PUT', 'PATCH'].includes(check.method);
  let hop: Hop = { url: new URL(check.url), method: check.method, isOwn: true, hasBody };
  for (let redirects = 0; ; redirects += 1) {
    const next = await visit(hop, check, deps, meter);
    if (next === null) return;
    if (redirects === REDIRECTS_MAX) throw new CheckFault(`more than ${REDIRECTS_MAX} redirects`);
    hop = next;
  }
}

/** Returns where the answer leads on; null: it was the last, and is as it has to be. */
async function visit(hop: Hop, check: HttpCheck, deps: TryDeps, meter: Meter): Promise<Hop | null> {
  const dispatcher = await connectTo(hop.url, check, deps, meter);
  try {
    const response = await meter.time('firstByte', () =>
      dispatcher.request({
        origin: hop.url.origin,
        path: `${hop.url.pathname}${hop.url.search}`,
        method: hop.method as Dispatcher.HttpMethod,
        headers: headersOf(hop, check),
        body: hop.hasBody ? (check.body ?? null) : null,
        signal: deps.signal,
      }),
    );
    meter.hasAnswered = true;
    const next = check.follow_redirects ? redirectOf(response, hop) : null;
    if (next !== null) dropBody(response.body);
    else await meter.time('body', () => judge(response, check));
    return next;
  } finally {
    // Nothing waits for what else the target would send.
    dispatcher.destroy().catch(() => undefined);
  }
}

/** Behind a proxy, the proxy makes the connection, and its parts can't be seen. */
async function connectTo(url: URL, check: HttpCheck, deps: TryDeps, meter: Meter): Promise<Dispatcher> {
  const { proxy, ca } = deps;
  const limits = { connectMs: check.timeout, headersMs: check.timeout, idleMs: check.timeout, connectionsMax: 1 };
  if (proxy.http !== '' || proxy.https !== '') return createDispatcher({ ...limits, proxy, ca: ca ?? undefined });
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (isTls ? 443 : 80));
  const socket = await openConnection({ host, port, ipVersion: check.ip_version, isTls }, deps, meter);
  return new Client(url.origin, {
    // undici doesn't expect an answer within its own call.
    connect: (_, done) => queueMicrotask(() => done(null, socket)),
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function headersOf({ isOwn, hasBody }: Hop, { headers, auth }: HttpCheck): Record<string, string> {
  const sent: Record<string, string> = {
    accept: '*/*',
    'accept-encoding': ACCEPTED_ENCODINGS,
    'user-agent': 'Pharos',
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
  };
  if (!isOwn) return sent;
  if (auth !== undefined)
    sent['authorization'] =
      'token' in auth
        ? `Bearer ${auth.token.reveal()}`
        : `Basic ${Buffer.from(`${auth.user}:${auth.password.reveal()}`).toString('base64')}`;
  for (const { key, value } of headers) sent[key.toLowerCase()] = value.reveal();
  return sent;
}

/** Where it leads; null: it is no redirect. */
function redirectOf({ statusCode, headers }: Dispatcher.ResponseData, hop: Hop): Hop | null {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(statusCode) || typeof location !== 'string') return null;
  const url = URL.parse(headerText(location), hop.url);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new CheckFault('it redirects to an address that is none');
  const becomesGet = statusCode === 303 || (statusCode < 303 && hop.method === 'POST');
  const isOwn = hop.isOwn && url.origin === hop.url.origin;
  if (!isOwn && hop.hasBody && !becomesGet)
    throw new CheckFault('it redirects the request to another origin, which does not get its body');
  return {
    url,
    method: becomesGet && hop.method !== 'HEAD' ? 'GET' : hop.method,
    isOwn,
    hasBody: hop.hasBody && !becomesGet,
  };
}

/** Where no assertion is about the status. */
const SUCCESS: HttpCheck['status_code_assertions'] = [
  { comparator: 'gte', target: 200 },
  { comparator: 'lt', target: 300 },
];

async function judge(response: Dispatcher.ResponseData, check: HttpCheck): Promise<void> {
  const { statusCode, headers, body } = response;
  const { status_code_assertions: statuses, header_assertions: ofHeaders, body_assertions: ofBody } = check;
  try {
    for (const { target, comparator } of statuses.length === 0 ? SUCCESS : statuses)
      if (!holds(statusCode, comparator, target))
        throw new CheckFault(
          `status ${statusCode}${statuses.length === 0 ? '' : `, ${expectation('the status', comparator, target)}`}`,
        );
    for (const { key, target, comparator } of ofHeaders)
      if (!holds(headerText([headers[key.toLowerCase()] ?? ''].flat().join(', ')), comparator, target))
        throw new CheckFault(expectation(`the header ${key}`, comparator));
    const text = await readText(response, ofBody.length > 0);
    for (const { target, comparator } of ofBody)
      if (!holds(text, comparator, target)) throw new CheckFault(expectation('the body', comparator));
  } finally {
    dropBody(body);
  }
}

/** The body as text where it is looked at; else it is read as far as its limit, so that its time counts. */
async function readText({ body, headers }: Dispatcher.ResponseData, isWanted: boolean): Promise<string> {
  if (!isWanted) {
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) break;
    }
    return '';
  }
  try {
    return (await readBody(body, [headers['content-encoding']].flat()[0], BODY_BYTES_MAX)).toString('utf8');
  } catch (error) {
    if (!isStatusError(error)) throw error;
    throw new CheckFault(
      'the body cannot be looked through: it is larger than 1 MB, damaged or packed in a way we do not know',
    );
  }
}
