import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../src/model/index.ts';
import { AS_OF, ago } from '../helpers/page-model.ts';
import { manyComponents, manyIncidents, outage } from '../helpers/page-scenes.ts';
import { pagesInBrowser, statusPageAt } from '../helpers/pages-in-browser.ts';

const { open, replace } = pagesInBrowser({
  pages: () => [
    statusPageAt('', manyComponents(300)),
    statusPageAt('incidents/', manyIncidents(8)),
    statusPageAt('few/', outage()),
  ],
  options: { viewport: { width: 1_280, height: 900 } },
});

const groupOf = (page: Page, name: string) =>
  page.locator('.group', { has: page.getByRole('heading', { name, exact: true }) });
const isOpen = (page: Page, name: string) =>
  groupOf(page, name).evaluate((group) => (group as HTMLDetailsElement).open);
const visibleRows = async (page: Page) =>
  (await page.locator('.row:visible .name').allInnerTexts()).map((text) => text.trim());

describe('a page of 300 components', () => {
  it('shows what does not work first, once in sight, and where the banner leads', async () => {
    const page = await open('');
    const failing = await page.locator('.failing .row .name').allInnerTexts();
    expect(failing.slice(0, 3).map((name) => name.trim())).toEqual(['Exports 2', 'Webhooks 6', 'API 10']);
    expect(await visibleRows(page)).toHaveLength(failing.length);
    const first = await page.locator('.failing .row').first().boundingBox();
    expect(first?.y, 'without scrolling').toBeLessThan(700);
    await page.locator('#state').getByRole('link', { name: 'Webhooks 6' }).click();
    const target = page.locator(':target');
    expect(await target.innerText()).toContain('Webhooks 6');
    expect(await target.evaluate((row) => row.closest('.failing') !== null)).toBe(true);
    const ids = await page.locator('[id]').evaluateAll((elements) => elements.map((element) => element.id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('folds groups to their state and one bar, and remembers which ones were opened', async () => {
    const page = await open('');
    const summary = groupOf(page, 'Region 3').locator('summary');
    expect(await isOpen(page, 'Region 3')).toBe(false);
    expect(await summary.innerText()).toMatch(/Region 3\s+Operational\s+\d+\.\d+%/);
    expect(await summary.locator('.strip').isVisible()).toBe(true);
    await summary.click();
    expect(await summary.locator('.strip').isVisible(), 'its rows have their own').toBe(false);
    expect(await visibleRows(page)).toContain('Web application 3');
    await page.reload();
    expect(await isOpen(page, 'Region 3')).toBe(true);
    expect(await isOpen(page, 'Region 4')).toBe(false);
    await groupOf(page, 'Region 3').locator('summary').click();
    await page.reload();
    expect(await isOpen(page, 'Region 3')).toBe(false);
  });

  it('is filtered by name and by group, says how many there are, and is as before afterwards', async () => {
    const page = await open('');
    await groupOf(page, 'Region 2').locator('summary').click();
    const box = page.getByRole('searchbox', { name: 'Filter components' });
    await box.fill('PAYMENTS 1');
    expect(await visibleRows(page)).toEqual([
      'Payments 1',
      ...Array.from({ length: 10 }, (_, n) => `Payments ${10 + n}`),
    ]);
    expect(await page.getByRole('status').filter({ hasText: 'of 300' }).innerText()).toBe('11 of 300');
    await box.fill('region 30');
    expect(await visibleRows(page)).toHaveLength(10);
    await box.fill('nothing is called this');
    expect(await visibleRows(page)).toEqual([]);
    await box.fill('');
    expect(await isOpen(page, 'Region 2')).toBe(true);
    expect(await isOpen(page, 'Region 30')).toBe(false);
    expect(await page.locator('.failing').isVisible()).toBe(true);
  });

  it('keeps the filter when it is refreshed', async () => {
    const page = await open('');
    await page.getByRole('searchbox').fill('payments 7');
    const model = manyComponents(300, { asOf: ago(-120_000), staleAfter: toEpochMs(AS_OF + 20 * 60_000) });
    await replace(statusPageAt('', model));
    await page.evaluate(() => document.querySelector('#body')?.setAttribute('data-old', ''));
    await page.clock.runFor(61_000);
    await page.locator('#body:not([data-old])').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('payments 7');
    expect(await visibleRows(page)).toEqual(['Payments 7']);
  });

  it('keeps the filter for who comes back, also where the browser keeps no pages', async () => {
    const page = await open('');
    await groupOf(page, 'Region 2').locator('summary').click();
    await page.getByRole('searchbox').fill('Payments 7 ');
    await page.goto('about:blank');
    await page.goBack();
    expect(await page.getByRole('searchbox').inputValue()).toBe('Payments 7 ');
    expect(await visibleRows(page)).toEqual(['Payments 7']);
    await page.getByRole('searchbox').fill('');
    expect(await isOpen(page, 'Region 2')).toBe(true);
    expect(await isOpen(page, 'Region 30')).toBe(false);
  });

  it('has no box that does nothing where there is no script', async () => {
    const page = await open('', { javaScriptEnabled: false });
    expect(await page.getByRole('searchbox').count()).toBe(0);
    expect(await page.locator('.failing').isVisible()).toBe(true);
    await groupOf(page, 'Region 3').locator('summary').click();
    expect(await page.getByRole('link', { name: 'Web application 3', exact: true }).isVisible()).toBe(true);
  });

  it('keeps its state in sight once the banner is not, above what is scrolled and what has the focus', async () => {
    const page = await open('', { viewport: { width: 390, height: 844 } });
    const line = page.locator('.stays');
    expect(await line.isVisible()).toBe(false);
    await page.evaluate(() => scrollTo(0, 2_000));
    await line.waitFor();
    expect((await line.boundingBox())?.y).toBe(0);
    expect(await line.innerText()).toBe('Partial outage');
    const seen = await page.evaluate(() => document.elementFromPoint(180, 20)?.closest('.stays') !== null);
    expect(seen).toBe(true);
    await page.evaluate(() => scrollTo(0, 0));
    await line.waitFor({ state: 'hidden' });
    await page.evaluate(() => document.querySelector(`#c-c17`)?.scrollIntoView());
    await line.waitFor();
    expect((await page.locator('#c-c17').boundingBox())?.y, 'below the line').toBeGreaterThanOrEqual(44);
  });
});

it('a page of few components has its groups open and no filter', async () => {
  const page = await open('few/');
  expect(await page.getByRole('searchbox').count()).toBe(0);
  expect(await page.locator('.failing').count()).toBe(0);
  expect(await isOpen(page, 'Core')).toBe(true);
});

it('of many open incidents the newest is told and the others are a line each that opens', async () => {
  const page = await open('incidents/');
  const [section] = await page.locator('section', { has: page.getByRole('heading', { name: 'Open incidents' }) }).all();
  expect(await section?.locator('article:visible').count()).toBe(1);
  expect(await section?.locator('article:visible h3').innerText()).toBe(
    'Web application is not working for some customers',
  );
  const folded = section?.locator('details.folded');
  expect(await folded?.count()).toBe(7);
  await folded?.first().locator('summary').first().click();
  expect(await folded?.first().getByRole('link', { name: 'API is not working for some customers' }).isVisible()).toBe(
    true,
  );
  const components = await page.locator('.components').boundingBox();
  expect(components?.y, 'the components are within two screens').toBeLessThan(1_400);
});
