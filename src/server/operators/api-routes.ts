/** `/-/v1/…`: requests matched with the table of operations, and refusals as answers. */

import type { OutgoingHttpHeaders } from 'node:http';
import { digest } from '../../access/digest.ts';
import { isStatusError } from '../../errors.ts';
import { decodeBody } from '../../incidents/form-body.ts';
import { openApiDocument } from '../../incidents/openapi.ts';
import { type Call, OPERATIONS, type Operation } from '../../incidents/operations.ts';
import { Refusal } from '../../incidents/refusal.ts';
import { type Author, authorPage } from '../../incidents/writer.ts';
import type { WritingPage } from '../../incidents/writing-page.ts';
import { noPageKey, type PageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import type { ResolvedPage } from '../../publish/definitions/definitions.ts';
import { type Answer, json, type OwnRequest } from '../answer.ts';
import type { ApiAccess, ApiVerdict } from './api-access.ts';

export interface ApiRoutesOptions extends Pick<Call, 'database' | 'newSuffix'> {
  /** False: no operator token is configured, so writing is off. */
  readonly isOn: () => boolean;
  readonly access: ApiAccess;
  /** False: this process only serves and doesn't publish. */
  readonly canRun: boolean;
  readonly now: () => EpochMs;
  readonly clientOf: (address: string) => string | null;
  /** Null: there is no such page. */
  readonly pageOf: (slug: string) => Promise<ResolvedPage | null>;
  readonly load: (slug: string) => Promise<WritingPage | null>;
  readonly publish: () => Promise<void>;
  readonly version: string;
  readonly siteUrl: () => string;
}

const KEY_CHARS_MAX = 200;

/** Makes the handler; `rest` is the path behind `v1`. Null: there is no such address. */
export function createApiRoutes(
  options: ApiRoutesOptions,
): (request: OwnRequest, rest: readonly string[]) => Promise<Answer | null> {
  return async (request, rest) => {
    if (!options.isOn()) return null;
    try {
      if (rest.join('/') === 'openapi.json') return openApi(options, request);
      return await answer(options, request, rest);
    } catch (error) {
      if (error instanceof Refusal) return refused(error);
      if (!isStatusError(error) || !error.code.startsWith('STORE_')) throw error;
      return refused(new Refusal(503, 'The database is temporarily unavailable. Nothing was saved.'));
    }
  };
}

function openApi({ version, siteUrl }: ApiRoutesOptions, { method }: OwnRequest): Answer {
  if (method !== 'GET' && method !== 'HEAD') throw notAllowed(['GET', 'HEAD']);
  return json(200, openApiDocument(version, siteUrl()));
}

async function answer(options: ApiRoutesOptions, request: OwnRequest, rest: readonly string[]): Promise<Answer> {
  const now = options.now();
  const verdict = await options.access.check(request.headers.authorization, { address: request.clientAddress, now });
  if (verdict.kind === 'wrong') return refused(new Refusal(401, UNAUTHORIZED), { 'www-authenticate': 'Bearer' });
  if (verdict.kind === 'limited')
    return refused(new Refusal(429, 'Too many requests. Try again later.'), {
      'retry-after': String(Math.ceil(verdict.retryAfterMs / 1_000)),
    });
  const [pages, slug = '', ...path] = rest;
  if (pages !== 'pages' || slug === '') throw new Refusal(404, NOT_FOUND);
  const { operation, params } = operationOf(
    request.method,
    path.filter((part, index) => part !== '' || index < path.length - 1),
  );
  const page = await options.pageOf(slug);
  permit(verdict, page?.identity.key ?? noPageKey(slug), operation);
  if (page === null) throw new Refusal(404, NOT_FOUND);
  const isWrite = operation.scope !== 'read';
  if (isWrite && !options.canRun)
    throw new Refusal(409, 'This process only serves pages. Send the request to the one that runs `pharos start`.');
  const body = operation.body === null ? null : decodeBody(await request.body(), request.headers['content-type'] ?? '');
  const author: Author = {
    actor: verdict.actor,
    client: options.clientOf(request.clientAddress),
    now,
    page: authorPage(page),
    request: isWrite ? repeatable(request, body) : null,
  };
  const load = async (): Promise<WritingPage> => {
    const writing = await options.load(slug);
    if (writing === null) throw new Refusal(404, NOT_FOUND);
    return writing;
  };
  const { database, newSuffix, publish } = options;
  const version = versionOf(request.headers['if-match']);
  const value = await operation.run({ author, params, body, version, database, newSuffix, load, publish });
  return json(operation.status, value, tagOf(value));
}

const NOT_FOUND = 'Not found.';
const UNAUTHORIZED = 'The token is missing or incorrect. Send it as Authorization: Bearer <token>, or OAuth <token>.';

/** With a token for another page, a page looks as if it didn't exist. */
function permit(verdict: ApiVerdict & { readonly kind: 'right' }, page: PageKey, { scope }: Operation): void {
  const permission = verdict.may(page, scope);
  if (permission === 'elsewhere') throw new Refusal(404, NOT_FOUND);
  if (permission === 'scope') throw new Refusal(403, `This token does not have the scope ${scope}.`);
}

/** Finds the operation of an address; literal segments take precedence over parameters. */
function operationOf(
  method: string,
  path: readonly string[],
): { readonly operation: Operation; readonly params: Readonly<Record<string, string>> } {
  const found = OPERATIONS.flatMap((operation) => {
    const params = paramsOf(operation.path.split('/'), path.map(withoutSuffix));
    return params === null ? [] : [{ operation, params }];
  });
  if (found.length === 0) throw new Refusal(404, NOT_FOUND);
  const wanted = method === 'HEAD' ? 'GET' : method;
  const exact = found
    .toSorted((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)
    .find(({ operation }) => operation.methods.some((known) => known === wanted));
  if (exact === undefined) throw notAllowed(found.flatMap(({ operation }) => operation.methods));
  return exact;
}

/** Clients of the original write `incidents.json`. */
function withoutSuffix(part: string, index: number, parts: readonly string[]): string {
  return index === parts.length - 1 ? part.replace(/\.json$/, '') : part;
}

function paramsOf(template: readonly string[], path: readonly string[]): Readonly<Record<string, string>> | null {
  if (template.length !== path.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of template.entries()) {
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
    const given = path[index] ?? '';
    if (name === undefined ? part !== given : given === '') return null;
    if (name !== undefined) params[name] = given;
  }
  return params;
}

/** The request as it is known again by, where it carries a key. */
function repeatable(request: OwnRequest, body: unknown): Author['request'] {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key === '' || key.length > KEY_CHARS_MAX)
    throw new Refusal(400, `Idempotency-Key must have 1 to ${KEY_CHARS_MAX} characters.`);
  return { key, digest: digest(request.method, request.path, JSON.stringify(body)) };
}

function versionOf(header: string | undefined): number | null {
  if (header === undefined || header === '*') return null;
  const [, version] = /^(?:W\/)?"(\d{1,9})"$/.exec(header) ?? [];
  if (version === undefined) throw new Refusal(400, 'If-Match must be the version of an incident, such as "3".');
  return Number(version);
}

function tagOf(value: unknown): OutgoingHttpHeaders {
  const { version } = (value ?? {}) as { version?: unknown };
  return typeof version === 'number' ? { etag: `"${version}"` } : {};
}

function notAllowed(methods: readonly string[]): Refusal {
  return new Refusal(405, `Method not allowed. Use ${[...new Set(methods)].join(', ')}.`);
}

/** A refusal as an answer. */
export function refused({ status, message, issues }: Refusal, headers: OutgoingHttpHeaders = {}): Answer {
  const error = issues.length === 0 ? [message] : issues.map(({ path, message: words }) => `${path} ${words}`.trim());
  return json(status, { error, issues }, headers);
}
