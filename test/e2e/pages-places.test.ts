/** Where things stand beside each other, which no rule of a checker knows. */

import { describe, expect, it } from 'vitest';
import { CATALOGUES } from '../../src/views/words/index.ts';
import { pagesOf } from '../helpers/every-page.ts';
import { brokenWordsOf } from '../helpers/page-examination.ts';
import { outage, rightToLeft } from '../helpers/page-scenes.ts';
import { pagesInBrowser, statusPageAt } from '../helpers/pages-in-browser.ts';

const LOCALES = Object.keys(CATALOGUES);
/** Half an hour off: the longest name of a zone that times are written with. */
const INDIA = { settings: { timezone: 'Asia/Kolkata' } };

const site = pagesInBrowser({
  pages: () => [
    ...pagesOf(outage(INDIA)),
    ...pagesOf(rightToLeft()).map((page) => ({ ...page, path: `rtl/${page.path}` })),
    ...LOCALES.map((locale) => statusPageAt(`in-${locale}/`, outage({ settings: { locale } }))),
  ],
});
const { open, openEmpty } = site;

it.each(LOCALES)('no word of a phone’s page is broken in the middle: %s', async (locale) => {
  const page = await open(`in-${locale}/`, { viewport: { width: 320, height: 800 } });
  expect(await brokenWordsOf(page), '320').toEqual([]);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await brokenWordsOf(page), '390').toEqual([]);
});

describe.each(['maintenance/exports-now/', 'incidents/api-down/'])('what is known of an event: %s', (path) => {
  it.each([820, 1_280])('stays in its column, %i wide', async (width) => {
    const page = await open(path, { viewport: { width, height: 800 } });
    const reaches = await page.locator('.title time, .beside time').evaluateAll((all) =>
      all.map((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        const edge = one.closest('.title, .beside')?.getBoundingClientRect().right ?? 0;
        return Math.max(...[...range.getClientRects()].map(({ right }) => right - edge));
      }),
    );
    expect(reaches.length).toBeGreaterThan(0);
    expect(Math.max(...reaches)).toBeLessThanOrEqual(0);
  });

  it('has an address to copy', async () => {
    const page = await open(path);
    expect(await page.locator('main .header').getByRole('button', { name: 'Copy link' }).count()).toBe(1);
  });
});

it.each(['', 'rtl/'])('a name of a hundred letters leaves figures in sight on a phone: %s', async (base) => {
  for (const [path, leastWidth] of [
    ['uptime/', 150],
    ['reports/2026-11/', 130],
  ] as const) {
    const page = await open(`${base}${path}`, { viewport: { width: 360, height: 800 } });
    const name = page.locator('table:has(.total) tbody tr:nth-child(2) th');
    await name.locator('a').evaluate((link) => (link.textContent = 'x'.repeat(100)));
    const { width } = (await name.boundingBox()) ?? { width: 0 };
    expect(width, path).toBeGreaterThan(leastWidth);
    expect(width, path).toBeLessThan(180);
  }
});

it('a day of a table is on one line, on a phone too', async () => {
  const page = await open('components/api/', { viewport: { width: 390, height: 800 } });
  const lines = await page.locator('#days tbody th').evaluateAll((all) =>
    all.map((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return [one.textContent.trim(), new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size];
    }),
  );
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.filter(([, count]) => count !== 1)).toEqual([]);
});

it.each(['', 'rtl/'])('tables begin where everything begins: "%s"', async (prefix) => {
  const page = await openEmpty({ viewport: { width: 390, height: 800 } });
  for (const path of ['components/api/', 'uptime/', 'reports/2026-11/']) {
    await page.goto(site.url + prefix + path);
    const starts = await page
      .locator('th:first-child')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).paddingInlineStart));
    expect(starts.length).toBeGreaterThan(3);
    expect(new Set(starts), path).toEqual(new Set(['0px']));
  }
});
