import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createChannels } from '../../src/app/notify/channels.ts';
import { parseConfig } from '../../src/config/load.ts';
import { MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore } from '../../src/store/create-store.ts';
import { CONNECTORS, connectorOf } from '../../src/sync/connectors/index.ts';
import { createHttp, type Http } from '../../src/sync/http/http.ts';
import { bindUpstream, type Upstream } from '../../src/sync/upstream.ts';
import { AT, SIGNING_SECRET } from '../helpers/channels.ts';
import { startDatabases, type TestDatabase } from '../helpers/databases.ts';

let server: Server;
let url = '';
let database: TestDatabase;
let http: Http;
let asked = 0;
let status = 200;
let webhookUrl = 'https://hooks.example.net/1';

beforeAll(async () => {
  server = createServer((_request, response) => {
    asked += 1;
    const attributes = {
      id: '31',
      name: 'Ops',
      provider_type: 'slack',
      monitor_ids: ['1', '2'],
      slack: [{ webhook_url: webhookUrl }],
    };
    const resource = { mode: 'managed', type: 'svc_notification', name: 'ops', instances: [{ attributes }] };
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ version: 4, resources: [resource] }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/state`;
});
afterAll(() => server?.close());
beforeEach(async () => {
  database = await (await startDatabases('SQLite')).fresh();
  http = createHttp();
  asked = 0;
  status = 200;
  webhookUrl = 'https://hooks.example.net/1';
});
afterEach(async () => {
  await http.close();
  await database.drop();
});

function configOf(entries: unknown) {
  const text = stringify({
    site: { url: 'https://status.example.com' },
    upstreams: [
      { id: 'iac', kind: 'terraform', url, monitorUpstream: 'edge' },
      { id: 'edge', kind: 'server-monitor', baseUrl: 'https://edge.example.net', apiKey: '${KEY}' },
    ],
    notifications: entries,
  });
  return parseConfig({ text, file: null, folder: '/etc' }, CONNECTORS, { KEY: 'k', SIGNING: SIGNING_SECRET });
}

/** What a running Pharos has of it; the configuration may be replaced. */
function pharosWith(entries: unknown) {
  const bind = (config: ReturnType<typeof configOf>): Upstream[] =>
    config.upstreams.map(({ id, kind, options, limits }) =>
      bindUpstream(connectorOf(kind), { id, options, limits, intervalMs: MINUTE_MS }),
    );
  let config = configOf(entries);
  const upstreams = bind(config);
  let at = AT;
  const channels = createChannels({
    config: () => config,
    upstreams: () => upstreams,
    http,
    store: createStore(database.open()),
    now: () => at,
    sleep: async () => undefined,
  });
  return {
    later: (ms: number) => (at = toEpochMs(at + ms)),
    latest: () => channels.latest().map(({ id }) => id),
    replace: (next: unknown) => (config = configOf(next)),
    known: async () => {
      const { channels: found, off } = await channels.known();
      return {
        channels: found.map(({ id, monitors, settings }) => [
          id,
          monitors,
          (settings as { webhook_url?: { reveal: () => string } }).webhook_url?.reveal(),
        ]),
        off: off.map(({ id, reason }) => [id, reason]),
      };
    },
  };
}

const TAKEN = { channels: [['all/31', ['edge/1', 'edge/2'], 'https://hooks.example.net/1']], off: [] };

it('an upstream is asked again after ten minutes, and what it said holds while it fails', async () => {
  const pharos = pharosWith([{ id: 'all', from: 'iac' }]);
  expect(await pharos.known()).toEqual(TAKEN);
  webhookUrl = 'https://hooks.example.net/2';
  pharos.later(9 * MINUTE_MS);
  expect(await pharos.known()).toEqual(TAKEN);
  expect(asked).toBe(1);
  status = 404;
  pharos.later(2 * MINUTE_MS);
  expect(await pharos.known()).toEqual(TAKEN);
  expect(asked).toBeGreaterThan(1);
  status = 200;
  pharos.later(11 * MINUTE_MS);
  expect((await pharos.known()).channels[0]?.[2]).toBe('https://hooks.example.net/2');
});

it('what is known without waiting is what is configured, and what was found last', async () => {
  const own = { id: 'hook', kind: 'webhook', endpoint: 'https://hook.example.net', secrets: ['${SIGNING}'] };
  const pharos = pharosWith([{ id: 'all', from: 'iac' }, own]);
  expect(pharos.latest()).toEqual(['hook']);
  await pharos.known();
  expect(pharos.latest()).toEqual(['all/31', 'hook']);
  status = 404;
  pharos.later(11 * MINUTE_MS);
  expect(pharos.latest()).toEqual(['all/31', 'hook']);
  await pharos.known();
  expect(pharos.latest()).toEqual(['all/31', 'hook']);
  pharos.replace([own]);
  expect(pharos.latest()).toEqual(['hook']);
});

it('where it never answered, its entry is off and says why, and the others go on', async () => {
  status = 404;
  const own = { id: 'hook', kind: 'webhook', endpoint: 'https://hook.example.net', secrets: ['${SIGNING}'] };
  const pharos = pharosWith([{ id: 'all', from: 'iac' }, own]);
  const { channels, off } = await pharos.known();
  expect(channels).toEqual([['hook', undefined, undefined]]);
  expect(off).toEqual([['all', expect.stringContaining('status 404')]]);
  status = 200;
  pharos.later(MINUTE_MS);
  expect(await pharos.known()).toMatchObject({
    channels: [
      ['all/31', ['edge/1', 'edge/2'], expect.anything()],
      ['hook', undefined, undefined],
    ],
    off: [],
  });
});

it('another configuration is looked at at once', async () => {
  const pharos = pharosWith([]);
  expect(await pharos.known()).toEqual({ channels: [], off: [] });
  pharos.replace([{ id: 'all', from: 'iac' }]);
  expect(await pharos.known()).toEqual(TAKEN);
  pharos.replace([{ id: 'all', from: 'iac', monitors: ['edge/2', 'edge/3'] }]);
  expect((await pharos.known()).channels[0]?.[1]).toEqual(['edge/2']);
  pharos.replace([{ id: 'all', from: 'iac', monitors: ['edge/3'] }]);
  expect((await pharos.known()).off).toEqual([['all/31', 'no monitor triggers it']]);
});

it('an upstream that does not tell where channels lead is named', async () => {
  expect((await pharosWith([{ id: 'all', from: 'edge' }]).known()).off).toEqual([
    ['all', expect.stringContaining('edge has no readable notification channels')],
  ]);
});

it('without TLS only hosts that are named are taken', async () => {
  webhookUrl = 'http://hooks.lan/1';
  expect((await pharosWith([{ id: 'all', from: 'iac' }]).known()).off).toEqual([
    ['all/31', expect.stringContaining('webhook_url: expected an https address')],
  ]);
  const allowed = pharosWith([{ id: 'all', from: 'iac', allow_private_hosts: ['hooks.lan'] }]);
  expect((await allowed.known()).channels).toHaveLength(1);
});
