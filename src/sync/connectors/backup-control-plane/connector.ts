/**
 * backup-control-plane: sources and storage targets of the workspaces of one user.
 *
 * Each pass logs in (`POST /auth/login`), asks `/auth/me`, then for every configured ACTIVE tenant `/sources` and
 * `/storage-targets` with `X-Tenant-Id`, and logs out whatever happened; `test-connection` only on request. A 401 is
 * answered by one more log in. Ids that are unknown and ids of other workspaces get the same refusal. No limits are
 * documented. Tokens live in memory for one pass.
 */

import { z } from 'zod';
import { isStatusError, StatusError } from '../../../errors.ts';
import { type Learned, NOTHING_LEARNED, type Problem } from '../../../model/observation.ts';
import { counted } from '../../../schema/counted.ts';
import {
  ask,
  attempt,
  attemptOne,
  type Connector,
  NO_LIMITS,
  type Priority,
  type Probe,
  type Pull,
  type PullContext,
  type Question,
} from '../../connector.ts';
import { parseItems, toWarnings } from '../items.ts';
import { BaseUrlSchema, endpointAddress } from '../wire.ts';
import {
  ID_FIELD,
  LoginAnswerSchema,
  PrincipalSchema,
  projectSources,
  projectStorageTargets,
  RecordsSchema,
  SourceSchema,
  STATE_WORDS,
  type Tenant,
  TenantSchema,
  TestAnswerSchema,
} from './project.ts';

const OptionsSchema = z.strictObject({
  baseUrl: BaseUrlSchema.describe('Address of the API, including /api.'),
  email: z.email().describe('Email address of the user that Pharos logs in as; the role viewer is enough.'),
  password: z.string().min(1).describe('Password of that user, as ${NAME} or ${file:…}.'),
  tenants: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Slugs, names or ids of the workspaces to show. Default: every ACTIVE one.'),
  testConnection: z.boolean().default(false).describe('Test the stored credentials of cpanel sources in each pass.'),
});
type Options = z.output<typeof OptionsSchema>;

/** The token of a pass, and whether it was renewed already. */
interface Session {
  token: string;
  isRenewed: boolean;
}

interface Asked<T> {
  readonly name: string;
  readonly path: string;
  readonly schema: z.ZodType<T>;
  readonly tenant?: Tenant;
}

function question<T>(options: Options, session: Session, asked: Asked<T>): Question<T> {
  return {
    name: asked.name,
    priority: 'list',
    method: 'GET',
    url: endpointAddress(options.baseUrl, asked.path),
    headers: sessionHeaders(session, asked.tenant),
    schema: asked.schema,
  };
}

function sessionHeaders(session: Session, tenant?: Tenant): Record<string, string> {
  return {
    accept: 'application/json',
    authorization: `Bearer ${session.token}`,
    ...(tenant === undefined ? {} : { 'x-tenant-id': tenant.id }),
  };
}

/** Logs in and returns a token. Errors quote the service, but never the credentials. */
function* logIn(options: Options): Pull<string> {
  const { payload, status } = yield* ask({
    name: 'log in',
    priority: 'list',
    method: 'POST',
    url: endpointAddress(options.baseUrl, '/auth/login'),
    headers: { accept: 'application/json' },
    body: { email: options.email, password: options.password },
    schema: LoginAnswerSchema,
    acceptStatuses: [422],
    isRepeatable: false,
  });
  if ('token' in payload) return payload.token;
  if (status !== 422) throw new StatusError({ code: 'UPSTREAM_SHAPE', message: 'The login response has no token.' });
  const words = payload.refusal.replaceAll(options.password, '***').replaceAll(options.email, '***').slice(0, 300);
  throw new StatusError({
    code: 'UPSTREAM_REFUSED',
    message: `Login rejected${words === '' ? '' : `: ${words}`}. Check email and password.`,
    context: { status: 422 },
  });
}

/** Requests with the token of the pass. After a 401, logs in again, once per pass. */
function* askInside<T>(options: Options, session: Session, asked: Asked<T>): Pull<T> {
  try {
    return (yield* ask(question(options, session, asked))).payload;
  } catch (error) {
    if (!isStatusError(error) || error.context['status'] !== 401 || session.isRenewed) throw error;
  }
  session.isRenewed = true;
  session.token = yield* logIn(options);
  return (yield* ask(question(options, session, asked))).payload;
}

/** Runs `task` between login and logout. A failed logout doesn't matter, because the token expires. */
function* inSession<R>(options: Options, task: (session: Session) => Pull<R>): Pull<R> {
  const session: Session = { token: yield* logIn(options), isRenewed: false };
  try {
    return yield* task(session);
  } finally {
    yield* attemptOne({
      name: 'log out',
      priority: 'list',
      method: 'POST',
      url: endpointAddress(options.baseUrl, '/auth/logout'),
      headers: sessionHeaders(session),
      schema: z.unknown(),
      allowEmpty: true,
      isRepeatable: false,
    });
  }
}

/** The configured tenants that are ACTIVE. Configured tenants that aren't listed are reported. */
function* readTenants(options: Options, session: Session): Pull<{ tenants: Tenant[]; problems: Problem[] }> {
  const me = yield* askInside(options, session, { name: 'who am I', path: '/auth/me', schema: PrincipalSchema });
  const listed = parseItems(TenantSchema, me.data.tenants, 'tenants');
  const problems = [...listed.problems];
  if (options.tenants === undefined) return { tenants: [...listed.items], problems };
  const tenants = options.tenants.flatMap((wanted) => {
    const found = listed.items.find(({ id, slug, name }) => [id, slug, name].includes(wanted));
    if (found === undefined)
      problems.push({
        kind: 'note',
        place: `tenants.${wanted}`,
        message: 'not ACTIVE, or this user does not belong to it',
      });
    return found ?? [];
  });
  return { tenants: [...new Set(tenants)], problems };
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  return yield* inSession(options, function* (session) {
    const { tenants, problems } = yield* readTenants(options, session);
    const lists: { tenant: string; items: readonly unknown[] }[] = [];
    const outcomes = new Map<string, boolean>();
    for (const tenant of tenants) {
      const items = yield* askInside(options, session, {
        name: 'list sources',
        path: '/sources',
        schema: RecordsSchema,
        tenant,
      });
      lists.push({ tenant: tenant.slug ?? tenant.id, items });
      problems.push(...(yield* readStorageTargets(options, session, tenant)));
      if (options.testConnection)
        problems.push(...(yield* testConnections(options, session, { tenant, items, outcomes })));
    }
    const projected = projectSources(lists, { upstreamId: context.upstreamId, outcomes });
    return {
      ...NOTHING_LEARNED,
      monitors: projected.monitors,
      problems: [...problems, ...projected.problems],
      itemsTotal: lists.reduce((sum, list) => sum + list.items.length, 0),
    };
  });
}

function* readStorageTargets(options: Options, session: Session, tenant: Tenant): Pull<Problem[]> {
  const priority: Priority = 'detail';
  const asked = { name: 'list storage targets', path: '/storage-targets', schema: RecordsSchema, tenant };
  const answer = yield* attemptOne({ ...question(options, session, asked), priority });
  const place = tenant.slug ?? tenant.id;
  if (answer.kind === 'ok') return projectStorageTargets(answer.payload, place);
  return answer.kind === 'failed'
    ? [{ kind: 'note', place: `${place}.storage-targets`, message: answer.error.message }]
    : [];
}

/** Tests the stored credentials of cpanel sources; the service rejects other kinds. */
function* testConnections(
  options: Options,
  session: Session,
  { tenant, items, outcomes }: { tenant: Tenant; items: readonly unknown[]; outcomes: Map<string, boolean> },
): Pull<Problem[]> {
  const sources = parseItems(SourceSchema, items, 'sources').items.filter(
    ({ type, status }) => type === 'cpanel' && status === 'active',
  );
  const answers = yield* attempt(
    sources.map(
      (source): Question<z.output<typeof TestAnswerSchema>> => ({
        name: 'test connection',
        priority: 'detail',
        method: 'POST',
        url: endpointAddress(options.baseUrl, `/sources/${encodeURIComponent(source.id)}/test-connection`),
        headers: sessionHeaders(session, tenant),
        schema: TestAnswerSchema,
        acceptStatuses: [422],
        isRepeatable: false,
      }),
    ),
  );
  return answers.flatMap((answer, index): Problem[] => {
    const source = sources[index];
    if (source === undefined || answer.kind === 'skipped') return [];
    const place = `${tenant.slug ?? tenant.id}.sources.${source.id}.test-connection`;
    if (answer.kind === 'failed') return [{ kind: 'note', place, message: answer.error.message }];
    if ('ok' in answer.payload && answer.status !== 422) {
      outcomes.set(source.id, answer.payload.ok);
      return [];
    }
    const message =
      answer.status === 422 ? 'it is not of type cpanel or has no credentials stored' : 'unreadable response';
    return [{ kind: 'note', place, message }];
  });
}

function* probe(options: Options): Pull<Probe> {
  return yield* inSession(options, function* (session) {
    const { tenants, problems } = yield* readTenants(options, session);
    let sources = 0;
    let targets = 0;
    for (const tenant of tenants) {
      const asked = { schema: RecordsSchema, tenant };
      sources += (yield* askInside(options, session, { ...asked, name: 'list sources', path: '/sources' })).length;
      const listed = yield* askInside(options, session, {
        ...asked,
        name: 'list storage targets',
        path: '/storage-targets',
      });
      targets += listed.length;
      problems.push(...projectStorageTargets(listed, tenant.slug ?? tenant.id));
    }
    return {
      summary: `${tenants.map(({ slug, name, role }) => `${slug ?? name} (${role ?? '?'})`).join(', ') || 'no workspace'}: ${counted(sources, 'sources')}, ${counted(targets, 'storage targets')}`,
      warnings: toWarnings(problems),
      monitorsTotal: sources,
    };
  });
}

export const backupControlPlane: Connector<Options> = {
  kind: 'backup-control-plane',
  title: 'sources and storage targets of a backup service',
  example: {
    id: 'backups',
    kind: 'backup-control-plane',
    baseUrl: 'https://backup.example.com/api',
    email: 'pharos@example.com',
    password: '${BACKUP_PASSWORD}',
  },
  questions: [
    { key: 'baseUrl', words: 'Address of its API' },
    { key: 'email', words: 'Email address of a read-only user' },
    { key: 'password', words: 'Environment variable with the password' },
  ],
  optionsSchema: OptionsSchema,
  limits: NO_LIMITS,
  idField: ID_FIELD,
  words: { status: Object.keys(STATE_WORDS) },
  pull,
  probe,
};
