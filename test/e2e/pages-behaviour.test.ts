import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type PageModel, toEpochMs } from '../../src/model/index.ts';
import { loadRenderer } from '../../src/publish/draw/load-renderer.ts';
import type { Renderer } from '../../src/publish/draw/renderer.ts';
import { badgeGalleryView } from '../../src/views/badges/badge-gallery.ts';
import { embedView } from '../../src/views/page/embed.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { type PageServer, pagesOf, render, servePages } from '../helpers/every-page.ts';
import { AS_OF, ago } from '../helpers/page-model.ts';
import { calm, manyComponents, outage } from '../helpers/page-scenes.ts';

let browser: Browser;
let renderer: Renderer;
let server: PageServer;
let context: BrowserContext | undefined;
const draw = (model: PageModel) => renderer.render('status-page', statusPageView(model));

beforeAll(async () => {
  [browser, renderer] = await Promise.all([launchBrowser(), loadRenderer()]);
  server = await servePages([
    ['', await draw(outage())],
    ['fifty/', await draw(manyComponents(50))],
    ['badges/', await renderer.render('badge-gallery', badgeGalleryView(calm(), { kinds: ['status'] }))],
    ['embed/', await renderer.render('embed', embedView(outage()))],
  ]);
});
afterEach(async () => {
  await context?.close();
  context = undefined;
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens a page a minute after it was written, and fails on anything that a policy had to stop. */
async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  context = await browser.newContext(options);
  await context.clock.install({ time: AS_OF + 60_000 });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) throw new Error(message.text());
  });
  await page.goto(server.url + path);
  return page;
}

describe('without script', () => {
  const noScript = { javaScriptEnabled: false };

  it('everything is there to read, and groups fold', async () => {
    const page = await open('', noScript);
    const text = await page.locator('body').innerText();
    for (const words of [
      'Some things are down',
      'Web application',
      'No data is lost',
      'Planned maintenance',
      'As of Nov 21',
    ])
      expect(text).toContain(words);
    const row = page.locator('.row', { hasText: 'Sign-in' });
    expect(await row.isVisible()).toBe(true);
    await page.locator('summary', { hasText: 'Core' }).click();
    expect(await row.isVisible()).toBe(false);
  });
});

describe('with script', () => {
  it('fifty components take one request and ask nobody else', async () => {
    const page = await open('fifty/');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload({ waitUntil: 'networkidle' });
    expect(asked).toEqual([`${server.url}fifty/`]);
  });

  it('times have the visitor’s own in their tooltip, and the page says how old it is', async () => {
    const page = await open('', { timezoneId: 'America/New_York' });
    expect(await page.locator('.event time').first().getAttribute('title')).toContain('2:44:00');
    expect(await page.locator('.as-of').innerText()).toContain('(1 minute ago)');
  });

  it('a new state takes the place of the old one without loading anew', async () => {
    const page = await open('');
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
    await page.locator('summary', { hasText: 'Core' }).click();
    server.put('', await draw(calm({ asOf: ago(-120_000), staleAfter: toEpochMs(AS_OF + 20 * 60_000) })));
    await page.clock.runFor(61_000);
    await page.getByRole('heading', { name: 'Everything is working' }).waitFor();
    expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
    expect(await page.locator('html').getAttribute('class')).toBe('s-operational');
    expect(await page.locator('#state').getAttribute('role')).toBe('status');
    expect(await page.locator('details.group').first().getAttribute('open')).toBeNull();
    server.put('', await draw(outage()));
  });

  it('a copy that is too old says so and shows nothing as working', async () => {
    const page = await open('');
    expect(await page.locator('#stale').isVisible()).toBe(false);
    const colour = () =>
      page.evaluate(() => getComputedStyle(document.querySelector('main .header') as Element).backgroundColor);
    const before = await colour();
    await page.route('**', (route) => route.abort());
    await page.clock.runFor(20 * 60_000);
    expect(await page.locator('#stale').innerText()).toContain('This page is not current.');
    expect(await colour()).not.toBe(before);
  });

  it('snippets are copied by a button, which says so', async () => {
    const page = await open('badges/', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('summary').first().click();
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      '[![Acme: status](https://status.acme.example/acme/badges/status.svg)](https://status.acme.example/acme/)',
    );
  });

  it('a frame tells the page around it how high it is', async () => {
    context = await browser.newContext();
    const page = await context.newPage();
    const height = await page.evaluate(
      (src) =>
        new Promise<number>((resolve) => {
          addEventListener('message', ({ data }) => data?.type === 'pharos:size' && resolve(data.height));
          document.body.append(Object.assign(document.createElement('iframe'), { src }));
        }),
      `${server.url}embed/`,
    );
    expect(height).toBeGreaterThan(60);
    expect(height).toBeLessThan(300);
  });
});

describe('in little room', () => {
  it('no kind of page is wider than 320 pixels', async () => {
    const model = outage();
    const pages = new Map(pagesOf(model).map((page) => [page.kind, page]));
    const narrow = await servePages(
      await Promise.all(
        [...pages.values()].map(async (page) => [`${page.kind}/`, await render(renderer, page)] as const),
      ),
    );
    context = await browser.newContext({ viewport: { width: 320, height: 640 } });
    const page = await context.newPage();
    for (const kind of pages.keys()) {
      await page.goto(`${narrow.url}${kind}/`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), kind).toBeLessThanOrEqual(320);
    }
    await narrow.close();
  });
});
