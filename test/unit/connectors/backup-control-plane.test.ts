import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { backupControlPlane } from '../../../src/sync/connectors/backup-control-plane/connector.ts';
import { contextOf, drive, failure, probeOf, Reply, type Respond, refusal } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

const tenant = (slug: string, more: Row = {}): Row => ({
  id: `id-${slug}`,
  name: slug.toUpperCase(),
  slug,
  role: 'viewer',
  ...more,
});
const source = (id: string, more: Row = {}): Row => ({
  id,
  name: `Source ${id}`,
  type: 'files',
  status: 'active',
  ...more,
});

/** The service, as one user sees it; `before` may answer in its place. Counts its log ins in the tokens it gives. */
function service(
  {
    tenants = [tenant('acme')],
    sources = {},
    targets = [],
  }: { tenants?: Row[]; sources?: Record<string, Row[]>; targets?: Row[] },
  before: Respond = () => undefined,
): Respond {
  let logins = 0;
  return (question, index) => {
    if (question.name === 'log in') logins += 1;
    const early = before(question, index);
    if (early !== undefined) return early;
    if (question.name === 'log in') return new Reply(201, { token: `token-${logins}`, token_type: 'Bearer' });
    if (question.headers['authorization'] !== `Bearer token-${logins}`) return refusal(401);
    const id = question.headers['x-tenant-id']?.replace('id-', '') ?? '';
    switch (question.name) {
      case 'who am I':
        return { data: { id: 'u', name: 'Ops', tenants } };
      case 'list sources':
        return sources[id] ?? [];
      case 'list storage targets':
        return targets;
      case 'log out':
        return { message: 'bye' };
      default:
        return refusal(404);
    }
  };
}

function pull(respond: Respond, options: Row = {}) {
  const parsed = backupControlPlane.optionsSchema.parse({
    baseUrl: 'https://backup.test/api',
    email: 'ops@acme.test',
    password: 'pass-word-1',
    ...options,
  });
  const asked: string[] = [];
  const told: Respond = (question, index) => {
    asked.push(question.name);
    return respond(question, index);
  };
  return { asked, done: drive<Learned>(backupControlPlane.pull(parsed, contextOf()), told) };
}

describe('a pass', () => {
  it('logs in, asks who it is, reads each configured ACTIVE tenant with its header, and logs out', async () => {
    const sources = { acme: [source('1')], initech: [source('2')] };
    const { asked, done } = pull(service({ tenants: [tenant('acme'), tenant('initech'), tenant('hooli')], sources }), {
      tenants: ['INITECH', 'id-acme'],
    });
    const { result, questions } = await done;
    expect(asked).toEqual([
      'log in',
      'who am I',
      'list sources',
      'list storage targets',
      'list sources',
      'list storage targets',
      'log out',
    ]);
    expect(questions.map(({ headers }) => headers['x-tenant-id'] ?? null)).toEqual([
      null,
      null,
      'id-initech',
      'id-initech',
      'id-acme',
      'id-acme',
      null,
    ]);
    expect(result.monitors.map(({ id, kind }) => [id, kind])).toEqual([
      ['up/1', 'source'],
      ['up/2', 'source'],
    ]);
  });

  it.each([
    ['active', 'operational'],
    ['paused', 'paused'],
    ['error', 'major_outage'],
    ['ACTIVE', 'operational'],
    ['archived', 'unknown'],
    [undefined, 'unknown'],
  ])('shows the status %s as %s', async (status, state) => {
    const { result } = await pull(service({ sources: { acme: [source('1', { status })] } })).done;
    expect(result.monitors.map((one) => one.state)).toEqual([state]);
  });

  it('tells of a configured tenant that is not listed, and reads the others', async () => {
    const { result } = await pull(service({ sources: { acme: [source('1')] } }), { tenants: ['acme', 'globex'] }).done;
    expect(result.monitors.length).toBe(1);
    expect(result.problems).toEqual([
      { kind: 'note', place: 'tenants.globex', message: 'not ACTIVE, or this user does not belong to it' },
    ]);
  });

  it('tells of a storage target that breaks a rule, and of none that cannot be read', async () => {
    const targets = [
      { id: 't1', provider: 'b2', region: null },
      { id: 't2', provider: 's3', bucket: 'x'.repeat(256) },
      { id: 't3', provider: 'microsoft365' },
      { id: 't4', provider: 'wasabi', region: 'eu' },
    ];
    const { result } = await pull(service({ targets })).done;
    expect(result.problems.map(({ kind, place }) => `${kind} ${place}`)).toEqual([
      'note acme.storage-targets[0].region',
      'note acme.storage-targets[1].bucket',
    ]);
    const failed = await pull(
      service({}, ({ name }) => (name === 'list storage targets' ? failure('UPSTREAM_FAILED') : undefined)),
    ).done;
    expect(failed.result.problems).toMatchObject([{ kind: 'note', place: 'acme.storage-targets' }]);
  });
});

describe('logging in and out', () => {
  it('shows why a log in was refused, without the credentials', async () => {
    const body = { message: 'Invalid.', errors: { email: ['ops@acme.test and pass-word-1 do not match.'] } };
    const { asked, done } = pull(service({}, ({ name }) => (name === 'log in' ? new Reply(422, body) : undefined)));
    await expect(done).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: 'Login rejected: email: *** and *** do not match.. Check email and password.',
    });
    expect(asked).toEqual(['log in']);
  });

  it.each([[{ message: 'No.' }], [{ error: 'No.' }]])('reads refusals of other shapes: %j', async (body) => {
    const { done } = pull(service({}, ({ name }) => (name === 'log in' ? new Reply(422, body) : undefined)));
    await expect(done).rejects.toMatchObject({ message: expect.stringContaining('rejected: No.') });
  });

  it('takes no answer without a token for a log in', async () => {
    const { done } = pull(service({}, ({ name }) => (name === 'log in' ? { message: 'welcome' } : undefined)));
    await expect(done).rejects.toMatchObject({ code: 'UPSTREAM_SHAPE' });
  });

  it.each([
    ['who am I', failure('UPSTREAM_FAILED'), 'UPSTREAM_FAILED'],
    ['list sources', failure('UPSTREAM_UNREACHABLE'), 'UPSTREAM_UNREACHABLE'],
    ['list sources', { sources: [] }, 'UPSTREAM_SHAPE'],
    ['list sources', refusal(403), 'UPSTREAM_REFUSED'],
  ])('logs out even after %s failed, and fails with its code', async (name, answer, code) => {
    const { asked, done } = pull(service({}, (question) => (question.name === name ? answer : undefined)));
    await expect(done).rejects.toMatchObject({ code });
    expect(asked.at(-1)).toBe('log out');
  });

  it('is not undone by a log out that fails', async () => {
    const { done } = pull(
      service({ sources: { acme: [source('1')] } }, ({ name }) =>
        name === 'log out' ? failure('UPSTREAM_FAILED') : undefined,
      ),
    );
    expect((await done).result.monitors.length).toBe(1);
  });

  it('logs in once more on 401, uses the new token, and gives up the second time', async () => {
    let refused = 0;
    const once = pull(
      service({ sources: { acme: [source('1')] } }, ({ name }) => {
        if (name !== 'list sources' || refused > 0) return undefined;
        refused += 1;
        return refusal(401);
      }),
    );
    const { result, questions } = await once.done;
    expect(result.monitors.length).toBe(1);
    expect(once.asked).toEqual([
      'log in',
      'who am I',
      'list sources',
      'log in',
      'list sources',
      'list storage targets',
      'log out',
    ]);
    expect(questions.at(-1)?.headers['authorization']).toBe('Bearer token-2');

    const always = pull(service({}, ({ name }) => (name === 'list sources' ? refusal(401) : undefined)));
    await expect(always.done).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' });
    expect(always.asked.filter((name) => name === 'log in').length).toBe(2);
    expect(always.asked.at(-1)).toBe('log out');
  });

  it('logs in no third time when a later question is refused as well', async () => {
    const refused = new Set<string>();
    const { asked, done } = pull(
      service({ tenants: [tenant('acme'), tenant('initech')] }, ({ name, headers }) => {
        const key = headers['x-tenant-id'] ?? '';
        if (name !== 'list sources' || refused.has(key)) return undefined;
        refused.add(key);
        return refusal(401);
      }),
    );
    await expect(done).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' });
    expect(asked.filter((name) => name === 'log in').length).toBe(2);
  });

  it('never asks a log in or a test twice by itself', async () => {
    const { done } = pull(service({ sources: { acme: [source('1', { type: 'cpanel' })] } }), { testConnection: true });
    const { questions } = await done;
    expect(
      questions.filter(({ method }) => method === 'POST').map(({ name, isRepeatable }) => [name, isRepeatable]),
    ).toEqual([
      ['log in', false],
      ['test connection', false],
      ['log out', false],
    ]);
  });
});

describe('connection tests', () => {
  const sources = {
    acme: [
      source('1', { type: 'cpanel' }),
      source('2', { type: 'files' }),
      source('3', { type: 'cpanel', status: 'paused' }),
    ],
  };
  const withTest = (answer: unknown) =>
    pull(
      service({ sources }, ({ name }) => (name === 'test connection' ? answer : undefined)),
      { testConnection: true },
    );

  it('are off unless asked for, and then only for active cpanel sources', async () => {
    const off = pull(service({ sources }));
    await off.done;
    expect(off.asked).not.toContain('test connection');
    const { questions } = await withTest({ ok: true }).done;
    expect(questions.filter(({ name }) => name === 'test connection').map(({ url }) => url)).toEqual([
      'https://backup.test/api/sources/1/test-connection',
    ]);
  });

  it.each([
    [{ ok: true }, 'operational', []],
    [{ ok: false }, 'major_outage', []],
    [new Reply(422, { message: 'no' }), 'operational', ['it is not of type cpanel or has no credentials stored']],
    [{ ok: 'perhaps' }, 'operational', ['unreadable response']],
    [failure('UPSTREAM_FAILED', 'status 500'), 'operational', ['status 500']],
    ['skipped', 'operational', []],
  ])('%j makes the source %s', async (answer, state, messages) => {
    const { result } = await withTest(answer).done;
    expect(result.monitors[0]?.state).toBe(state);
    expect(result.problems.map(({ message }) => message)).toEqual(messages);
  });
});

describe('the probe', () => {
  it('tells the workspaces and what is in them, and logs out', async () => {
    const options = backupControlPlane.optionsSchema.parse({
      baseUrl: 'https://backup.test/api',
      email: 'a@b.test',
      password: 'p',
      tenants: ['acme', 'x'],
    });
    const respond = service({ sources: { acme: [source('1'), source('2')] }, targets: [{ id: 't' }] });
    const { result, questions } = await drive(probeOf(backupControlPlane, options, contextOf()), respond);
    expect(result).toEqual({
      summary: 'acme (viewer): 2 sources, 1 storage target',
      warnings: ['tenants.x: not ACTIVE, or this user does not belong to it'],
      monitorsTotal: 2,
    });
    expect(questions.at(-1)?.name).toBe('log out');
  });

  it('tells what is wrong with a storage target, as the report of a pass does', async () => {
    const options = backupControlPlane.optionsSchema.parse({
      baseUrl: 'https://backup.test/api',
      email: 'a@b.test',
      password: 'p',
      tenants: ['acme'],
    });
    const target = { id: 't', name: 'Cellar', provider: 'wasabi', bucket: 'cellar' };
    const respond = service({ sources: { acme: [] }, targets: [target] });
    const { result } = await drive(probeOf(backupControlPlane, options, contextOf()), respond);
    expect(result.warnings).toEqual([expect.stringContaining('b2 and wasabi need their region')]);
  });
});
