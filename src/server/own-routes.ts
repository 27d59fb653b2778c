/** The server's own addresses below `/-/`. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { OwnAnswer, OwnRequest } from './front-door.ts';
import type { HookResult } from './hooks.ts';

export interface OwnRoutesOptions {
  /** Null: nothing can be triggered. */
  readonly operatorToken: { readonly reveal: () => string } | null;
  /** Queues a run over everything, or one that publishes only this page. */
  readonly submit: (page: string | null) => {
    readonly id: string;
    readonly report: Promise<{ readonly hasFailed: boolean }>;
  };
  readonly hasPage: (slug: string) => boolean;
  readonly hooks: (upstreamId: string, request: OwnRequest) => Promise<HookResult>;
  /** Why pages are not published or not fresh; empty when all is well. */
  readonly unreadiness: () => Promise<readonly string[]>;
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

const RebuildSchema = z.strictObject({ page: z.string().max(256).optional() });

/** Makes the handler of `/-/…`; null where there is no such address. */
export function createOwnRoutes(options: OwnRoutesOptions): (request: OwnRequest) => Promise<OwnAnswer | null> {
  return async (request) => {
    const [name = '', ...rest] = request.path.split('/');
    if (name === 'hooks' && rest.length === 1)
      return request.method === 'POST' ? hook(options, request, rest[0] ?? '') : notAllowed('POST');
    if (rest.length > 0) return null;
    if (name === 'rebuild') return request.method === 'POST' ? rebuild(options, request) : notAllowed('POST');
    if (name !== 'health' && name !== 'ready' && name !== 'metrics') return null;
    if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed('GET, HEAD');
    if (name === 'health') return json(200, { status: 'ok' });
    return name === 'ready' ? ready(options) : metrics(options, request);
  };
}

async function ready({ unreadiness }: OwnRoutesOptions): Promise<OwnAnswer> {
  const reasons = await unreadiness();
  return reasons.length === 0 ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', reasons });
}

/** For whoever is on this machine or has the token: the names of upstreams are nobody else's business. */
async function metrics(options: OwnRoutesOptions, request: OwnRequest): Promise<OwnAnswer> {
  if (!isLoopback(request.clientAddress) && !hasToken(request, options.operatorToken)) return unauthorised();
  const { text, contentType } = await options.metrics();
  return {
    status: 200,
    headers: { 'content-type': contentType, 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store' },
    body: text,
  };
}

async function hook(options: OwnRoutesOptions, request: OwnRequest, upstreamId: string): Promise<OwnAnswer> {
  const result = await options.hooks(upstreamId, request);
  if (result.kind === 'refused')
    return json(401, { message: 'There is no such hook, or its secret header is missing or wrong.' });
  if (result.kind === 'known') return json(200, { message: 'This notification is known already.' });
  return json(202, { message: 'The upstream will be asked.', run: result.runId });
}

async function rebuild(options: OwnRoutesOptions, request: OwnRequest): Promise<OwnAnswer> {
  if (!hasToken(request, options.operatorToken)) return unauthorised();
  const text = (await request.body()).toString('utf8').trim();
  const body = RebuildSchema.safeParse(text === '' ? {} : parsed(text));
  if (!body.success)
    return json(400, { message: 'The body is a JSON object with an optional "page": the slug of one page.' });
  const page = body.data.page ?? null;
  if (page !== null && !options.hasPage(page)) return json(404, { message: 'There is no such page.' });
  const { id, report } = options.submit(page);
  if (request.query.get('wait') === null)
    return json(202, { run: id, message: 'A run is queued; add ?wait=1 to wait for its report.' });
  return json(200, { run: id, report: await report });
}

function unauthorised(): OwnAnswer {
  return json(
    401,
    { message: 'The operator token is missing or wrong: Authorization: Bearer <token>.' },
    { 'www-authenticate': 'Bearer' },
  );
}

/** Compared in constant time whatever the lengths are; a header sent twice is no header. */
export function hasToken(request: OwnRequest, token: { readonly reveal: () => string } | null): boolean {
  const header = request.headers.authorization;
  const given = typeof header === 'string' ? (/^Bearer ([^\s,]+)$/i.exec(header)?.[1] ?? '') : '';
  if (token === null || given === '') return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token.reveal()));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): OwnAnswer {
  const body = `${JSON.stringify(value)}\n`;
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      ...headers,
    },
    body,
  };
}

function notAllowed(allow: string): OwnAnswer {
  return json(405, { message: `This address takes ${allow}.` }, { allow });
}
