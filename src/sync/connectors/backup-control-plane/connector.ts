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
  attemptEach,
  attemptOne,
  type Connector,
  type Probe,
  type Pull,
  type PullContext,
  type Query,
} from '../../connector.ts';
import { note, parseItems, toWarnings } from '../items.ts';
import { BaseUrlSchema, endpointAddress } from '../wire.ts';
import {
  checkStorageTargets,
  LoginAnswerSchema,
  PrincipalSchema,
  projectSources,
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

/** One pass: its token, and whether it was renewed already. */
interface Session {
  readonly options: Options;
  token: string;
  isRenewed: boolean;
  readonly problems: Problem[];
}

type Asked<T> = Pick<Query<T>, 'name' | 'schema'> & Partial<Query<T>> & { readonly tenant?: Tenant };

function query<T>({ options, token }: Session, path: string, { tenant, ...asked }: Asked<T>): Query<T> {
  return {
    ...asked,
    url: endpointAddress(options.baseUrl, path),
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      ...(tenant === undefined ? {} : { 'x-tenant-id': tenant.id }),
    },
  };
}

/** Logs in and returns a token. Errors quote the service, but never the credentials. */
function* logIn({ baseUrl, email, password }: Options): Pull<string> {
  const { payload, status } = yield* ask({
    name: 'log in',
    method: 'POST',
    url: endpointAddress(baseUrl, '/auth/login'),
    headers: { accept: 'application/json' },
    body: { email, password },
    schema: LoginAnswerSchema,
    acceptStatuses: [422],
    isRepeatable: false,
  });
  if ('token' in payload) return payload.token;
  if (status !== 422) throw new StatusError({ code: 'UPSTREAM_SHAPE', message: 'The login response has no token.' });
  const words = payload.refusal.replaceAll(password, '***').replaceAll(email, '***').slice(0, 300);
  throw new StatusError({
    code: 'UPSTREAM_REFUSED',
    message: `Login rejected${words === '' ? '' : `: ${words}`}. Check email and password.`,
    context: { status: 422 },
  });
}

/** Requests with the token of the pass. After a 401, logs in again, once per pass. */
function* askInside<T>(session: Session, path: string, asked: Asked<T>): Pull<T> {
  try {
    return (yield* ask(query(session, path, asked))).payload;
  } catch (error) {
    if (!isStatusError(error) || error.context['status'] !== 401 || session.isRenewed) throw error;
  }
  session.isRenewed = true;
  session.token = yield* logIn(session.options);
  return (yield* ask(query(session, path, asked))).payload;
}

/** Runs `task` between login and logout. A failed logout doesn't matter, because the token expires. */
function* inSession<R>(options: Options, task: (session: Session, tenants: readonly Tenant[]) => Pull<R>): Pull<R> {
  const session: Session = { options, token: yield* logIn(options), isRenewed: false, problems: [] };
  try {
    return yield* task(session, yield* readTenants(session));
  } finally {
    const asked = {
      name: 'log out',
      method: 'POST',
      schema: z.unknown(),
      allowEmpty: true,
      isRepeatable: false,
    } as const;
    yield* attemptOne(query(session, '/auth/logout', asked));
  }
}

/** The configured tenants that are ACTIVE. Configured tenants that aren't listed are reported. */
function* readTenants(session: Session): Pull<readonly Tenant[]> {
  const me = yield* askInside(session, '/auth/me', { name: 'who am I', schema: PrincipalSchema });
  const listed = parseItems(TenantSchema, me.data.tenants, 'tenants', session.problems);
  const tenants = session.options.tenants?.flatMap((wanted) => {
    const found = listed.find(({ id, slug, name }) => [id, slug, name].includes(wanted));
    if (found === undefined)
      session.problems.push(note(`tenants.${wanted}`, 'not ACTIVE, or this user does not belong to it'));
    return found ?? [];
  });
  return tenants === undefined ? listed : [...new Set(tenants)];
}

const SOURCES = { name: 'list sources', schema: z.array(z.unknown()) };
const TARGETS = { name: 'list storage targets', schema: z.array(z.unknown()) };

function* pull(options: Options, { upstreamId }: PullContext): Pull<Learned> {
  return yield* inSession(options, function* (session, tenants) {
    const { problems } = session;
    const lists: { tenant: string; items: readonly unknown[] }[] = [];
    const failing = new Set<string>();
    for (const tenant of tenants) {
      const items = yield* askInside(session, '/sources', { ...SOURCES, tenant });
      const place = tenant.slug ?? tenant.id;
      lists.push({ tenant: place, items });
      const targets = yield* attemptOne(query(session, '/storage-targets', { ...TARGETS, tenant, priority: 'detail' }));
      if (targets.kind === 'ok') problems.push(...checkStorageTargets(targets.payload, place));
      if (targets.kind === 'failed') problems.push(note(`${place}.storage-targets`, targets.error.message));
      if (options.testConnection) for (const id of yield* testConnections(session, tenant, items)) failing.add(id);
    }
    return {
      ...NOTHING_LEARNED,
      monitors: projectSources(lists, failing, { upstreamId, problems }),
      problems,
      itemsTotal: lists.flatMap(({ items }) => items).length,
    };
  });
}

/** Tests the stored credentials of cpanel sources, and returns the ids of those that fail. The service rejects other kinds. */
function* testConnections(session: Session, tenant: Tenant, items: readonly unknown[]): Pull<readonly string[]> {
  const sources = parseItems(SourceSchema, items, '').filter(
    ({ type, status }) => type === 'cpanel' && status === 'active',
  );
  const tests = yield* attemptEach(sources, ({ id }) =>
    query(session, `/sources/${encodeURIComponent(id)}/test-connection`, {
      name: 'test connection',
      priority: 'detail',
      method: 'POST',
      tenant,
      schema: TestAnswerSchema,
      acceptStatuses: [422],
      isRepeatable: false,
    }),
  );
  return tests.flatMap(({ item: { id }, answer }): string[] => {
    if (answer.kind === 'skipped') return [];
    if (answer.kind === 'ok' && answer.status !== 422 && 'ok' in answer.payload) return answer.payload.ok ? [] : [id];
    const message =
      answer.kind === 'failed'
        ? answer.error.message
        : answer.status === 422
          ? 'it is not of type cpanel or has no credentials stored'
          : 'unreadable response';
    session.problems.push(note(`${tenant.slug ?? tenant.id}.sources.${id}.test-connection`, message));
    return [];
  });
}

function* probe(options: Options): Pull<Probe> {
  return yield* inSession(options, function* (session, tenants) {
    let sources = 0;
    let targets = 0;
    for (const tenant of tenants) {
      sources += (yield* askInside(session, '/sources', { ...SOURCES, tenant })).length;
      const listed = yield* askInside(session, '/storage-targets', { ...TARGETS, tenant });
      targets += listed.length;
      session.problems.push(...checkStorageTargets(listed, tenant.slug ?? tenant.id));
    }
    const named =
      tenants.map(({ slug, name, role }) => `${slug ?? name} (${role ?? '?'})`).join(', ') || 'no workspace';
    return {
      summary: `${named}: ${counted(sources, 'sources')}, ${counted(targets, 'storage targets')}`,
      warnings: toWarnings(session.problems),
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
  idField: 'id',
  words: { status: Object.keys(STATE_WORDS) },
  pull,
  probe,
};
