import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { DAY_MS, toEpochMs, toIso } from '../../src/model/index.ts';
import { badgeGalleryView } from '../../src/views/badges/badge-gallery.ts';
import { embedView } from '../../src/views/page/status-page.ts';
import { galleryOf, onePageOfEachKind } from '../helpers/every-page.ts';
import { layoutShiftsOf } from '../helpers/page-examination.ts';
import { AS_OF, ago, componentModel, pageModel } from '../helpers/page-model.ts';
import { calm, manyComponents, outage, rightToLeft } from '../helpers/page-scenes.ts';
import { pagesInBrowser, statusPageAt } from '../helpers/pages-in-browser.ts';

const longDown = componentModel({ troubles: [{ state: 'major_outage', startedAgoMs: 2 * DAY_MS }] });

const site = pagesInBrowser({
  pages: () => [
    statusPageAt('', outage()),
    statusPageAt('fifty/', manyComponents(50)),
    { path: 'badges/', kind: 'badge-gallery', view: badgeGalleryView(calm(), galleryOf()) },
    { path: 'badges-in-arabic/', kind: 'badge-gallery', view: badgeGalleryView(rightToLeft(), galleryOf('ar')) },
    ...onePageOfEachKind(rightToLeft()).filter(({ path }) => path === 'subscribe/'),
    statusPageAt('down-for-days/', pageModel({ components: [longDown], settings: { locale: 'ar' } })),
    { path: 'embed/', kind: 'embed', view: embedView(outage()) },
  ],
});
const { open, openEmpty, replace } = site;

/** What the server says when asked; null: it knows no such address. */
function putNow(init: { readonly checkedAgoMs?: number | null; readonly release?: number } | null): void {
  if (init === null) {
    site.server.remove('api/now.json');
    return;
  }
  const { checkedAgoMs = -40_000, release = 1 } = init;
  const checkedAt = checkedAgoMs === null ? null : toIso(ago(checkedAgoMs));
  site.server.put('api/now.json', { html: JSON.stringify({ checkedAt, release }), csp: '' });
}

describe('without script', () => {
  const noScript = { javaScriptEnabled: false };

  it('everything is there to read, and groups fold', async () => {
    const page = await open('', noScript);
    const text = await page.locator('body').innerText();
    for (const words of [
      'Partial outage',
      'Web application',
      'No data is lost',
      'Scheduled maintenance',
      'Partial outage since 08:47 GMT+1',
      'Checked every minute. Valid until Nov 21, 2026, 09:48 GMT+1.',
      'Ongoing · Critical impact',
    ])
      expect(text).toContain(words);
    const row = page.locator('.row', { hasText: 'Sign-in' });
    expect(await row.isVisible()).toBe(true);
    await page.locator('summary', { hasText: 'Core' }).click();
    expect(await row.isVisible()).toBe(false);
  });
});

it('code to copy reads from left to right on a page that reads from right to left', async () => {
  const page = await open('badges-in-arabic/');
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  const edges = await page.locator('#builder pre code').evaluateAll((all) =>
    all.map(({ firstChild: text }) => {
      const leftOf = (at: number) => {
        const range = document.createRange();
        range.setStart(text as Text, at);
        range.setEnd(text as Text, at + 1);
        return range.getBoundingClientRect().left;
      };
      return [leftOf(0), leftOf((text as Text).length - 1)];
    }),
  );
  expect(edges).toHaveLength(3);
  for (const [first = 0, last = 0] of edges) expect(first).toBeLessThan(last);
});

it('names stand beside the boxes that choose them, also where they read the other way than the page', async () => {
  const page = await open('subscribe/');
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  const gaps = await page.locator('label.box').evaluateAll((all) =>
    all.map((label) => {
      const name = document.createRange();
      name.selectNodeContents(label.querySelector('bdi') as Element);
      const { left } = (label.querySelector('input') as Element).getBoundingClientRect();
      return left - name.getBoundingClientRect().right;
    }),
  );
  expect(gaps.length).toBeGreaterThan(4);
  for (const gap of gaps) expect(gap).toBeLessThan(24);
});

it('a date with a long zone fits beside a name on a narrow phone', async () => {
  const page = await open('down-for-days/', { viewport: { width: 320, height: 700 }, timezoneId: 'Asia/Kolkata' });
  expect(await page.locator('.row .state time').innerText()).toContain('5:30');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
});

describe('with script', () => {
  it('fifty components are whole after one request, and ask nobody else but the server for scripts and when it checked', async () => {
    const page = await open('fifty/');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload({ waitUntil: 'networkidle' });
    expect(asked.map((address) => address.replace(/\?.*/, ''))).toEqual(
      ['', 'days.js', 'enhance.js', 'api/now.json'].map((path) => `${site.url}fifty/${path}`),
    );
  });

  it('times have the visitor’s own in their tooltip', async () => {
    const page = await open('', { timezoneId: 'America/New_York' });
    expect(await page.locator('.event time').first().getAttribute('title')).toContain('2:44:00');
  });

  it('says how long ago the page was checked, and never how old its file is', async () => {
    // Twenty seconds before it is opened.
    putNow({ checkedAgoMs: -40_000 });
    const page = await open('');
    const asOf = page.locator('.as-of');
    const at = (ms: number) => page.clock.pauseAt(AS_OF + ms);
    await page.getByText(/^Checked 2\d seconds ago$/).waitFor();
    expect(await asOf.innerText()).toMatch(
      /^Partial outage since \d\d:17 GMT-3:30 \(45 min\) Checked 2\d seconds ago$/,
    );
    expect(await asOf.locator('[data-checked]').getAttribute('aria-live')).toBe('off');
    await at(95_000);
    await page.getByText(/^Checked 5\d seconds ago$/).waitFor();
    putNow({ checkedAgoMs: -115_000 });
    await at(125_000);
    await page.getByText(/^Checked 1?\d seconds ago$/).waitFor();
    await page.route('**', (route) => route.abort());
    await at(425_000);
    await page.getByText('Checked 5 minutes ago').waitFor();
  });

  it('says what the page says by itself where nobody tells when it was checked', async () => {
    putNow(null);
    const page = await open('');
    // The answer comes in real time, however fast the page's clock runs.
    const asOf = page.locator('.as-of', { hasText: 'Checked every minute. Valid until' });
    await page.clock.runFor(130_000);
    await asOf.waitFor();
    putNow({ checkedAgoMs: null });
    const answered = page.waitForResponse(/now\.json/);
    await page.clock.runFor(61_000);
    await answered;
    await asOf.waitFor();
  });

  it('says how long what is open has lasted, and goes on counting', async () => {
    putNow(null);
    const page = await open('');
    const open47 = page.locator('.event', { hasText: 'The API and the web application do not answer' }).first();
    expect(await open47.locator('.side').innerText()).toContain('48 min · Critical impact');
    await page.clock.runFor(13 * 60_000);
    expect(await open47.locator('.side').innerText()).toContain('1 h 1 min · Critical impact');
  });

  it('asks for the page itself only where its release is another one', async () => {
    putNow({ release: 3 });
    const page = await open('');
    await page.getByText(/^Checked 2\d seconds ago$/).waitFor();
    const asked: string[] = [];
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (pathname !== '/later') asked.push(pathname);
    });
    const expected: string[] = [];
    const minutes = async (...requests: (readonly string[])[]): Promise<void> => {
      for (const those of requests) {
        expected.push(...those);
        await page.clock.runFor(60_000);
        await expect.poll(() => asked.length).toBe(expected.length);
        // What was asked later has arrived, so that was read too.
        await page.evaluate(() => fetch('later').then((answer) => answer.text()));
      }
    };
    const [now, both] = [['/api/now.json'], ['/api/now.json', '/']];
    // Twice, since a cache in front may still have the page before.
    await minutes(both, both, now, now);
    putNow({ release: 4 });
    await minutes(both, both, now, now);
    putNow(null);
    await minutes(both, both, both);
    expect(asked).toEqual(expected);
  });

  it('a new state takes the place of the old one without loading anew', async () => {
    const page = await open('');
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
    await page.locator('summary', { hasText: 'Core' }).click();
    await replace(statusPageAt('', calm({ asOf: ago(-120_000), staleAfter: toEpochMs(AS_OF + 20 * 60_000) })));
    await page.clock.runFor(61_000);
    await page.getByRole('heading', { name: 'All systems operational' }).waitFor();
    expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
    expect(await page.locator('html').getAttribute('class')).toBe('s-operational');
    expect(await page.locator('#state').getAttribute('role')).toBe('status');
    expect(await page.locator('details.group').first().getAttribute('open')).toBeNull();
  });

  it('a copy that is too old says so and shows nothing as working', async () => {
    const page = await open('');
    expect(await page.locator('#stale').isVisible()).toBe(false);
    const colour = () =>
      page.evaluate(() => getComputedStyle(document.querySelector('main .header') as Element).backgroundColor);
    const before = await colour();
    await page.route('**', (route) => route.abort());
    await page.clock.runFor(20 * 60_000);
    expect(await page.locator('#stale').innerText()).toContain('This page is out of date.');
    expect(await colour()).not.toBe(before);
  });

  it.each([
    ['never come', null],
    ['are of another version', 'document.body.textContent = "another version"'],
  ])('says all it knows where the scripts beside it %s, and still grows old', async (_, body) => {
    const page = await openEmpty();
    await page.route('**/*.js?*', (route) =>
      body === null ? route.abort() : route.fulfill({ contentType: 'text/javascript', body }),
    );
    await page.goto(site.url);
    const entry = page.locator('.event', { hasText: 'The API and the web application do not answer' }).first();
    expect(await entry.locator('.side').innerText()).toContain('48 min · Critical impact');
    expect(await page.locator('.row .days').first().getAttribute('href')).toContain('#');
    await page.clock.runFor(20 * 60_000);
    expect(await entry.locator('.side').innerText()).toContain('1 h 8 min · Critical impact');
    expect(await page.locator('#stale').innerText()).toContain('This page is out of date.');
  });

  it('a copy that is too old when it is opened never looked otherwise, and nothing moves for its warning', async () => {
    putNow({});
    const page = await openEmpty();
    await page.clock.setFixedTime(AS_OF + 24 * 60 * 60_000);
    await page.addInitScript(() =>
      new MutationObserver((_, observer) => {
        if (!document.body) return;
        observer.disconnect();
        Object.assign(globalThis, { classAtFirst: document.documentElement.className });
      }).observe(document, { childList: true, subtree: true }),
    );
    await page.goto(site.url);
    expect(await page.evaluate(() => (globalThis as { classAtFirst?: string }).classAtFirst)).toContain('is-stale');
    expect(await page.locator('#stale').innerText()).toContain('This page is out of date.');
    expect(await layoutShiftsOf(page)).toEqual([]);
  });

  it('snippets are copied by a button, which says so', async () => {
    const page = await open('badges/', { permissions: ['clipboard-read', 'clipboard-write'] });
    const list = page.locator('main section', { has: page.getByRole('heading', { name: 'Acme', exact: true }) });
    await list.locator('summary').first().click();
    await list.getByRole('button', { name: 'Copy' }).first().click();
    await list.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      '[![Acme: status](https://status.acme.example/acme/badges/status.svg)](https://status.acme.example/acme/)',
    );
  });

  it('a frame tells the page around it how high it is', async () => {
    const page = await openEmpty();
    const height = await page.evaluate(
      (src) =>
        new Promise<number>((resolve) => {
          addEventListener('message', ({ data }) => data?.type === 'pharos:size' && resolve(data.height));
          document.body.append(Object.assign(document.createElement('iframe'), { src }));
        }),
      `${site.url}embed/`,
    );
    expect(height).toBeGreaterThan(60);
    expect(height).toBeLessThan(300);
  });
});

describe('a badge of one’s own', () => {
  const lineOf = (page: Page, language: string) =>
    page.locator(`#builder [data-language=${language}] code`).innerText();
  const srcOf = (page: Page) => page.locator('#builder img').getAttribute('src');

  /** A server that draws badges as asked, or a host of files, which hears no question. */
  async function openGallery(hearsQueries: boolean, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await openEmpty(options);
    await page.route(/\.svg/, (route) => {
      const { pathname, search } = new URL(route.request().url());
      const body = `<svg xmlns="http://www.w3.org/2000/svg"><title>${pathname}${hearsQueries ? search.length : ''}</title></svg>`;
      return route.fulfill({ contentType: 'image/svg+xml', body });
    });
    await page.goto(`${site.url}badges/`, { waitUntil: 'networkidle' });
    return page;
  }

  it('is put together by choosing, shown and ready to copy', async () => {
    const page = await openGallery(true, { permissions: ['clipboard-read', 'clipboard-write'] });
    const address = 'https://status.acme.example/acme';
    expect(await lineOf(page, 'URL')).toBe(`${address}/badges/status.svg`);
    await page.getByLabel('Kind').selectOption('uptime-90d');
    await page.getByLabel('Component').selectOption('Webhooks');
    await page.getByLabel('Style').selectOption('tall');
    await page.getByLabel('Label').fill('Q&A "hooks" ](x)');
    const query = 'style=tall&label=Q%26A+%22hooks%22+%5D%28x%29';
    expect(await srcOf(page)).toBe(`../components/webhooks/badges/uptime-90d.svg?${query}`);
    expect(await lineOf(page, 'Markdown')).toBe(
      `[![Webhooks: uptime 90d](${address}/components/webhooks/badges/uptime-90d.svg?${query})](${address}/components/webhooks/)`,
    );
    expect(await lineOf(page, 'HTML')).toContain(
      `srcset="${address}/components/webhooks/badges/uptime-90d-dark.svg?${query.replace('&', '&amp;')}"`,
    );
    await page.locator('#builder').getByLabel('Theme').selectOption('Dark');
    expect(await lineOf(page, 'URL')).toBe(`${address}/components/webhooks/badges/uptime-90d-dark.svg?${query}`);
    expect(await lineOf(page, 'HTML')).not.toContain('<picture>');
    const copy = page.locator('#builder [data-language=URL] button');
    await copy.click();
    await page.locator('#builder [data-language=URL]').getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await lineOf(page, 'URL'));
    await page.getByLabel('Kind').selectOption('status');
    expect(await copy.innerText(), 'of another line').toBe('Copy');
  });

  it('is offered no more than a host of files has', async () => {
    const page = await openGallery(false);
    expect(await page.getByLabel('Style').isDisabled()).toBe(true);
    expect(await page.getByLabel('Label').isDisabled()).toBe(true);
    await page.locator('#builder').getByLabel('Theme').selectOption('Light');
    expect(await srcOf(page)).toBe('../badges/status-light.svg');
  });

  it('is not offered without script, where the list has them all', async () => {
    const page = await openGallery(true, { javaScriptEnabled: false });
    expect(await page.locator('#builder').isVisible()).toBe(false);
    expect(await page.locator('main details').count()).toBeGreaterThan(10);
    expect(await page.getByRole('button').count()).toBe(0);
  });
});
