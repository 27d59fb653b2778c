import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asked, startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';

interface Source {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly status: string;
}

let sandbox: TestSandbox;
let token: string;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  token = await logIn();
});
afterAll(() => sandbox.stop());

async function logIn(): Promise<string> {
  const { email, password } = sandbox.credentials.backup;
  const { json } = await sandbox.ask('/backup/api/auth/login', { method: 'POST', body: { email, password } });
  return (json as { token: string }).token;
}

function ask(route: string, options: { body?: unknown; tenant?: string; headers?: object } = {}): Promise<Asked> {
  const [method = 'GET', path = '/'] = route.split(' ');
  const { body, tenant = sandbox.credentials.backup.tenants.acme } = options;
  const headers = { authorization: `Bearer ${token}`, 'x-tenant-id': tenant, ...options.headers };
  return sandbox.ask(`/backup/api${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
}

async function sources(tenant?: string): Promise<readonly Source[]> {
  const { json } = await ask('GET /sources', tenant === undefined ? {} : { tenant });
  return json as readonly Source[];
}

describe('logging in and out of the backup control plane', () => {
  it('gives a token for the right password', async () => {
    const { email, password } = sandbox.credentials.backup;
    const answer = await sandbox.ask('/backup/api/auth/login', { method: 'POST', body: { email, password } });
    expect([answer.status, answer.json]).toEqual([201, { token: expect.any(String), token_type: 'Bearer' }]);
  });

  it.each([
    ['a wrong password', { email: 'pharos@acme.example', password: 'wrong' }],
    ['another e-mail address', { email: 'other@acme.example', password: 'wrong' }],
    ['no e-mail address', { password: 'x' }],
    ['what is no e-mail address', { email: 'pharos', password: 'x' }],
    ['no password', { email: 'pharos@acme.example' }],
    ['what is no object', []],
  ])('refuses %s with 422', async (_, body) => {
    const { status, json } = await sandbox.ask('/backup/api/auth/login', { method: 'POST', body });
    expect([status, json]).toEqual([422, { message: expect.any(String), errors: expect.any(Object) }]);
  });

  it('revokes the token of the log out, and no other', async () => {
    const own = { authorization: `Bearer ${await logIn()}` };
    const out = await ask('POST /auth/logout', { headers: own });
    const again = await ask('POST /auth/logout', { headers: own });
    const other = await ask('GET /auth/me');
    expect([out.status, out.json]).toEqual([200, { message: expect.any(String) }]);
    expect([again.status, other.status]).toEqual([401, 200]);
  });

  it('tells who is logged in, with the workspaces that are active', async () => {
    const { status, json } = await ask('GET /auth/me', { tenant: 'none needed' });
    const { tenants } = sandbox.credentials.backup;
    expect(status).toBe(200);
    expect(json).toEqual({
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: expect.any(String),
        email: sandbox.credentials.backup.email,
        is_admin: false,
        tenants: [
          { id: tenants.acme, name: 'Acme', slug: 'acme', role: 'owner' },
          { id: tenants.initech, name: 'Initech', slug: 'initech', role: 'viewer' },
        ],
      },
    });
  });

  it.each(['GET /auth/me', 'POST /auth/logout', 'GET /sources', 'GET /storage-targets'])(
    'refuses %s without a token or with a wrong one',
    async (route) => {
      const statuses = await Promise.all(
        [{ authorization: '' }, { authorization: 'Bearer wrong' }].map(
          async (headers) => (await ask(route, { headers })).status,
        ),
      );
      expect(statuses).toEqual([401, 401]);
    },
  );
});

describe('a workspace', () => {
  it.each([
    ['none', ''],
    ['one that does not exist', 'nothing'],
  ])('is refused with 403 when it is %s', async (_, tenant) => {
    expect((await ask('GET /sources', { tenant })).status).toBe(403);
  });

  it('is refused with 403 when it belongs to other people', async () => {
    const { globex } = sandbox.credentials.backup.tenants;
    expect((await ask('GET /sources', { tenant: globex })).status).toBe(403);
  });

  it('may be looked at, not changed, by a viewer', async () => {
    const { initech } = sandbox.credentials.backup.tenants;
    const [source] = await sources(initech);
    const put = await ask(`PUT /sources/${source?.id}`, { tenant: initech, body: { status: 'paused' } });
    expect([source?.name, put.status]).toEqual(['Blog', 403]);
  });

  it('hides its records from another, as if they did not exist', async () => {
    const { initech } = sandbox.credentials.backup.tenants;
    const [foreign] = await sources(initech);
    const answers = await Promise.all([`GET /sources/${foreign?.id}`, 'GET /sources/unknown'].map((path) => ask(path)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });
});

describe('sources', () => {
  it('are a plain list, never with their credentials', async () => {
    const list = await sources();
    expect(list.map(({ status }) => status).sort()).toEqual([
      'active',
      'active',
      'active',
      'active',
      'error',
      'paused',
    ]);
    for (const source of list) {
      expect(source).toEqual({
        id: expect.any(String),
        name: expect.any(String),
        type: expect.any(String),
        channel: expect.stringMatching(/^(hosting|reseller|saas)$/),
        status: expect.stringMatching(/^(active|paused|error)$/),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
    }
  });

  it('are in error while what they back up is down', async () => {
    const status = async (): Promise<string | undefined> =>
      (await sources()).find(({ type }) => type === 'postgresql')?.status;
    sandbox.world.force('database', 'down');
    const during = await status();
    sandbox.world.force('database', null);
    expect([during, await status()]).toEqual(['error', 'active']);
  });

  it('are created, read, changed and deleted', async () => {
    const body = { name: 'Archive', type: 'manual', channel: 'saas', credentials: { key: 'secret-thing' } };
    const created = await ask('POST /sources', { body });
    const { id } = created.json as Source;
    const changed = await ask(`PUT /sources/${id}`, { body: { status: 'paused', name: 'Old archive' } });
    const read = await ask(`GET /sources/${id}`);
    const deleted = await ask(`DELETE /sources/${id}`);
    const gone = await ask(`GET /sources/${id}`);
    expect([created, changed, read, deleted, gone].map(({ status }) => status)).toEqual([201, 200, 200, 204, 404]);
    expect(read.json).toMatchObject({ name: 'Old archive', type: 'manual', status: 'paused' });
    expect([created, changed, read].some(({ text }) => text.includes('secret-thing'))).toBe(false);
    expect(deleted.text).toBe('');
  });

  it.each([
    ['no name', { type: 'db', channel: 'saas' }],
    ['a name of 256 characters', { name: 'n'.repeat(256), type: 'db', channel: 'saas' }],
    ['an unknown type', { name: 'n', type: 'tape', channel: 'saas' }],
    ['no channel', { name: 'n', type: 'db' }],
    ['a status', { name: 'n', type: 'db', channel: 'saas', status: 'active' }],
    ['credentials that are text', { name: 'n', type: 'db', channel: 'saas', credentials: 'x' }],
  ])('are not created with %s', async (_, body) => {
    const { status, json } = await ask('POST /sources', { body });
    expect([status, Object.keys((json as { errors: object }).errors)]).toEqual([422, [expect.any(String)]]);
  });

  it.each([{ status: 'broken' }, { type: 'db' }, { channel: 'tv' }, { name: 'n'.repeat(256) }])(
    'are not changed with %o',
    async (body) => {
      const [source] = await sources();
      expect((await ask(`PUT /sources/${source?.id}`, { body })).status).toBe(422);
    },
  );

  it('can be no more than the plan allows', async () => {
    const body = { name: 'One more', type: 'push', channel: 'saas' };
    const created: Asked[] = [];
    for (let times = 0; times < 5; times += 1) created.push(await ask('POST /sources', { body }));
    for (const { id } of created.slice(0, 4).map(({ json }) => json as Source)) await ask(`DELETE /sources/${id}`);
    expect(created.map(({ status }) => status)).toEqual([201, 201, 201, 201, 422]);
    expect(new Set(created.slice(0, 4).map(({ json }) => (json as Source).id)).size).toBe(4);
  });

  it('are tested only with cpanel and credentials', async () => {
    const byName = new Map((await sources()).map(({ id, name }) => [name, id]));
    const test = (name: string): Promise<Asked> => ask(`POST /sources/${byName.get(name)}/test-connection`);
    const [good, notCpanel, noCredentials] = [
      await test('Shop account'),
      await test('Order database'),
      await test('Spare account'),
    ];
    const unknown = await ask('POST /sources/unknown/test-connection');
    expect([good.status, good.json]).toEqual([200, { ok: true }]);
    expect([notCpanel.status, noCredentials.status, unknown.status]).toEqual([422, 422, 404]);
  });

  it('answer 405 and 404 where there is nothing', async () => {
    const [source] = await sources();
    const statuses = await Promise.all(
      [
        `POST /sources/${source?.id}`,
        'PUT /sources',
        `GET /sources/${source?.id}/test-connection`,
        'GET /schedules',
      ].map(async (route) => (await ask(route, route.startsWith('GET') ? {} : { body: {} })).status),
    );
    expect(statuses).toEqual([405, 405, 405, 404]);
  });
});

describe('storage targets', () => {
  it('are listed, created, read and given another provider', async () => {
    const list = await ask('GET /storage-targets');
    const body = {
      kind: 'byo',
      provider: 'b2',
      bucket: 'b',
      region: 'eu-1',
      credentials: { access_key_id: 'secret-id' },
    };
    const created = await ask('POST /storage-targets', { body });
    const { id } = created.json as { id: string };
    const updated = await ask(`PUT /storage-targets/${id}`, { body: { provider: 's3' } });
    const read = await ask(`GET /storage-targets/${id}`);
    expect(list.json).toMatchObject([{ kind: 'managed', provider: 's3', is_default: true }]);
    expect([list, created, updated, read].map(({ status }) => status)).toEqual([200, 201, 200, 200]);
    expect(read.json).toEqual({
      id,
      kind: 'byo',
      provider: 's3',
      bucket: 'b',
      prefix: null,
      region: 'eu-1',
      is_default: false,
    });
    expect(created.text).not.toContain('secret-id');
  });

  it.each([
    ['an unknown kind', { kind: 'lent', provider: 's3', bucket: 'b' }],
    ['no bucket', { kind: 'byo', provider: 's3' }],
    ['a bucket of 256 characters', { kind: 'byo', provider: 's3', bucket: 'b'.repeat(256) }],
    ['no region where its host name needs one', { kind: 'byo', provider: 'wasabi', bucket: 'b' }],
    ['a default that is text', { kind: 'byo', provider: 's3', bucket: 'b', is_default: 'yes' }],
  ])('are not created with %s', async (_, body) => {
    expect((await ask('POST /storage-targets', { body })).status).toBe(422);
  });

  it('are 404 when unknown and 422 with an unknown provider', async () => {
    const [target] = (await ask('GET /storage-targets')).json as { id: string }[];
    const unknown = await ask('GET /storage-targets/unknown');
    const invalid = await ask(`PUT /storage-targets/${target?.id}`, { body: { provider: 'tape' } });
    expect([unknown.status, invalid.status]).toEqual([404, 422]);
  });
});
