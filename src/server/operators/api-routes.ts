/** `/-/v1/…` and `/-/intake/…`: runs operations, takes alerts, and turns refusals into responses. */

import { createHmac } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { digest } from '../../access/digest.ts';
import type { IntakeConfig } from '../../config/intake.ts';
import { isStoreError } from '../../errors.ts';
import { readAlerts, type Taken, takeAlert } from '../../incidents/intake.ts';
import type { Call } from '../../incidents/operation.ts';
import { matchOperation, openApiDocument } from '../../incidents/operations.ts';
import { pageId } from '../../incidents/page-operations.ts';
import { Refusal } from '../../incidents/requests.ts';
import { type Author, authorPage, type WritingPage } from '../../incidents/writing-page.ts';
import { noPageKey } from '../../model/slugs.ts';
import type { EpochMs } from '../../model/time.ts';
import type { ResolvedPage } from '../../publish/definitions/definitions.ts';
import { type AuditEntry, insertAudit } from '../../store/audit.ts';
import type { ApiScope } from '../../store/written.ts';
import { type Answer, json, type OwnRequest, retryAfter } from '../answer.ts';
import { limited } from '../own-routes.ts';
import { type ApiAccess, isSame, type Operator, type OperatorGuard } from './operator.ts';

export interface ApiRoutesOptions extends Pick<Call, 'database' | 'newSuffix' | 'subscribers'> {
  /** False: no operators are configured, so writing is off. */
  readonly isOn: () => boolean;
  readonly access: ApiAccess;
  /** False: this process only serves and doesn't publish. */
  readonly canRun: boolean;
  readonly now: () => EpochMs;
  readonly clientOf: (address: string) => string | null;
  /** All current pages. */
  readonly pages: () => Promise<readonly ResolvedPage[]>;
  readonly load: (slug: string) => Promise<WritingPage | null>;
  readonly templatesOf: (slug: string) => ReturnType<Call['templates']>;
  readonly publish: () => Promise<void>;
  readonly version: string;
  readonly siteUrl: () => string;
}

const KEY_CHARS_MAX = 200;

/** Creates the handler; `rest` is the path after `v1`. Null: no such address. */
export function createApiRoutes(options: ApiRoutesOptions) {
  return async (request: OwnRequest, rest: readonly string[]): Promise<Answer | null> => {
    if (!options.isOn()) return null;
    return orRefusal('Nothing was saved.', async () =>
      rest.join('/') === 'openapi.json' ? openApi(options, request) : answer(options, request, rest),
    );
  };
}

/** The response to a request, or why it is refused. @param remedy if the database is away */
async function orRefusal(remedy: string, respond: () => Promise<Answer>): Promise<Answer> {
  try {
    return await respond();
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(error);
    if (!isStoreError(error)) throw error;
    return refusalAnswer(new Refusal(503, `The database is temporarily unavailable. ${remedy}`));
  }
}

function openApi({ version, siteUrl }: ApiRoutesOptions, { method }: OwnRequest): Answer {
  if (method !== 'GET' && method !== 'HEAD') throw notAllowed(['GET', 'HEAD']);
  return json(200, openApiDocument(version, siteUrl()));
}

async function answer(options: ApiRoutesOptions, request: OwnRequest, rest: readonly string[]): Promise<Answer> {
  const now = options.now();
  if (request.query.has('api_key')) return refusalAnswer(new Refusal(401, IN_ADDRESS));
  const verdict = await options.access.check(request.headers.authorization, { address: request.clientAddress, now });
  if (verdict.kind === 'wrong') return refusalAnswer(new Refusal(401, UNAUTHORIZED), { 'www-authenticate': 'Bearer' });
  if (verdict.kind === 'limited')
    return refusalAnswer(new Refusal(429, 'Too many requests. Try again later.'), retryAfter(verdict.retryAfterMs));
  const path = rest.filter((part, index) => part !== '' || index < rest.length - 1).map(withoutSuffix);
  const { operator } = verdict;
  const { operation, absent, methods, params } = matchOperation(request.method, path);
  const all = await options.pages();
  const name = params['page'];
  const page = name === undefined ? null : pageNamed(all, name, operator);
  if (operation === null && absent === null) throw methods.length === 0 ? notFound() : notAllowed(methods);
  if (name !== undefined)
    permit(
      operator,
      { slug: page?.definition.slug ?? name, key: page?.identity.key ?? noPageKey(name) },
      operation?.scope ?? 'read',
    );
  if (name !== undefined && page === null) throw notFound();
  if (operation === null) throw absent === null ? notFound() : new Refusal(absent.status, absent.reason);
  const isWrite = operation.methods[0] !== 'GET';
  if (isWrite && !options.canRun)
    throw new Refusal(409, 'This process only serves pages. Send the request to the one that runs `pharos start`.');
  const body = operation.body === null ? null : decodeBody(await request.body(), request.headers['content-type'] ?? '');
  const author: Author = {
    actor: operator.actor,
    client: options.clientOf(request.clientAddress),
    now,
    page: page === null ? { key: noPageKey(''), slug: '', isPrivate: true } : authorPage(page),
    request: isWrite ? readRepeatKey(request, body) : null,
  };
  const load = async (): Promise<WritingPage> => {
    const writing = page === null ? null : await options.load(page.definition.slug);
    if (writing?.page.identity.key !== author.page.key) throw notFound();
    return writing;
  };
  const { database, newSuffix, publish, subscribers } = options;
  const query = isWrite ? request.query : await readQuery(request);
  const call = { author, params, body, database, newSuffix, load, publish, subscribers, query };
  const value = await operation.run({
    ...call,
    templates: () => (page === null ? [] : options.templatesOf(page.definition.slug)),
    version: readVersion(request.headers['if-match']),
    pages: all.filter((one) => operator.may(pageRef(one), 'read') === 'granted'),
  });
  const headers = { 'cache-control': 'no-store' };
  return operation.status === 204
    ? { status: 204, headers, body: null }
    : json(operation.status, value, entityTag(value));
}

/** Some clients send the query as a form in the body of a GET. */
async function readQuery({ query, headers, body }: OwnRequest): Promise<URLSearchParams> {
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded') !== true) return query;
  return new URLSearchParams([...query, ...new URLSearchParams((await body()).toString('utf8'))]);
}

const UNAUTHORIZED =
  'The token is missing or incorrect. Send it as Authorization: Bearer <token>, OAuth <token>, or the token alone.';
const IN_ADDRESS =
  'Pharos takes no token in the address, because addresses end up in logs. Send it as Authorization: Bearer <token>, and revoke this one.';

function notFound(): Refusal {
  return new Refusal(404, 'Not found.');
}

/** Finds a page by its slug, or by its id in responses. */
function pageNamed(pages: readonly ResolvedPage[], name: string, { may }: Operator): ResolvedPage | null {
  const isReadable = (page: ResolvedPage): boolean => may(pageRef(page), 'read') === 'granted';
  return (
    pages.find(({ definition }) => definition.slug === name) ??
    pages.find((page) => pageId(page) === name && isReadable(page)) ??
    null
  );
}

function pageRef({ definition: { slug }, identity: { key } }: ResolvedPage): Parameters<Operator['may']>[0] {
  return { slug, key };
}

/** With a token for another page, the response is the same as for a page that doesn't exist. */
function permit(operator: Operator, page: Parameters<Operator['may']>[0], scope: ApiScope): void {
  const permission = operator.may(page, scope);
  if (permission === 'elsewhere') throw notFound();
  if (permission === 'scope') throw new Refusal(403, `This token does not have the scope ${scope}.`);
}

/** Statuspage’s clients request `incidents.json`. */
function withoutSuffix(part: string, index: number, parts: readonly string[]): string {
  return index === parts.length - 1 ? part.replace(/\.json$/, '') : part;
}

/** The request’s idempotency key, with a digest to recognise another request with the same key. */
function readRepeatKey(request: OwnRequest, body: unknown): Author['request'] {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || key === '' || key.length > KEY_CHARS_MAX)
    throw new Refusal(400, `Idempotency-Key must have 1 to ${KEY_CHARS_MAX} characters.`);
  return { key, digest: digest(request.method, request.path, JSON.stringify(body)) };
}

function readVersion(header: string | undefined): number | null {
  if (header === undefined || header === '*') return null;
  const [, version] = /^(?:W\/)?"(\d{1,9})"$/.exec(header) ?? [];
  if (version === undefined) throw new Refusal(400, 'If-Match must be the version of an incident, such as "3".');
  return Number(version);
}

function entityTag(value: unknown): OutgoingHttpHeaders {
  const { version } = (value ?? {}) as { version?: unknown };
  return typeof version === 'number' ? { etag: `"${version}"` } : {};
}

function notAllowed(methods: readonly string[]): Refusal {
  return new Refusal(405, `Method not allowed. Use ${[...new Set(methods)].join(', ')}.`);
}

/** The response for a refusal. */
function refusalAnswer({ status, message, issues }: Refusal, headers: OutgoingHttpHeaders = {}): Answer {
  const error = issues.length === 0 ? [message] : issues.map(({ path, message: words }) => `${path} ${words}`.trim());
  return json(status, { error, issues, message: error.join('; ') }, headers);
}

/** Maximum depth of a form's paths, such as `incident[components][abc]`. */
const PARTS_MAX = 4;
const FIELDS_MAX = 2_000;

/** Decodes JSON, or a form with paths as names, such as `incident[components][abc]=major_outage`. @throws Refusal 400 or 415 */
function decodeBody(bytes: Buffer, contentType: string): unknown {
  const [type = ''] = contentType.toLowerCase().split(';');
  const text = bytes.toString('utf8');
  if (type.trim() === 'application/x-www-form-urlencoded') return fromForm(new URLSearchParams(text));
  if (text.trim() === '') return {};
  if (type.trim() !== '' && !/[/+]json$/.test(type.trim()))
    throw new Refusal(415, 'Send JSON (content-type: application/json) or a form (application/x-www-form-urlencoded).');
  return parsePayload(text);
}

type Fields = { [name: string]: string | string[] | Fields };

function fromForm(form: URLSearchParams): Fields {
  const fields: Fields = Object.create(null) as Fields;
  if (form.size > FIELDS_MAX) throw new Refusal(400, `The form has more than ${FIELDS_MAX} fields.`);
  for (const [name, value] of form) put(fields, name, value);
  return fields;
}

function put(fields: Fields, name: string, value: string): void {
  const [head = '', ...rest] = name.split('[').map((part) => part.replace(/\]$/, ''));
  const path = [head, ...rest];
  if (path.length > PARTS_MAX)
    throw new Refusal(400, `The form has a field that is nested too deeply: ${name.slice(0, 60)}`);
  const last = path.at(-1) ?? '';
  const isList = last === '' && path.length > 1;
  const keys = isList ? path.slice(0, -1) : path;
  let place = fields;
  for (const key of keys.slice(0, -1)) {
    const found = place[key];
    if (typeof found === 'string' || Array.isArray(found)) throw twice(name);
    const next: Fields = found ?? (Object.create(null) as Fields);
    place[key] = next;
    place = next;
  }
  const key = keys.at(-1) ?? '';
  const known = place[key];
  if (isList && (known === undefined || Array.isArray(known))) place[key] = [...(known ?? []), value];
  else if (!isList && known === undefined) place[key] = value;
  else throw twice(name);
}

function twice(name: string): Refusal {
  return new Refusal(400, `The form has ${name.slice(0, 60)} twice.`);
}

// `POST /-/intake/<id>`: messages of alerting systems, with a secret or a signature.

interface IntakeRoutesOptions
  extends Pick<ApiRoutesOptions, 'database' | 'newSuffix' | 'canRun' | 'now' | 'clientOf' | 'load' | 'publish'> {
  readonly guard: OperatorGuard;
  /** Null: no intake has this id. */
  readonly intakeOf: (id: string) => IntakeConfig | null;
  /** Called with components that the page doesn’t have. */
  readonly onUnknown: (intake: string, component: string) => void;
}

/** A kilobyte for each of the alerts that a message may contain. */
const ALERTS_BYTES_MAX = 512 * 1024;
const TEST_RECEIVED = 'test received';
const NO_INTAKE = 'No such intake, or its secret or signature is missing or incorrect.';

/** Creates the handler. */
export function createIntakeRoute(options: IntakeRoutesOptions) {
  return (request: OwnRequest, id: string) => orRefusal('Send the request again.', () => take(options, request, id));
}

async function take(options: IntakeRoutesOptions, request: OwnRequest, id: string): Promise<Answer> {
  const intake = options.intakeOf(id);
  const signed = intake === null || intake.signature === null ? null : await request.body();
  const claim = signed ?? Buffer.of();
  const client = { address: request.clientAddress, now: options.now() };
  const verdict = options.guard.judge('intake', client, () => intake !== null && isGenuine(intake, request, claim));
  // Others learn nothing of which intakes there are.
  const bytes = signed ?? (await request.body(verdict.kind === 'right' ? ALERTS_BYTES_MAX : undefined));
  if (verdict.kind === 'limited') return limited(verdict.retryAfterMs, 'secret');
  if (intake === null || verdict.kind === 'wrong') throw new Refusal(401, NO_INTAKE);
  if (!options.canRun)
    throw new Refusal(409, 'This process only serves pages. Send the request to the one that runs `pharos start`.');
  const { alerts, hasTest } = readAlerts(parsePayload(bytes.toString('utf8')), intake);
  const writing = await options.load(intake.page);
  if (writing === null) throw new Refusal(409, `This intake’s page ${intake.page} doesn’t exist.`);
  const { database, newSuffix, now, clientOf } = options;
  const [page, from] = [authorPage(writing.page), clientOf(request.clientAddress)];
  const author: Author = { actor: `intake:${id}`, client: from, now: now(), page, request: null };
  const taken = await database.transaction(async (tx) => {
    const all: Taken[] = [];
    for (const alert of alerts) all.push(await takeAlert(tx, alert, { intake, writing, author, newSuffix }));
    if (hasTest) await insertAudit(tx, testEntry(author));
    return all;
  });
  for (const { unknownComponent } of taken) if (unknownComponent !== null) options.onUnknown(id, unknownComponent);
  if (taken.some(({ did }) => did !== 'known' && did !== 'late')) await options.publish();
  return json(200, {
    ...(hasTest ? { message: TEST_RECEIVED } : {}),
    alerts: taken.map(({ key, did, unknownComponent }) => ({
      key,
      did,
      ...(unknownComponent === null ? {} : { unknown_component: unknownComponent }),
    })),
  });
}

/** Only operators see tests, on their page and in `pharos audit`. */
function testEntry({ actor, client, now, page }: Author): AuditEntry {
  return { at: now, actor, action: 'intake-test', subject: page.slug, client, run: null, outcome: TEST_RECEIVED };
}

/** Compares with every secret, so that the time taken reveals nothing. */
function isGenuine({ header, secrets, signature }: IntakeConfig, { headers }: OwnRequest, bytes: Buffer): boolean {
  const given = headers[(signature?.header ?? header).toLowerCase()];
  if (typeof given !== 'string') return false;
  const claims =
    signature === null ? [given.replace(/^Bearer /i, '')] : given.split(',').map((part) => part.trim().toLowerCase());
  const expected = secrets.map((secret) => {
    if (signature === null) return secret;
    const digits = createHmac('sha256', secret.reveal()).update(bytes).digest('hex');
    return { reveal: () => `${signature.prefix}${digits}`.toLowerCase() };
  });
  return claims.flatMap((claim) => expected.map((one) => isSame(claim, one))).includes(true);
}

/** Halves of characters become U+FFFD, since many readers of JSON refuse them. @throws Refusal 400 */
function parsePayload(text: string): unknown {
  const whole = (_key: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value);
  try {
    return JSON.parse(text, whole) as unknown;
  } catch {
    throw new Refusal(400, 'The body is not JSON.');
  }
}
