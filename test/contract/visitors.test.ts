import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DISK } from '../../src/publish/releases/disk.ts';
import { hideFromPublic } from '../../src/publish/releases/switch.ts';
import type { SiteAddresses } from '../../src/server/address.ts';
import { createFrontDoor, type FrontDoorOptions } from '../../src/server/front-door.ts';
import { createBadgeService } from '../../src/server/visitors/badge-service.ts';
import { createReleaseReader } from '../../src/server/visitors/release-reader.ts';
import { closeSmallSites, createSmallSite, type RunningPublisher, type SmallSite } from '../helpers/small-site.ts';
import { page, passwordPage, type Site, type SiteFolder, siteFolder } from './access-fixture.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? '1');
const QUESTIONS = Math.round(200 * SCALE);

interface Door {
  readonly server: Server;
  /** Status and seconds of everything that was counted. */
  readonly counted: number[];
}

/** A door that remembers, beside doors that are asked once each. */
describe('answers that are ready', () => {
  let small: SmallSite;
  let publisher: RunningPublisher;
  let folder: SiteFolder;
  let site: Site;
  let addresses: SiteAddresses;
  let isHttpsSite = false;
  let quick: Door;

  beforeEach(async () => {
    small = createSmallSite({ pages: ['acme', 'beta'] });
    await small.pass();
    publisher = small.publisher();
    await publisher.run();
    await publisher.publisher.settled();
    folder = siteFolder();
    site = await folder.open();
    await site.access.setPages([page('acme'), passwordPage('beta')]);
    isHttpsSite = false;
    addresses = {
      siteHost: 'status.example',
      basePath: '/',
      home: null,
      customDomains: new Map([['acme.example', 'acme']]),
      publicFiles: new Set(),
    };
    quick = await open(() => addresses);
  });
  afterEach(async () => {
    await close(quick);
    await site.close();
    folder.remove();
    await closeSmallSites();
  });

  async function open(addressesOf: FrontDoorOptions['addresses']): Promise<Door> {
    const counted: number[] = [];
    const server = createFrontDoor({
      addresses: addressesOf,
      reader: createReleaseReader(small.folders),
      access: site.access,
      own: async () => null,
      badges: createBadgeService(),
      sources: () => [],
      locale: () => 'en',
      trustedProxyHops: 0,
      get isHttpsSite() {
        return isHttpsSite;
      },
      now: () => small.clock.now,
      onAnswered: (status) => counted.push(status),
      onError: (error) => {
        throw error;
      },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, counted };
  }

  async function close({ server }: Door): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** Every byte that comes back for these bytes, but for what Node says of the time. */
  async function say(door: Door, text: string): Promise<string> {
    const { port } = door.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.write(text, 'latin1');
    await once(socket, 'close');
    return Buffer.concat(chunks)
      .toString('latin1')
      .replace(/\r\nDate: [^\r]*/g, '');
  }

  const closing = (request: string): string => request.replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n');

  /** Asked twice, so that a remembered answer would be used. */
  async function expectSame(request: string): Promise<void> {
    const fresh = await open(() => addresses);
    const worked = await say(fresh, closing(request));
    await close(fresh);
    expect(await say(quick, closing(request))).toBe(worked);
    expect(await say(quick, closing(request))).toBe(worked);
  }
  const get = (path: string, lines: readonly string[] = []): string =>
    `GET ${path} HTTP/1.1\r\n${['Host: status.example', 'Accept-Encoding: br', ...lines].join('\r\n')}\r\n\r\n`;
  async function statusOf(door: Door, path: string): Promise<string> {
    return /^HTTP\/1.1 (\d+)/.exec(await say(door, get(path, ['Connection: close'])))?.[1] ?? '';
  }

  const PATHS = [
    '/acme/',
    '/acme',
    '/acme/index.html',
    '//acme//',
    '/acme/%69ndex.html',
    '/acme/badges/status.svg',
    '/acme/badges/status.svg?style=pill',
    '/acme/badges/status.svg?token=x',
    '/acme/badges/none.svg',
    '/acme/api/v2/summary.json',
    '/acme/api/now.json',
    '/acme/history/',
    '/acme/nothing',
    '/acme/..%2f..%2fpharos.db',
    '/beta/',
    '/beta/badges/status.svg',
    '/beta/index.html',
    '/gamma/',
    '/',
    '/robots.txt',
    '/?a=b',
    '/acme/login/',
    '/acme/?utm=1',
    'http://status.example/acme/',
    '*',
    `/acme/?${'q'.repeat(600)}`,
  ];
  const HEADERS = [
    'Accept-Encoding: br',
    'accept-encoding: gzip;q=0.5, br;q=0.1',
    'ACCEPT-ENCODING: identity',
    'Accept-Encoding: *;q=0',
    'If-None-Match: *',
    'if-none-match: "no", W/"such"',
    'Range: bytes=0-9',
    'RANGE: bytes=5-',
    'Cookie: pharos=abcdefghijklmnopqrstuvwxyz0123456789abcdefg',
    'Authorization: Bearer x',
    'Origin: https://elsewhere.example',
    'Sec-Fetch-Site: cross-site',
    'sec-fetch-site: none',
    'Content-Type: text/plain',
    'Content-Length: 0',
    'X-Forwarded-For: 192.0.2.1',
    'Expect: 100-continue',
    'Upgrade: websocket',
    'Pragma: no-cache',
  ];
  const HOSTS = ['status.example', 'STATUS.example:80', 'acme.example', 'elsewhere.example', '127.0.0.1', 'a b', ''];
  const question = fc.record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'),
    path: fc.constantFrom(...PATHS),
    version: fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
    hosts: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...HOSTS).map((host) => [host]) },
      fc.subarray([...HOSTS], { maxLength: 2 }),
    ),
    headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 4 }),
  });

  it(`are byte for byte what the long way answers, for ${QUESTIONS} requests of any kind`, async () => {
    await fc.assert(
      fc.asyncProperty(question, async ({ method, path, version, hosts, headers }) => {
        const lines = [...hosts.map((host) => `Host: ${host}`), ...headers];
        await expectSame(`${[`${method} ${path} HTTP/${version}`, ...lines].join('\r\n')}\r\n\r\n`);
      }),
      { numRuns: QUESTIONS },
    );
  });

  it('are not taken for those of requests that are almost the same', async () => {
    for (const path of ['/acme/', '/acme/badges/status.svg', '/robots.txt']) {
      await expectSame(get(path));
      for (const line of [...HEADERS, ...HOSTS.map((host) => `Host: ${host}`)]) await expectSame(get(path, [line]));
      for (const twice of ['Origin: x', 'Sec-Fetch-Site: none', 'If-None-Match: *'])
        await expectSame(get(path, [twice, twice]));
      for (const method of ['HEAD', 'POST', 'OPTIONS', 'DELETE']) await expectSame(get(path).replace('GET', method));
    }
  });

  it('are conditional as the long way is', async () => {
    for (const path of ['/acme/', '/acme/badges/status.svg']) {
      const etag = /\r\netag: ([^\r]*)/.exec(await say(quick, get(path, ['Connection: close'])))?.[1] ?? '';
      expect(etag).not.toBe('');
      for (const named of [etag, `W/${etag}`, `"x", ${etag}`, etag.slice(0, -2), `${etag}${etag}`])
        await expectSame(get(path, [`If-None-Match: ${named}`]));
      expect(await say(quick, get(path, [`If-None-Match: ${etag}`, 'Connection: close']))).toMatch(/^HTTP\/1.1 304 /);
    }
  });

  it('are those of the release that is served, of the gate in force and of the addresses at every moment', async () => {
    const paths = ['/acme/', '/acme/badges/status.svg', '/acme/api/v2/summary.json', '/'];
    const alike = async (): Promise<void> => {
      for (const path of paths) await expectSame(get(path));
    };
    await alike();
    for (const state of ['major_outage', 'operational'] as const) {
      small.clock.now = (small.clock.now + 60_000) as typeof small.clock.now;
      small.upstream('acme').states = [state, state];
      await small.pass();
      await publisher.run();
      // Variants follow, and both are asked after another.
      await publisher.publisher.settled();
      await alike();
    }
    // A badge turns stale while nothing else happens, and comes back should the clock be put back.
    const before = small.clock.now;
    const fresh = await say(quick, get('/acme/badges/status.svg', ['Connection: close']));
    small.clock.now = (before + 864_000_000) as typeof before;
    await alike();
    expect(await say(quick, get('/acme/badges/status.svg', ['Connection: close']))).not.toBe(fresh);
    small.clock.now = before;
    await alike();
    addresses = { ...addresses, home: 'acme' };
    await alike();
    isHttpsSite = true;
    await alike();
  });

  it('are given to nobody once a page is closed, from the very next request', async () => {
    const paths = ['/acme/', '/acme/badges/status.svg', '/acme/api/v2/summary.json'];
    const open = async (): Promise<string[]> => {
      const statuses: string[] = [];
      for (const path of [...paths, ...paths]) statuses.push(await statusOf(quick, path));
      return statuses;
    };
    expect(new Set(await open())).toEqual(new Set(['200']));
    // The gate is in force as soon as it is set; the link on disk still leads there.
    const settled = site.access.setPages([passwordPage('acme'), passwordPage('beta')]);
    expect(new Set(await open())).toEqual(new Set(['404']));
    await settled;
    await site.access.setPages([page('acme'), passwordPage('beta')]);
    expect(new Set(await open())).toEqual(new Set(['200']));
    // Another process takes the link away, and no gate is set here.
    await hideFromPublic({ disk: DISK, folders: small.folders }, 'acme');
    await turn();
    expect((await open()).includes('200')).toBe(false);
  });

  it('are counted as all others, once each', async () => {
    await say(quick, `${get('/acme/')}${get('/acme/')}${get('/acme/nothing')}${closing(get('/acme/'))}`);
    await turn();
    expect(quick.counted.toSorted()).toEqual([200, 200, 200, 404]);
  });
});
