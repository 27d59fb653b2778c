import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/index.ts';
import { pagesOf } from '../helpers/every-page.ts';
import { AS_OF, ago } from '../helpers/page-model.ts';
import { calm, outage } from '../helpers/page-scenes.ts';
import { pagesInBrowser, statusPageAt } from '../helpers/pages-in-browser.ts';

const site = pagesInBrowser({ pages: () => pagesOf(outage()), options: { timezoneId: 'America/New_York' } });
const { open } = site;

/** Paths of pages with a header, one of each kind. */
function onePageOfEachOwnKind(): string[] {
  const pages = pagesOf(outage()).filter(({ kind }) => kind !== 'embed');
  return [...new Map(pages.map(({ kind, path }) => [kind, path])).values()];
}

/** Where visitors choose a theme; the badge builder has a choice of that name too. */
const themes = (page: Page) => page.getByRole('banner').getByLabel('Theme');

const paper = (page: Page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

describe('subscribing', () => {
  it.each([1_280, 390, 320])(
    'is in the header, inside a window of %i pixels, with addresses to copy',
    async (width) => {
      const page = await open('components/api/', {
        viewport: { width, height: 700 },
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      const header = await page.getByRole('banner').boundingBox();
      expect(header?.height, 'one row').toBeLessThan(80);
      const marker = page.locator('#sections').evaluate((list) => getComputedStyle(list).listStyleType);
      expect(await marker, 'no bullets between sections').toBe('none');
      if (width < 500) await page.getByRole('button', { name: 'Sections' }).click();
      await page.getByText('Subscribe', { exact: true }).first().click();
      expect(await page.getByLabel('Email address').isVisible()).toBe(true);
      expect(await page.locator('.menu[open]').getByRole('link', { name: 'Atom' }).isVisible()).toBe(false);
      await page.getByText('Feeds', { exact: true }).click();
      const links = page.locator('.menu[open] a');
      expect(await links.allInnerTexts()).toEqual([
        'Choose components',
        'Atom',
        'RSS',
        'JSON Feed',
        'Maintenance calendar',
      ]);
      const box = await page.locator('.menu[open] > div').boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      const address = new URL((await links.last().getAttribute('href')) ?? '', page.url()).href;
      expect(address).toBe(`${site.url}maintenance.ics`);
      await page.locator('.menu[open]').getByRole('button', { name: 'Copy link' }).last().click();
      await page.locator('.menu[open]').getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(address);
    },
  );

  it('is there without script, where choosing a theme is not', async () => {
    const page = await open('', { javaScriptEnabled: false });
    await page.getByText('Subscribe', { exact: true }).first().click();
    await page.getByText('Feeds', { exact: true }).click();
    expect(await page.getByRole('link', { name: 'Atom' }).isVisible()).toBe(true);
    expect(await page.getByText('Display', { exact: true }).isVisible()).toBe(false);
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['Subscribe']);
  });

  it('is folded again by Escape, which gives the focus back, and by a click elsewhere', async () => {
    const page = await open('');
    const summary = page.getByText('Subscribe', { exact: true }).first();
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('type')).toBe('email');
    await page.keyboard.press('Escape');
    expect(await page.locator('.menu[open]').count()).toBe(0);
    expect(await page.locator(':focus').innerText()).toContain('Subscribe');
    await summary.click();
    await page.locator('h1').click();
    expect(await page.locator('.menu[open]').count()).toBe(0);
  });
});

describe('the theme', () => {
  it('is what the visitor chose, on every page and after loading anew', async () => {
    const page = await open('', { colorScheme: 'light' });
    const light = await paper(page);
    await page.getByText('Display', { exact: true }).click();
    await themes(page).selectOption('Dark');
    const dark = await paper(page);
    expect(dark).not.toBe(light);
    await page.goto(`${site.url}incidents/api-down/`);
    expect(await paper(page)).toBe(dark);
    await page.getByText('Display', { exact: true }).click();
    await themes(page).selectOption('System');
    expect(await paper(page)).toBe(light);
  });

  it.each(onePageOfEachOwnKind())('is in place at "%s" before anything is drawn', async (path) => {
    const page = await open(path, { colorScheme: 'light' });
    await page.evaluate(() => localStorage.setItem('pharos:theme', 'dark'));
    await page.addInitScript(() =>
      new MutationObserver((_, observer) => {
        if (!document.body) return;
        observer.disconnect();
        Object.assign(globalThis, { themeAtFirst: document.documentElement.dataset['theme'] });
      }).observe(document, { childList: true, subtree: true }),
    );
    await page.reload();
    expect(await page.evaluate(() => (globalThis as { themeAtFirst?: string }).themeAtFirst)).toBe('dark');
    expect(await themes(page).inputValue()).toBe('dark');
  });

  it('is the page’s where something else is kept under its name', async () => {
    const page = await open('', { colorScheme: 'light' });
    await page.evaluate(() => localStorage.setItem('pharos:theme', 'toString'));
    await page.reload();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('system');
    expect(await themes(page).inputValue()).toBe('system');
  });

  it('does without a browser that keeps nothing', async () => {
    const page = await open('', { colorScheme: 'light' });
    await page.addInitScript(() =>
      Object.defineProperty(globalThis, 'localStorage', {
        get: () => {
          throw new Error('no');
        },
      }),
    );
    await page.reload();
    const light = await paper(page);
    await page.getByText('Display', { exact: true }).click();
    await themes(page).selectOption('Dark');
    expect(await paper(page)).not.toBe(light);
  });
});

describe('the time zone', () => {
  const event = (page: Page) => page.locator('.event .side').first().innerText();
  const chooseZone = async (page: Page, zone: string) => {
    await page.getByText('Display', { exact: true }).click();
    await page.getByLabel('Time zone').selectOption(zone);
  };

  it('is the page’s or the visitor’s, remembered, and said', async () => {
    const page = await open('');
    expect(await event(page)).toContain('Nov 21, 02:44 EST');
    expect(await page.locator('.as-of').innerText()).toContain('Partial outage since 02:47 EST (45 min)');
    expect(await page.locator('.row', { hasText: 'API' }).innerText()).toMatch(
      /Major outage \(48 min\)\s+since 02:44 EST/,
    );
    expect(await page.locator('footer').innerText()).toContain('All times are in America/New York.');
    await page.goto(`${site.url}incidents/api-down/`);
    expect(await page.locator('main').innerText()).toContain('Nov 21, 2026, 02:44 EST');
    await chooseZone(page, 'Europe/Berlin');
    expect(await page.locator('main').innerText()).toContain('Nov 21, 2026, 08:44 GMT+1');
    expect(await page.locator('footer').innerText()).toContain('All times are in Europe/Berlin.');
    await page.goto(site.url);
    expect(await event(page)).toContain('Nov 21, 08:44 GMT+1');
    await chooseZone(page, 'Your time zone');
    expect(await event(page)).toContain('Nov 21, 02:44 EST');
  });

  it('is that of the warning on an old copy too, and a day says in which its details are', async () => {
    const page = await open('');
    await page.evaluate(() => document.getElementById('stale')?.removeAttribute('hidden'));
    const details = async () => {
      await page.getByRole('slider', { name: 'API, last 90 days', exact: true }).focus();
      await page.keyboard.press('End');
      return page.locator('#day').innerText();
    };
    expect(await page.locator('#stale').innerText()).toMatch(/latest data is from Nov 21, 2026, 03:3\d EST\./);
    expect(await details()).toMatch(/^Saturday, November 21, 2026 · Europe\/Berlin\s+Major outage\s+08:44 – ongoing/);
    await chooseZone(page, 'Europe/Berlin');
    expect(await page.locator('#stale').innerText()).toMatch(/latest data is from Nov 21, 2026, 09:3\d GMT\+1\./);
    expect(await details()).toMatch(/^Saturday, November 21, 2026\s+Major/);
  });

  it('is the page’s without script, with its name at every block of times', async () => {
    const page = await open('', { javaScriptEnabled: false });
    for (const block of ['.as-of', '.event .side', '.row.s-major_outage .state'])
      for (const text of await page.locator(block).allInnerTexts()) expect(text).toContain('GMT+1');
  });

  it('tells the day of an end that is not the day of its start there', async () => {
    const page = await open('', { timezoneId: 'Asia/Tokyo' });
    // 08:11 to 10:11 in Berlin.
    expect(await page.locator('.event.in_progress .side').innerText()).toContain('Nov 21, 16:11 – 18:11 GMT+9');
    const across = await open('', { timezoneId: 'America/Anchorage' });
    expect(await across.locator('.event.in_progress .side').innerText()).toContain(
      'Nov 20, 22:11 – Nov 21, 00:11 AKST',
    );
  });

  it('holds for what a refresh brings', async () => {
    const page = await open('');
    const later = calm({ asOf: ago(-120_000), staleAfter: toEpochMs(AS_OF + 20 * 60_000) });
    await site.replace(statusPageAt('', later));
    await page.clock.runFor(61_000);
    await page.getByRole('heading', { name: 'All systems operational' }).waitFor();
    expect(await page.locator('.event', { hasText: 'Search answered slowly' }).locator('.side').innerText()).toContain(
      'Nov 18, 01:31',
    );
    expect(await page.locator('footer').innerText()).toContain('All times are in America/New York.');
  });
});
