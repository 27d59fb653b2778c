import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PageModel } from '../../src/model/index.ts';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { componentView } from '../../src/views/component/component.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { type PageServer, partBadges, servePages } from '../helpers/every-page.ts';
import { AS_OF, ago, componentModel, pageModel, responseTimes } from '../helpers/page-model.ts';

let browser: Browser;
let renderer: Renderer;
let server: PageServer;
let context: BrowserContext | undefined;
beforeAll(async () => {
  [browser, renderer] = await Promise.all([launchBrowser(), loadRenderer()]);
  server = await servePages([
    ['ltr/', await drawn({ locale: 'en' })],
    ['rtl/', await drawn({ locale: 'ar' })],
  ]);
});
afterEach(() => context?.close());
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** A component's page with ninety days of response times. */
function drawn(settings: Partial<PageModel['settings']>, change: Partial<PageModel> = {}) {
  const component = componentModel({ id: 'api', name: 'API', responseTimes: responseTimes(3, 140, 90) });
  const model = { ...pageModel({ components: [component], settings }), ...change };
  return renderer.render('component', componentView(model, component, { badges: partBadges() }));
}

async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  context = await browser.newContext(options);
  await context.clock.install({ time: AS_OF + 60_000 });
  const page = await context.newPage();
  await page.goto(server.url + path);
  return page;
}

const shown = (page: Page) =>
  page
    .locator('figure > svg')
    .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().height > 0).map((one) => one.ariaLabel));

describe('response times of a component', () => {
  it.each([true, false])('are shown over the period that is chosen, with script: %s', async (javaScriptEnabled) => {
    const page = await open('ltr/', { javaScriptEnabled });
    const seen = [await shown(page)];
    for (const period of ['7 days', '30 days', '90 days']) {
      await page.locator('.periods').getByText(period, { exact: true }).click();
      seen.push(await shown(page));
    }
    expect(seen.map(({ length }) => length)).toEqual([1, 1, 1, 1]);
    expect(new Set(seen.flat()).size).toBe(4);
    expect(seen[3]?.[0]).toMatch(/^Response time from Aug 23, 2026, .* to Nov 21, 2026/);
  });

  it('are one stop for the tab key, and arrow keys go from period to period', async () => {
    const page = await open('ltr/');
    await page.getByRole('radio', { name: '24 hours' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('radio', { name: '7 days' }).isChecked()).toBe(true);
    expect((await shown(page))[0]).toContain('Nov 14');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).not.toBe('radio');
  });

  it.each([
    { path: 'ltr/', width: 1_280 },
    { path: 'ltr/', width: 320 },
    { path: 'rtl/', width: 390 },
  ])('have the instants below where they are: $path at $width', async ({ path, width }) => {
    const page = await open(path, { viewport: { width, height: 800 } });
    for (const label of await page.locator('.periods label').all()) {
      await label.click();
      const [chart, ticks] = await page.locator('.periods label:has(input:checked) + *').evaluate((panel) => {
        const box = (element: Element) => element.getBoundingClientRect();
        const items = [...panel.querySelectorAll('.ticks li')];
        return [box(panel.querySelector('svg') as Element), items.map((item) => box(item).left)] as const;
      });
      const steps = ticks.length - 1;
      const places = ticks.map((_, index) => chart.left + (chart.width * index) / steps);
      if (path === 'rtl/') places.reverse();
      const drawn = page.locator('.periods label:has(input:checked) + * svg');
      expect(await drawn.evaluate((svg) => getComputedStyle(svg).scale)).toBe(path === 'rtl/' ? '-1 1' : 'none');
      for (const [index, place] of places.entries()) expect(Math.abs((ticks[index] ?? 0) - place)).toBeLessThan(1.5);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      const labels = await page.locator('.periods label:has(input:checked) + * .ticks time').evaluateAll((all) =>
        all
          .filter((one) => getComputedStyle(one).visibility === 'visible')
          .map((one) => one.getBoundingClientRect())
          .toSorted((a, b) => a.left - b.left)
          .map(({ left, right }) => [left, right]),
      );
      for (const [index, [left = 0]] of labels.entries())
        if (index > 0) expect(left).toBeGreaterThan(labels[index - 1]?.[1] ?? 0);
    }
  });

  it('stay over the period that was chosen when the page is refreshed', async () => {
    const page = await open('ltr/');
    await page.locator('.periods').getByText('30 days', { exact: true }).click();
    const [before] = await shown(page);
    const later = ago(-120_000);
    server.put('ltr/', await drawn({ locale: 'en' }, { asOf: later, staleAfter: ago(-20 * 60_000) }));
    await page.clock.runFor(61_000);
    await page.waitForFunction((text) => document.querySelector(`[aria-label="${text}"]`) === null, before ?? '');
    expect(await page.getByRole('radio', { name: '30 days' }).isChecked()).toBe(true);
    expect(await shown(page)).toHaveLength(1);
  });
});
