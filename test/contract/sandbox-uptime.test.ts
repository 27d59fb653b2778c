import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asked, type AskOptions, startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';

const LIST = '/uptime/rpc/MonitorService/listMonitors';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

type KeyName = 'read' | 'write' | 'expired';

function as(key: KeyName, options: AskOptions = {}): AskOptions {
  return { ...options, headers: { 'x-svc-key': sandbox.credentials.uptime[key].token, ...options.headers } };
}

function list(options: AskOptions = {}): Promise<Asked> {
  return sandbox.ask(LIST, as('read', { method: 'POST', body: {}, ...options }));
}

type Monitor = Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };
type Monitors = Record<'httpMonitors' | 'tcpMonitors' | 'dnsMonitors', readonly Monitor[]>;

async function monitor(id: string): Promise<Monitor | undefined> {
  const monitors = (await list()).json as Monitors;
  return Object.values(monitors)
    .flat()
    .find((one) => one.id === id);
}

describe('listMonitors', () => {
  it('answers three lists that hold every monitor once, by kind', async () => {
    const { status, json } = await list();
    const { httpMonitors, tcpMonitors, dnsMonitors, ...rest } = json as Monitors;
    expect([status, rest]).toEqual([200, {}]);
    expect(httpMonitors.map(({ id }) => id)).toEqual(['1', '2', '3', '6', '9']);
    expect(tcpMonitors.map(({ id }) => id)).toEqual(['4', '5', '7']);
    expect(dnsMonitors.map(({ id }) => id)).toEqual(['8']);
  });

  it('keeps its lists when they are empty', async () => {
    const small = await startTestSandbox({ services: 1 });
    const headers = { 'x-svc-key': small.credentials.uptime.read.token };
    const { json } = await small.ask(LIST, { method: 'POST', body: {}, headers });
    await small.stop();
    expect(json).toMatchObject({ tcpMonitors: [], dnsMonitors: [] });
  });

  it('gives each field the type and the values of the resource tables', async () => {
    const { httpMonitors, tcpMonitors, dnsMonitors } = (await list()).json as Monitors;
    const common = {
      id: expect.stringMatching(/^\d+$/),
      name: expect.stringMatching(/^.{1,256}$/),
      description: expect.stringMatching(/^.{0,1024}$/),
      periodicity: expect.stringMatching(/^(30s|1m|5m|10m|30m|1h)$/),
      timeout: 45_000,
      degradedAt: expect.any(Number),
      retry: 3,
      active: expect.any(Boolean),
      public: expect.any(Boolean),
      regions: expect.arrayContaining([expect.stringMatching(/^(fly|koyeb|railway)-/)]),
      status: expect.stringMatching(/^(active|degraded|error|unknown)$/),
    };
    for (const one of httpMonitors) {
      expect(one).toEqual({
        ...common,
        url: expect.stringMatching(/^https:/),
        method: 'GET',
        body: '',
        followRedirects: true,
        headers: [],
        statusCodeAssertions: [{ target: 200, comparator: 'eq' }],
        bodyAssertions: [],
        headerAssertions: [],
      });
    }
    for (const one of tcpMonitors) expect(one).toEqual({ ...common, uri: expect.stringMatching(/^[^/]+:\d+$/) });
    for (const one of dnsMonitors) {
      expect(one).toEqual({
        ...common,
        uri: expect.stringMatching(/^[a-z.]+$/),
        recordAssertions: [{ record: 'A', target: expect.any(String), comparator: 'eq' }],
      });
    }
  });

  it.each([
    ['up', 'active', true],
    ['degraded', 'degraded', true],
    ['down', 'error', true],
    ['pending', 'unknown', true],
    ['paused', 'active', false],
  ] as const)('says of a service that is %s: %s, active %s', async (forced, status, active) => {
    sandbox.world.force('svc/2', forced);
    const api = await monitor('2');
    sandbox.world.force('svc/2', null);
    expect(api).toMatchObject({ status, active });
  });

  it.each([
    ['no key', {}, "Missing 'x-svc-key' header"],
    ['a wrong key', { 'x-svc-key': 'wrong' }, 'Invalid API Key'],
    ['a bearer', { authorization: 'Bearer x' }, "Missing 'x-svc-key' header"],
  ])('refuses %s with 401', async (_, headers, message) => {
    const answer = await sandbox.ask(LIST, { method: 'POST', body: {}, headers });
    expect([answer.status, answer.json]).toEqual([401, { code: 'unauthenticated', message }]);
  });

  it('refuses an expired key with 401', async () => {
    expect((await sandbox.ask(LIST, as('expired', { method: 'POST', body: {} }))).status).toBe(401);
  });

  it('wants POST, JSON and an object', async () => {
    const get = await sandbox.ask(LIST, as('read'));
    const plain = await list({ body: '{}', headers: { 'content-type': 'text/plain' } });
    const broken = await list({ body: '{', headers: { 'content-type': 'application/json' } });
    const array = await list({ body: [] });
    expect([get, plain, broken, array].map(({ status }) => status)).toEqual([405, 415, 400, 400]);
    expect(plain.text).toBe('');
    expect(broken.json).toMatchObject({ code: 'invalid_argument' });
  });

  it('lets a read key change nothing', async () => {
    const create = (key: KeyName): Promise<Asked> =>
      sandbox.ask('/uptime/rpc/MonitorService/createHttpMonitor', as(key, { method: 'POST', body: {} }));
    expect([(await create('read')).status, (await create('write')).status]).toEqual([403, 501]);
  });

  it.each(['/uptime/rpc/MonitorService/ListMonitors', '/uptime/rpc/x', '/uptime/v2'])(
    'is not to be found at %s',
    async (path) => {
      expect((await sandbox.ask(path, as('read', { method: 'POST', body: {} }))).status).toBe(404);
    },
  );
});

describe('the REST half of the uptime service', () => {
  it.each(['read', 'write'] as const)('tells a %s key who it is', async (key) => {
    const { status, json } = await sandbox.ask('/uptime/v1/whoami', as(key));
    expect([status, json]).toEqual([
      200,
      {
        name: expect.any(String),
        slug: expect.any(String),
        plan: expect.any(String),
        actor: { type: 'apiKey', keyId: sandbox.credentials.uptime[key].id, scopes: [key] },
      },
    ]);
  });

  it('wants a key, GET, and a path that exists', async () => {
    const none = await sandbox.ask('/uptime/v1/whoami');
    const post = await sandbox.ask('/uptime/v1/whoami', as('read', { method: 'POST' }));
    const nothing = await sandbox.ask('/uptime/v1/nothing', as('read'));
    const get = await sandbox.ask('/uptime/v1/api-key/1', as('write'));
    expect([none, post, nothing, get].map(({ status }) => status)).toEqual([401, 405, 404, 405]);
  });

  it('lets a read key revoke itself and no other', async () => {
    const own = await startTestSandbox();
    const { read, write } = own.credentials.uptime;
    const headers = { 'x-svc-key': read.token };
    const revoke = (id: string): Promise<Asked> => own.ask(`/uptime/v1/api-key/${id}`, { method: 'DELETE', headers });
    const other = await revoke(write.id);
    const itself = await revoke(read.id);
    const afterwards = await own.ask('/uptime/v1/whoami', { headers });
    await own.stop();
    expect([other.status, itself.status, itself.text, afterwards.status]).toEqual([403, 204, '', 401]);
  });

  it('lets a write key revoke any key once', async () => {
    const own = await startTestSandbox();
    const { read, write } = own.credentials.uptime;
    const headers = { 'x-svc-key': write.token };
    const revoke = (id: string): Promise<Asked> => own.ask(`/uptime/v1/api-key/${id}`, { method: 'DELETE', headers });
    const statuses = [(await revoke(read.id)).status, (await revoke(read.id)).status, (await revoke('99')).status];
    const listed = await own.ask(LIST, { method: 'POST', body: {}, headers: { 'x-svc-key': read.token } });
    await own.stop();
    expect([...statuses, listed.status]).toEqual([204, 404, 404, 401]);
  });
});
