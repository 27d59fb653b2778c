import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, normalize } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { all, byId, parseHtml } from '../consistency/html.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { runHere } from '../helpers/in-process.ts';
import { temporaryFolder } from '../helpers/pharos.ts';

/** The site is a folder of a host, as on pages of a forge. */
const ORIGIN = 'https://acme.example';
const PATH = '/docs/status/';
const LOCALES = ['en', 'de', 'ar', 'pt-BR'];

describe('a site in several languages, built for a static host', () => {
  const folder = temporaryFolder();
  const out = join(folder.path, 'out');
  const fileAt = (path: string): string => readFileSync(join(out, path), 'utf8');
  const documentAt = (path: string) => parseHtml(fileAt(path));
  const allFiles = (): string[] =>
    readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(out, path)).isFile());

  beforeAll(async () => {
    mkdirSync(join(folder.path, 'posts'));
    const updated = new Date(Date.now() - 1_800_000).toISOString();
    const started = new Date(Date.now() - 3_600_000).toISOString();
    writeFileSync(
      join(folder.path, 'posts', 'slow.md'),
      [
        '---',
        'type: incident',
        'title: Sign-in is slow',
        'translations:',
        '  de: { title: Anmelden dauert lange, body: Wir sehen uns das an. }',
        '  ar: { title: تسجيل الدخول بطيء }',
        'impact: minor',
        `started: ${started}`,
        'components: [acme/api]',
        '---',
        'We are looking.',
        `## ${updated} identified`,
        'A disk is full.',
        `## ${updated} {lang=de}`,
        'Eine Platte ist voll.',
        `## ${updated} {lang=pt-BR}`,
        'Um disco está cheio.',
      ].join('\n'),
    );
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      stringify({
        site: { url: ORIGIN + PATH, home: 'acme', locales: LOCALES },
        upstreams: [{ id: 'posts', kind: 'markdown', path: './posts' }],
        pages: [
          {
            slug: 'acme',
            title: 'Acme',
            description: 'Everything of Acme.',
            translations: { de: { title: 'Acme-Dienste', description: 'Alles von Acme.' } },
            groups: [{ id: 'core', name: 'Core', names: { de: 'Kern' } }],
            components: [
              { id: 'api', type: 'static', name: 'API', names: { de: 'Schnittstelle' }, group_id: 'core' },
              { id: 'web', type: 'static', name: 'Web' },
            ],
          },
          { slug: 'inner', title: 'Inner', locale: 'fr', components: [{ id: 'x', type: 'static', name: 'X' }] },
          { slug: 'vault', title: 'Vault', password: '${VAULT}', components: [{ id: 'x', type: 'static', name: 'X' }] },
        ],
      }),
    );
    const built = await runHere(['build', '--out', 'out', '--sealed'], {
      cwd: folder.path,
      env: { VAULT: 'a long password' },
    });
    expect(built.status, built.stderr).toBe(0);
  });
  afterAll(() => folder.remove());

  it('has the tree of the default at its address, and one for each other language, without what has no words', () => {
    const tree = (prefix: string): string[] =>
      allFiles()
        .filter((path) => path.startsWith(prefix))
        .map((path) => path.slice(prefix.length));
    const own = tree('acme/').filter((path) => !LOCALES.some((locale) => path.startsWith(`${locale}/`)));
    const once =
      /^(api\/.*|build\.json|days\.js|enhance\.js|log\/.*|reports\/.*\.(json|csv)|favicon\.svg|robots\.txt|sitemap\.xml|llms\.txt|site\.webmanifest)$/;
    for (const locale of LOCALES.slice(1))
      expect(tree(`acme/${locale}/`).sort(), locale).toEqual(own.filter((path) => !once.test(path)).sort());
    expect(existsSync(join(out, 'acme/en'))).toBe(false);
    expect(existsSync(join(out, 'inner/de'))).toBe(false);
    // A page behind a password is one sealed document in each language, and nothing else.
    expect(tree('vault/').sort()).toEqual(['ar/index.html', 'de/index.html', 'index.html', 'pt-BR/index.html']);
  });

  it('leads from every document to files that are there, and to the same place in each language', () => {
    const documents = allFiles().filter((path) => path.endsWith('.html') && !path.startsWith('vault/'));
    let checked = 0;
    for (const path of documents) {
      const document = documentAt(path);
      const links = ['a', 'link', 'img'].flatMap((name) => all(document, name));
      for (const { attribs } of links) {
        const href = attribs['href'] ?? attribs['src'];
        if (href === undefined) continue;
        const url = new URL(href, `${ORIGIN}${PATH}${path}`);
        if (url.origin !== ORIGIN) continue;
        expect(url.pathname.startsWith(PATH), `${path}: ${href}`).toBe(true);
        const target = url.pathname.slice(PATH.length).replace(/(^|\/)$/, '$1index.html');
        // Answered by a server only.
        if (/(^|\/)(subscribe|logout)\//.test(target)) continue;
        expect(existsSync(join(out, target)), `${path}: ${href}`).toBe(true);
        checked += 1;
      }
      if (path.startsWith('inner/') || path === '404.html' || path.endsWith('embed/index.html')) continue;
      const menu = all(byId(document, 'languages'), 'a').map(({ attribs }) => attribs);
      expect(
        menu.map(({ hreflang }) => hreflang),
        path,
      ).toEqual(LOCALES);
      const here = menu.find((link) => link['aria-current'] === 'true');
      expect(here?.['lang']).toBe(all(document, 'html')[0]?.attribs['lang']);
      if (!path.endsWith('404.html'))
        expect(normalize(join(dirname(path), here?.['href'] ?? 'none', 'index.html')), path).toBe(path);
    }
    expect(documents.length).toBeGreaterThan(60);
    expect(checked).toBeGreaterThan(2_000);
  });

  it('says the language of each document, and where the others are', () => {
    const arabic = documentAt('acme/ar/history/index.html');
    const { lang, dir } = all(arabic, 'html')[0]?.attribs ?? {};
    expect([lang, dir]).toEqual(['ar', 'rtl']);
    const links = all(arabic, 'link').map(({ attribs }) => attribs);
    const alternates = links.flatMap(({ hreflang, href }) => (hreflang === undefined ? [] : [[hreflang, href]]));
    expect(alternates).toEqual([
      ['en', `${ORIGIN}${PATH}acme/history/`],
      ['de', `${ORIGIN}${PATH}acme/de/history/`],
      ['ar', `${ORIGIN}${PATH}acme/ar/history/`],
      ['pt-BR', `${ORIGIN}${PATH}acme/pt-BR/history/`],
      ['x-default', `${ORIGIN}${PATH}acme/history/`],
    ]);
    expect(links.find(({ rel }) => rel === 'canonical')?.['href']).toBe(`${ORIGIN}${PATH}acme/ar/history/`);
    const sitemap = fileAt('acme/sitemap.xml');
    for (const [locale, href] of alternates.slice(0, 4)) {
      expect(sitemap).toContain(`<loc>${href}</loc>`);
      expect(sitemap).toContain(`<xhtml:link rel="alternate" hreflang="${locale}" href="${href}"/>`);
    }
    expect(fileAt('acme/de/feed.json')).toContain('"language":"de"');
    expect(fileAt('acme/de/feed.atom')).toContain(`${ORIGIN}${PATH}acme/de/feed.atom`);
    expect(fileAt('_headers')).toContain('/:page/de/*\n  Content-Language: de\n');
    expect(fileAt('acme/de/badges/status.json')).toContain('"message":"Beeinträchtigt"');
  });

  it('has what people wrote in the language of each tree, and marks what nobody translated', () => {
    const incident = (tree: string): string => fileAt(`acme/${tree}incidents/posts-slow/index.html`);
    const texts = ['Sign-in is slow', 'We are looking.', 'A disk is full.'];
    for (const text of texts) {
      expect(incident('')).toContain(text);
      expect(incident('de/')).not.toContain(text);
      expect(incident('de/')).not.toMatch(/<(h1|div class="prose") lang=/);
    }
    for (const text of ['Anmelden dauert lange', 'Wir sehen uns das an.', 'Eine Platte ist voll.'])
      expect(incident('de/')).toContain(text);
    expect(incident('ar/')).toContain('<h1 dir="auto">تسجيل الدخول بطيء</h1>');
    expect(incident('ar/')).toContain('<div class="prose" lang="en" dir="auto"><p>A disk is full.</p>');
    expect(incident('pt-BR/')).toContain('<h1 lang="en" dir="auto">Sign-in is slow</h1>');
    expect(incident('pt-BR/')).toContain('<div class="prose" dir="auto"><p>Um disco está cheio.</p>');
    const [english, german, arabic] = ['', 'de/', 'ar/'].map((tree) => fileAt(`acme/${tree}index.html`));
    for (const text of ['Acme-Dienste', 'Alles von Acme.', 'Kern', 'Schnittstelle']) {
      expect(german).toContain(text);
      expect(english).not.toContain(text);
    }
    expect(arabic).toContain('<div class="prose" lang="en" dir="auto"><p>Everything of Acme.');
    expect(arabic).toMatch(/lang="en" dir="auto">API</);
    expect(fileAt('acme/de/feed.atom')).toContain('Anmelden dauert lange');
    const labelOf = (path: string) => JSON.parse(fileAt(`acme/${path}badges/status.json`)).label;
    expect(['de/components/api/', 'de/groups/core/', 'de/', 'ar/components/api/'].map(labelOf)).toEqual([
      'Schnittstelle',
      'Kern',
      'Acme-Dienste',
      'API',
    ]);
  });

  it('offers a visitor their language, once, and stays where it is', async () => {
    const server = createServer((request, response) => {
      const path = (request.url ?? '').slice(PATH.length).replace(/(^|\/)$/, '$1index.html');
      const isThere = existsSync(join(out, path));
      response.writeHead(isThere ? 200 : 404, { 'content-type': path.endsWith('.html') ? 'text/html' : 'text/plain' });
      response.end(isThere ? readFileSync(join(out, path)) : '');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const browser = await launchBrowser();
    try {
      await visit(browser, server);
    } finally {
      await browser.close();
      server.close();
    }
  });

  async function visit(browser: Browser, server: Server): Promise<void> {
    const { port } = server.address() as AddressInfo;
    const home = `http://127.0.0.1:${port}${PATH}acme/`;
    const german = await browser.newContext({ locale: 'de-AT' });
    const page = await german.newPage();
    await page.goto(`${home}history/`);
    const offer = page.locator('.offer');
    expect(await offer.locator('a').textContent()).toBe('Diese Seite auf Deutsch ansehen');
    expect(page.url()).toBe(`${home}history/`);
    await offer.getByRole('button').click();
    await page.goto(home);
    expect(await page.locator('.offer').isVisible()).toBe(false);
    // Nothing to offer in the visitor's own language, nor in one that the page does not have.
    for (const [locale, path] of [
      ['de', 'de/'],
      ['ko', ''],
    ] as const) {
      const context = await browser.newContext({ locale });
      const other = await context.newPage();
      await other.goto(home + path);
      expect(await other.locator('.offer').isVisible(), locale).toBe(false);
    }
    const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await plain.goto(`${home}components/api/`);
    await plain.getByText('Language', { exact: true }).click();
    await plain.getByRole('link', { name: 'العربية' }).click();
    expect(plain.url()).toBe(`${home}ar/components/api/`);
    // On the narrowest screen that has heads above its columns, in each language none lies over another.
    await plain.setViewportSize({ width: 930, height: 700 });
    for (const path of ['', 'de/', 'ar/', 'pt-BR/']) {
      await plain.goto(home + path);
      const [days, today, uptime] = await Promise.all(
        ['.heads .axis :first-child', '.heads .axis :last-child', '.heads .axis + span > span'].map((head) =>
          plain.locator(head).boundingBox(),
        ),
      );
      const ends = [days, today, uptime].flatMap((box) => (box ? [box.x, box.x + box.width] : []));
      expect(ends, path).toHaveLength(6);
      // From left to right, or from right to left.
      const inOrder = path === 'ar/' ? [4, 5, 2, 3, 0, 1] : [0, 1, 2, 3, 4, 5];
      expect(
        inOrder.map((at) => ends[at]),
        path,
      ).toEqual(ends.toSorted((a, b) => a - b));
    }
  }
});
