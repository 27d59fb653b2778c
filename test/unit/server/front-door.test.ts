import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Access } from '../../../src/access/create-access.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { plain } from '../../../src/server/answer.ts';
import { createFrontDoor, type FrontDoorOptions } from '../../../src/server/front-door.ts';
import { createBadgeService } from '../../../src/server/visitors/badge-service.ts';

/** A door to an empty site that says where a request below `/-/` arrived. */
const DOOR: FrontDoorOptions = {
  addresses: () => ({
    siteHost: 'status.example',
    basePath: '/',
    home: null,
    publicFiles: new Set(),
    customDomains: new Map([['acme.example', 'acme']]),
  }),
  own: async ({ isSiteHost }) => plain(200, isSiteHost ? 'site' : 'domain of a page'),
  access: { pageOf: () => null } as unknown as Access,
  reader: { open: () => null },
  badges: createBadgeService(),
  sources: () => [],
  locale: () => 'en',
  trustedProxyHops: 0,
  isHttpsSite: false,
  now: () => toEpochMs(0),
  onError: (error) => {
    throw error;
  },
};
const door = () => createFrontDoor(DOOR);

let server: ReturnType<typeof door>;
beforeEach(async () => {
  server = door();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const say = (...lines: readonly string[]): Promise<string> => ask('/-/health', ...lines);

async function ask(path: string, ...lines: readonly string[]): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
  });
  socket.write([`GET ${path} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'));
  await once(socket, 'close');
  return said;
}

it('answers by the one host that a request names', async () => {
  expect(await say('Host: status.example')).toMatch(/\r\n\r\nsite\n$/);
  expect(await say('Host: acme.example')).toMatch(/\r\n\r\ndomain of a page\n$/);
});

it.each([
  ['Host: status.example', 'Host: acme.example'],
  ['Host: status.example', 'host: status.example'],
  ['Host: status.example', 'Authorization: Bearer a', 'authorization: Bearer b'],
])('refuses %s with %s: a proxy may have taken the other', async (...lines) => {
  expect(await say(...lines)).toMatch(/^HTTP\/1\.1 400 .*sent twice/s);
});

it('brings itself up to date for those who were here before, whatever page they ask for, and for nobody else', async () => {
  let looks = 0;
  const catchUp = async (): Promise<void> => {
    looks += 1;
  };
  const nobody = { kind: 'anonymous' };
  const access = {
    pageOf: () => null,
    principalOf: async () => nobody,
    knowsPages: () => true,
    denied: async () => null,
  };
  server.close();
  server = createFrontDoor({ ...DOOR, access: access as unknown as Access, catchUp });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = 'Host: status.example';
  for (const path of ['/', '/acme/', '/nothing/']) await ask(path, host, 'Cache-Control: no-cache');
  expect(looks).toBe(3);
  await ask('/-/health', host, 'Cache-Control: no-cache');
  await ask('/acme/', host);
  expect(looks).toBe(3);
});
