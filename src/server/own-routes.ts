/** The server's own addresses below `/-/`. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { EpochMs } from '../model/time.ts';
import type { OwnAnswer, OwnRequest } from './front-door.ts';

export interface OwnRoutesOptions {
  /** Null: nothing can be triggered. */
  readonly operatorToken: { readonly reveal: () => string } | null;
  /** Pulls and publishes (one page, or all); resolves with the report. */
  readonly run: (page: string | null) => Promise<{ readonly id: string; readonly hasFailed: boolean }>;
  readonly hasPage: (slug: string) => boolean;
  readonly now: () => EpochMs;
}

const RebuildSchema = z.strictObject({ page: z.string().max(256).optional() });

/** Makes the handler of `/-/…`; null where there is no such address. */
export function createOwnRoutes(options: OwnRoutesOptions): (request: OwnRequest) => Promise<OwnAnswer | null> {
  return async (request) => {
    switch (request.path) {
      case 'health':
        return isRead(request) ? json(200, { status: 'ok' }) : notAllowed('GET, HEAD');
      case 'rebuild':
        return request.method === 'POST' ? rebuild(options, request) : notAllowed('POST');
      default:
        return null;
    }
  };
}

async function rebuild(options: OwnRoutesOptions, request: OwnRequest): Promise<OwnAnswer> {
  if (!hasToken(request, options.operatorToken)) {
    return json(
      401,
      { message: 'The operator token is missing or wrong: Authorization: Bearer <token>.' },
      { 'www-authenticate': 'Bearer' },
    );
  }
  const text = (await request.body()).toString('utf8').trim();
  const body = RebuildSchema.safeParse(text === '' ? {} : parsed(text));
  if (!body.success)
    return json(400, { message: 'The body is a JSON object with an optional "page": the slug of one page.' });
  const page = body.data.page ?? null;
  if (page !== null && !options.hasPage(page)) return json(404, { message: 'There is no such page.' });
  const running = options.run(page);
  if (request.query.get('wait') === null) {
    // The report is remembered by the engine; whoever does not wait finds it there.
    running.catch(() => undefined);
    return json(202, { message: 'A run has been queued. Add ?wait=1 to wait for its report.' });
  }
  return json(200, { report: await running });
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

function isRead(request: OwnRequest): boolean {
  return request.method === 'GET' || request.method === 'HEAD';
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
