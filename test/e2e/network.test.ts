/** Proxies, certificates of one's own and IPv6, as commands meet them: by environment variables and the configuration. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '../helpers/certificate.ts';
import { startForwardProxy } from '../helpers/forward-proxy.ts';
import { runHere } from '../helpers/in-process.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { freePort } from '../helpers/proxies.ts';
import { startWarm } from '../helpers/warm.ts';

/** A name that nobody knows but the proxy. */
const HOST = 'upstream.invalid';
const HAS_IPV6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const WITHOUT_IPV6 = HAS_IPV6 ? '' : ' (skipped: this machine has none)';
const TOKEN = '0123456789abcdef'.repeat(3);

/** What a Gatus with one endpoint answers, and a Statuspage with nothing to import. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/api/v1/endpoints/statuses': [
    {
      name: 'API',
      key: 'core_api',
      results: [{ status: 200, success: true, duration: 1_000_000, timestamp: '2026-11-21T08:00:00Z' }],
    },
  ],
  '/api/v2/summary.json': { page: { id: 'p', name: 'Old' }, components: [], incidents: [], scheduled_maintenances: [] },
  '/api/v2/components.json': { components: [] },
  '/api/v2/incidents.json': { incidents: [] },
  '/api/v2/scheduled-maintenances.json': { scheduled_maintenances: [] },
};
const answer: RequestListener = (request, response) => {
  const found = ANSWERS[(request.url ?? '').replace(/\?.*$/, '')];
  response
    .writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' })
    .end(JSON.stringify(found ?? {}));
};

let folder = temporaryFolder();
let ending: (() => unknown)[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const end of ending.toReversed()) await end();
  ending = [];
  folder.remove();
});

async function serve(host: string, tls?: { readonly cert: string; readonly key: string }): Promise<number> {
  const server = tls === undefined ? createServer(answer) : createSecureServer(tls, answer);
  await new Promise<void>((done) => server.listen(0, host, done));
  ending.push(() => new Promise((done) => server.close(done)));
  return (server.address() as AddressInfo).port;
}

const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);
const run = (env: Readonly<Record<string, string>>, ...args: string[]) =>
  runHere(args, { cwd: folder.path, env: { PHAROS_TOKEN: TOKEN, ...env } });
const configFor = (url: string, more = ''): string =>
  `site: { url: "https://status.example.com" }\nupstreams: [{ id: gatus, kind: gatus, url: "${url}"${more} }]\noperators: { token: "\${PHAROS_TOKEN}" }\n`;

describe('with HTTP_PROXY in the environment', () => {
  it('pharos check reaches upstreams through it, unless NO_PROXY lists them', async () => {
    const proxy = await startForwardProxy();
    ending.push(proxy.close);
    write('pharos.yaml', configFor(`http://${HOST}:${await serve('127.0.0.1')}`));
    const through = await run({ HTTP_PROXY: proxy.url }, 'check');
    expect([through.status, through.stdout + through.stderr]).toEqual([0, expect.stringContaining('1 monitor')]);
    expect(proxy.asked.length).toBeGreaterThan(0);
    const asked = proxy.asked.length;
    for (const NO_PROXY of ['*', HOST, '.invalid']) {
      const past = await run({ HTTP_PROXY: proxy.url, NO_PROXY }, 'check');
      expect([NO_PROXY, past.status]).toEqual([NO_PROXY, 1]);
    }
    expect(proxy.asked.length).toBe(asked);
  });

  it('pharos import reaches the page through it', async () => {
    const proxy = await startForwardProxy();
    ending.push(proxy.close);
    const place = `http://${HOST}:${await serve('127.0.0.1')}`;
    const { stdout, stderr } = await run({ HTTP_PROXY: proxy.url }, 'import', 'statuspage', place, '--page', 'old');
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('+ posts/old.pages.yaml')]);
    expect(proxy.asked).toContain(`GET ${place}/api/v2/summary.json`);
  });

  it('every command that asks somebody says in one line that the address is wrong', async () => {
    write('pharos.yaml', configFor('http://127.0.0.1:1'));
    for (const args of [['check'], ['import', 'statuspage', 'http://127.0.0.1:1', '--page', 'old']]) {
      const { status, stderr } = await run({ HTTPS_PROXY: 'socks5://127.0.0.1:1080' }, ...args);
      expect([args, status, stderr]).toEqual([
        args,
        2,
        'Environment variable HTTPS_PROXY: expected the address of an HTTP proxy, such as http://proxy.example.com:3128.\n',
      ]);
    }
  });
});

describe('a certificate of one’s own', () => {
  it('is trusted for the upstream that names its file, relative to the configuration', async () => {
    const period = { from: new Date(Date.UTC(2020, 0, 1)), to: new Date(Date.UTC(2120, 0, 1)) };
    const certificate = makeCertificate('127.0.0.1', period);
    const url = `https://127.0.0.1:${await serve('127.0.0.1', certificate)}`;
    mkdirSync(join(folder.path, 'etc'));
    write('etc/ca.pem', certificate.cert);
    write('etc/pharos.yaml', configFor(url, ', ca: "${file:./ca.pem}"'));
    write('etc/without.yaml', configFor(url));
    const trusted = await run({}, 'check', '--config', 'etc/pharos.yaml');
    expect([trusted.status, trusted.stdout]).toEqual([0, expect.stringContaining('1 monitor')]);
    const refused = await run({}, 'check', '--config', 'etc/without.yaml');
    expect([refused.status, refused.stdout]).toEqual([1, expect.stringContaining('set ca on this upstream')]);
  });
});

describe('IPv6', () => {
  it.skipIf(!HAS_IPV6)(`is listened on, and an upstream is asked there${WITHOUT_IPV6}`, async () => {
    write('pharos.yaml', configFor(`http://[::1]:${await serve('::1')}`));
    const env = { PHAROS_TOKEN: TOKEN };
    const pharos = await startWarm(['start', '--host', '::1', '--port', '0'], { cwd: folder.path, env });
    ending.push(pharos.stop);
    expect(pharos.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    const page = await eventually(
      async () => fetch(`${pharos.url}/`),
      ({ status }) => status === 200,
    );
    expect(await page.text()).toContain('API');
  });

  it.skipIf(!HAS_IPV6)(
    `and IPv4 are both listened on where the host is ::, which commands find${WITHOUT_IPV6}`,
    async () => {
      const port = await freePort();
      write('pharos.yaml', `${configFor(`http://[::1]:${await serve('::1')}`)}server: { host: "::", port: ${port} }\n`);
      const pharos = await startWarm(['start'], { cwd: folder.path, env: { PHAROS_TOKEN: TOKEN } });
      ending.push(pharos.stop);
      // Its own address can be opened, which [::] cannot: no site is called that.
      expect(pharos.url).toBe(`http://[::1]:${port}`);
      for (const host of ['[::1]', '127.0.0.1'])
        expect((await fetch(`http://${host}:${port}/-/health`)).status).toBe(200);
      const rebuilt = await run({}, 'rebuild');
      expect([rebuilt.status, rebuilt.stderr]).toEqual([0, '']);
    },
  );

  it('in site.url is looked at by pharos doctor like a name', async () => {
    // ::ffff:127.0.0.1, as it stands in addresses.
    const site = `https://[::ffff:7f00:1]:${await freePort()}`;
    const url = `http://127.0.0.1:${await serve('127.0.0.1')}`;
    write('pharos.yaml', configFor(url).replace('https://status.example.com', site));
    const { stdout, stderr } = await run({}, 'doctor');
    expect([stderr, stdout]).toEqual(['', expect.stringMatching(/certificate: .+ cannot be reached from here: /)]);
  });

  it('or not, a server on every address is asked at this machine’s own by commands', async () => {
    const port = await freePort();
    write('pharos.yaml', `${configFor('http://127.0.0.1:1')}server: { host: 0.0.0.0, port: ${port} }\n`);
    const pharos = await startWarm(['start'], { cwd: folder.path, env: { PHAROS_TOKEN: TOKEN } });
    ending.push(pharos.stop);
    expect(pharos.url).toBe(`http://127.0.0.1:${port}`);
    const rebuilt = await run({}, 'rebuild', '--json');
    expect(JSON.parse(rebuilt.stdout)).toMatchObject({ trigger: 'rebuild' });
  });
});
