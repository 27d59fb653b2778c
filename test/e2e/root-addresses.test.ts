import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { Statuspage } from 'statuspage.io';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { toEpochMs } from '../../src/model/time.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { startWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';
import { type Answer, type Ask, send } from './gates-site.ts';

const SITE_HOST = 'status.acme.example';
const OWN_HOST = 'status.beta.example';
const PAGES = { acme: 'Acme', beta: 'Beta' } as const;
type Slug = keyof typeof PAGES;

/** Where each page answers: the home page by its slug and at the root, the other by its slug and on its own domain. */
const BASES: readonly (readonly [slug: Slug, host: string, base: string])[] = [
  ['acme', SITE_HOST, '/acme'],
  ['acme', SITE_HOST, ''],
  ['beta', SITE_HOST, '/beta'],
  ['beta', OWN_HOST, ''],
];

/** What other people's programs ask a status page for, with what they may find there. */
const ADDRESSES: Readonly<Record<string, RegExp>> = {
  'api/v2/summary.json': /"scheduled_maintenances"/,
  'api/v2/status.json': /"indicator"/,
  'api/v2/components.json': /"page_id"/,
  'api/v2/incidents.json': /"incident_updates"/,
  'api/v2/incidents/unresolved.json': /"incidents"/,
  'api/v2/scheduled-maintenances.json': /"scheduled_maintenances"/,
  'api/v2/scheduled-maintenances/upcoming.json': /"scheduled_maintenances"/,
  'api/v2/scheduled-maintenances/active.json': /"scheduled_maintenances"/,
  'api/state.json': /"stale_after"/,
  'api/now.json': /"checkedAt"/,
  'api/uptime.json': /"formula"/,
  'history.atom': /<feed/,
  'history.rss': /<rss/,
  'feed.atom': /<feed/,
  'feed.rss': /<rss/,
  'feed.json': /jsonfeed/,
  'maintenance.ics': /BEGIN:VCALENDAR/,
  'badges/status.svg': /<svg/,
  'badges/status.json': /"schemaVersion"/,
  'components/api/badges/uptime-90d.svg': /<svg/,
  'components/api/feed.atom': /<feed/,
  'favicon.svg': /<svg/,
  'build.json': /"versions"/,
  'site.webmanifest': /"start_url":".\/"/,
  'days.js': /use strict/,
  'enhance.js': /use strict/,
};

describe('the addresses that others expect', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let pharos: RunningPharos;
  let browser: Browser;

  const ask = (host: string, path: string, over: Ask = {}): Promise<Answer> =>
    send(`${pharos.url}${path}`, undefined, { ...over, headers: { host, ...over.headers } });
  const json = async (host: string, path: string) =>
    JSON.parse((await ask(host, path)).body) as Record<string, { readonly id: string; readonly name: string }[]>;

  beforeAll(async () => {
    browser = await launchBrowser({ args: ['--host-resolver-rules=MAP *.example 127.0.0.1'] });
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    mkdirSync(join(folder.path, 'posts'));
    for (const slug of Object.keys(PAGES))
      writeFileSync(
        join(folder.path, 'posts', `${slug}.md`),
        `---\ntype: incident\ntitle: ${slug} is slow\nimpact: minor\nstate: degraded\nstarted: ${new Date(Date.now() - 3_600_000).toISOString()}\ncomponents: [${slug}/api]\n---\n\nWe are looking.\n`,
      );
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      stringify({
        site: {
          url: `http://${SITE_HOST}`,
          home: 'acme',
          security: {
            contact: ['mailto:security@acme.example', 'https://acme.example/security'],
            expires: '2099-06-30',
          },
        },
        schedule: '0 0 1 1 *',
        upstreams: [
          {
            id: 'edge',
            kind: 'server-monitor',
            baseUrl: `${sandbox.url}/server-monitor`,
            apiKey: '${EDGE_KEY}',
            auth: 'x-api-key',
          },
          { id: 'posts', kind: 'markdown', path: './posts' },
        ],
        pages: Object.entries(PAGES).map(([slug, title]) => ({
          slug,
          title,
          ...(slug === 'beta' ? { custom_domain: OWN_HOST } : {}),
          components: [{ monitor: 'edge/1', id: 'api', name: 'API' }],
        })),
        output: { folder: './www' },
      }),
    );
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env: sandbox.environment() });
    const isReady = async (): Promise<boolean> => (await fetch(`${pharos.url}/-/ready`)).ok;
    if (!(await eventually(isReady, (ready) => ready))) throw new Error(`not ready:\n${pharos.stderr()}`);
  });
  afterAll(async () => {
    await browser?.close();
    await pharos?.stop();
    await sandbox?.stop();
    folder.remove();
  });

  it.each(BASES)('answer for %s on %s below "%s", with one slash or two', async (slug, host, base) => {
    for (const [path, says] of Object.entries(ADDRESSES)) {
      const seen = [await ask(host, `${base}/${path}`), await ask(host, `${base}//${path}`)];
      for (const { status, headers, body } of seen) {
        expect([path, status, headers['access-control-allow-origin']]).toEqual([path, 200, '*']);
        expect(body, path).toMatch(says);
      }
    }
    const { page } = await json(host, `${base}/api/v2/status.json`);
    expect(page).toMatchObject({ name: PAGES[slug] });
  });

  it.each(BASES)('have single components and incidents of %s on %s below "%s"', async (slug, host, base) => {
    for (const [list, one] of [
      ['components', 'component'],
      ['incidents', 'incident'],
    ] as const) {
      const { [list]: all = [] } = await json(host, `${base}/api/v2/${list}.json`);
      expect(all.length).toBeGreaterThan(0);
      for (const thing of all) {
        const address = `${base}/api/v2/${list}/${thing.id}.json`;
        const answer = await ask(host, address);
        expect(answer.headers).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'access-control-allow-origin': '*',
        });
        expect(JSON.parse(answer.body)).toMatchObject({ page: { name: PAGES[slug] }, [one]: thing });
        const again = await ask(host, address, { headers: { 'if-none-match': String(answer.headers['etag']) } });
        expect(again.status).toBe(304);
      }
      expect((await ask(host, `${base}/api/v2/${list}/000000000000.json`)).status).toBe(404);
    }
  });

  describe('for programs made for Statuspage, unchanged', () => {
    it.each(['/acme', '/acme/', '', '/', '/beta/'])(
      'the client of npm, statuspage.io, finds all it asks for below "%s"',
      async (base) => {
        const client = new Statuspage('any');
        client.setApiUrl(`${pharos.url}${base}`);
        const { api } = client;
        const summary = await api.getSummary();
        expect(summary.page.name).toBe(base === '/beta/' ? 'Beta' : 'Acme');
        expect(summary.incidents.map(({ status, impact }) => [status, impact])).toEqual([['investigating', 'minor']]);
        expect((await api.getStatus()).status).toEqual(summary.status);
        expect((await api.getComponents()).components).toEqual(summary.components);
        expect((await api.incidents.getUnresolved()).incidents).toEqual(summary.incidents);
        const [newest, ...past] = (await api.incidents.getAll()).incidents;
        expect([newest]).toEqual(summary.incidents);
        expect(past.filter(({ status }) => status !== 'resolved')).toEqual([]);
        for (const list of ['getAll', 'getActive', 'getUpcoming'] as const)
          expect((await api.scheduledMaintenances[list]()).scheduled_maintenances).toEqual([]);
      },
    );

    it('exporters that ask the root of a host by HEAD first get an answer', async () => {
      for (const host of [SITE_HOST, OWN_HOST]) {
        const { status, body } = await ask(host, '/api/v2/components.json', { method: 'HEAD' });
        expect([status, body]).toEqual([200, '']);
      }
    });

    it("Atlassian's own widget shows the state of a home page and of a page with its own domain", async () => {
      const { port } = new URL(pharos.url);
      const addresses = [SITE_HOST, OWN_HOST].map((host) => `http://${host}:${port}`);
      const widget = readFileSync(fileURLToPath(import.meta.resolve('@statuspage/status-widget/dist/index.js')));
      const html = `<!doctype html><title>Elsewhere</title><script src="/widget.js"></script>${addresses
        .map((src) => `<statuspage-widget src="${src}"></statuspage-widget>`)
        .join('')}`;
      const elsewhere = createServer(({ url }, response) => {
        if (url === '/widget.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(widget);
        else response.writeHead(200, { 'content-type': 'text/html' }).end(html);
      });
      await new Promise<void>((listening) => elsewhere.listen(0, '127.0.0.1', listening));
      try {
        const page = await browser.newPage();
        await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
        const { status } = JSON.parse((await ask(SITE_HOST, '/api/v2/summary.json')).body);
        const shown = page.locator('statuspage-widget .status-text');
        await expect
          .poll(() => shown.allInnerTexts(), { timeout: 20_000 })
          .toEqual([status.description, status.description]);
        expect(await page.locator(`.status-indicator.${status.indicator}`).count()).toBe(2);
        const links = await page
          .locator('statuspage-widget a')
          .evaluateAll((all) => all.map((a) => a.getAttribute('href')));
        expect(links).toEqual(addresses);
      } finally {
        elsewhere.close();
      }
    });
  });

  it('say on every host whom to tell of a weakness', async () => {
    const text =
      'Contact: mailto:security@acme.example\nContact: https://acme.example/security\nExpires: 2099-06-30T00:00:00.000Z\n';
    for (const host of [SITE_HOST, OWN_HOST]) {
      const { status, body, headers } = await ask(host, '/.well-known/security.txt');
      expect([status, headers['content-type'], body]).toEqual([200, 'text/plain; charset=utf-8', text]);
    }
    expect((await ask(SITE_HOST, '/.well-known/nothing.txt')).status).toBe(404);
    const copy = join(folder.path, 'www', '.well-known', 'security.txt');
    expect(await eventually(async () => existsSync(copy) && readFileSync(copy, 'utf8'), Boolean)).toBe(text);
  });

  it('answer by a process that only serves, too', async () => {
    const serving = await startWarm(['serve', '--port', '0'], { cwd: folder.path, env: sandbox.environment() });
    try {
      for (const [, host, base] of BASES)
        for (const path of Object.keys(ADDRESSES)) {
          const { status } = await send(`${serving.url}${base}//${path}`, undefined, { headers: { host } });
          expect([host, base, path, status]).toEqual([host, base, path, 200]);
        }
    } finally {
      await serving.stop();
    }
  });

  it('tell of a page by its manifest and what it is, from wherever it is seen', async () => {
    for (const [, host, base] of BASES) {
      const { body } = await ask(host, `${base}/history/`);
      expect(body).toContain('<meta property="og:type" content="website">');
      expect(body).toContain('<link rel="manifest" href="../site.webmanifest">');
    }
    const { port } = new URL(pharos.url);
    const page = await browser.newPage();
    await page.goto(`http://${SITE_HOST}:${port}/`);
    const session = await page.context().newCDPSession(page);
    const { url, errors, data } = await session.send('Page.getAppManifest');
    // What the policy of the page forbids is no manifest for a browser.
    expect([url, errors]).toEqual([`http://${SITE_HOST}:${port}/site.webmanifest`, []]);
    expect(JSON.parse(data ?? '')).toMatchObject({ name: 'Acme', start_url: './', icons: [{ src: 'favicon.svg' }] });
    await page.close();
  });

  it('load their scripts from files that are kept, wherever the page is seen, and run them under its policy', async () => {
    const { port } = new URL(pharos.url);
    for (const [, host, base] of BASES)
      for (const folder of ['', 'components/api/']) {
        const page = await browser.newPage();
        const complaints: string[] = [];
        page.on('console', (message) => complaints.push(message.text()));
        page.on('pageerror', (error) => complaints.push(String(error)));
        const scripts: string[] = [];
        page.on('response', (answer) => {
          if (answer.request().resourceType() === 'script')
            scripts.push(`${new URL(answer.url()).pathname} ${answer.headers()['cache-control']}`);
        });
        await page.goto(`http://${host}:${port}${base}/${folder}`);
        // The one makes sliders of bars, the other writes how long ago the page was checked.
        await page.locator('.days[role=slider]').waitFor();
        await page
          .locator('[data-checked]', { hasText: /ago|now/ })
          .first()
          .waitFor();
        const kept = 'public, max-age=31536000, s-maxage=30, immutable';
        expect(scripts.toSorted()).toEqual([`${base}/days.js ${kept}`, `${base}/enhance.js ${kept}`]);
        expect(complaints).toEqual([]);
        await page.close();
      }
    // What a page of another version asks for is not kept as that.
    for (const query of ['', '?00000000']) {
      const { headers } = await ask(SITE_HOST, `/enhance.js${query}`);
      expect(headers['cache-control']).toBe('public, max-age=30, stale-while-revalidate=30, stale-if-error=86400');
    }
  });

  it('are copies on a static host: of the home page at the root, of every page by its slug', async () => {
    const www = join(folder.path, 'www');
    const last = join(www, 'index.html');
    await eventually(
      async () => existsSync(last),
      (isThere) => isThere,
    );
    for (const [slug, base] of [
      ['acme', ''],
      ['acme', 'acme/'],
      ['beta', 'beta/'],
    ] as const) {
      const listed = await json(SITE_HOST, `/${slug}/api/v2/summary.json`);
      const singles = ['components', 'incidents'].flatMap((list) =>
        (listed[list] ?? []).map(({ id }) => `api/v2/${list}/${id}.json`),
      );
      expect(singles).toHaveLength(2);
      for (const path of [...Object.keys(ADDRESSES), ...singles]) {
        const copy = readFileSync(join(www, base, path), 'utf8');
        // When it was checked is another instant at every look.
        if (path === 'api/now.json') expect(copy).toMatch(/"checkedAt"/);
        else expect([path, copy === (await ask(SITE_HOST, `/${slug}/${path}`)).body]).toEqual([path, true]);
      }
    }
  });
});
