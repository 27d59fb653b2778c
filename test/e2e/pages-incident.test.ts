import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, type PageModel } from '../../src/model/index.ts';
import { pagesOf } from '../helpers/every-page.ts';
import { ago, incident } from '../helpers/page-model.ts';
import { calm } from '../helpers/page-scenes.ts';
import { pagesInBrowser } from '../helpers/pages-in-browser.ts';

const CODE = `curl --request POST https://api.acme.example/v3/${'deliveries/'.repeat(14)}retry`;
const MARKDOWN = `# What happened

A certificate expired.

## In numbers

| region | from | to | requests that failed | requests in all | share of them |
|---|---|---|---|---|---|
| Frankfurt | 08:44 | 09:12 | 1,203,441 | 4,000,000 | 30 % |

\`\`\`
${CODE}
\`\`\`

### What we do

1. Watch \`${'certificate_'.repeat(20)}\`
2. > Never again

![Requests a second](files/requests.png) ![tracked](https://tracker.example/pixel.png) ![out](logout)`;

function scene(): PageModel {
  return calm({
    incidents: [
      incident({
        slug: 'open',
        title: 'Search is slow',
        componentIds: ['search'],
        impact: 'minor',
        status: 'identified',
        startedAt: ago(HOUR_MS),
        updates: [
          { id: 'one', at: ago(HOUR_MS), status: 'investigating', body: 'We look into it.' },
          { id: 'two', at: ago(40 * MINUTE_MS), status: 'identified', body: 'We know why.' },
        ],
      }),
      incident({
        slug: 'certificate',
        title: 'A certificate expired',
        componentIds: ['api', 'search'],
        impact: 'critical',
        status: 'resolved',
        startedAt: ago(4 * HOUR_MS),
        endedAt: ago(3 * HOUR_MS),
        updates: [
          { id: 'a', at: ago(4 * HOUR_MS), status: 'investigating', body: 'Requests fail.' },
          { id: 'b', at: ago(4 * HOUR_MS - 12 * MINUTE_MS), status: 'monitoring', body: 'It works again.' },
          { id: 'c', at: ago(3 * HOUR_MS), status: 'resolved', body: MARKDOWN },
        ],
      }),
    ],
  });
}

const site = pagesInBrowser({ pages: () => pagesOf(scene()), clock: 'still' });
const { open } = site;

describe('an incident', () => {
  it('has its phases on a line: when each was reached and how long after the beginning', async () => {
    const page = await open('incidents/certificate/', { javaScriptEnabled: false });
    const phases = page.getByRole('list', { name: 'Phases' }).getByRole('listitem');
    expect((await phases.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual([
      'Investigating Nov 21, 05:31',
      'Monitoring Nov 21, 05:43 +12 min',
      'Resolved Nov 21, 06:31 +1 h',
    ]);
  });

  it.each([320, 390])('begins with its newest update on a phone of %i pixels, and its phases follow', async (width) => {
    const page = await open('incidents/certificate/', {
      viewport: { width, height: 844 },
      timezoneId: 'Europe/Berlin',
    });
    const topOf = async (text: string) => (await page.getByText(text).first().boundingBox())?.y ?? Number.NaN;
    const [facts, newest, first] = [
      await topOf('Nov 21, 2026, 05:31'),
      await topOf('A certificate expired.'),
      await topOf('Requests fail.'),
    ];
    const phases = (await page.getByRole('list', { name: 'Phases' }).boundingBox())?.y ?? 0;
    expect(facts).toBeLessThan(newest);
    expect(newest).toBeLessThan(500);
    expect(first).toBeGreaterThan(newest);
    expect(phases).toBeGreaterThan(first);
  });

  it('says of each update when it was for the visitor, and how long after the beginning', async () => {
    const page = await open('incidents/certificate/', { timezoneId: 'Asia/Tokyo' });
    const update = page.locator('li', { hasText: 'It works again.' });
    expect((await update.locator('.head').innerText()).replace(/\s+/g, ' ')).toContain(
      'Monitoring Nov 21, 13:43 GMT+9 +12 min',
    );
    expect(await page.locator('.title').innerText()).toContain('Nov 21, 2026, 13:31 – 14:31 GMT+9');
  });

  it('says what is still to come while it goes on, and where it is', async () => {
    const page = await open('incidents/open/', { viewport: { width: 390, height: 844 } });
    const phases = page.getByRole('list', { name: 'Phases' }).getByRole('listitem');
    expect((await phases.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual([
      'Investigating',
      'Identified',
      'Monitoring',
      'Resolved',
    ]);
    expect(await page.locator('[aria-current=step]').innerText()).toContain('Identified');
  });

  it('has an address for each update, which leads to it', async () => {
    const page = await open('incidents/certificate/', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('li', { hasText: 'It works again.' }).getByRole('link').click();
    expect(page.url()).toBe(`${site.url}incidents/certificate/#u-b`);
    expect(await page.locator(':target').innerText()).toContain('It works again.');
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    const buttons = page.getByRole('button', { name: 'Copy link' });
    expect(await buttons.count()).toBe(4);
    await page.locator(':target').getByRole('button').click();
    await page.locator(':target').getByRole('button', { name: 'Copied' }).waitFor();
    expect(await copied()).toBe(`${site.url}incidents/certificate/#u-b`);
    await buttons.first().click();
    await page.locator('.title').getByRole('button', { name: 'Copied' }).waitFor();
    expect(await copied(), 'the incident itself').toBe(`${site.url}incidents/certificate/`);
  });

  it('offers nothing to copy where there is no script', async () => {
    const page = await open('incidents/certificate/', { javaScriptEnabled: false });
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it.each([320, 390, 820])('shows Markdown as it is meant, no wider than %i pixels', async (width) => {
    const page = await open('incidents/certificate/', { viewport: { width, height: 800 } });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    const wide = await page
      .locator('.prose :not(table *, table)')
      .evaluateAll((all) =>
        all
          .filter(
            (one) =>
              one.getBoundingClientRect().right > innerWidth ||
              (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline'),
          )
          .map((one) => one.tagName),
      );
    expect(wide).toEqual([]);
    // Its words stay whole; what has no room is scrolled to, also by key.
    const table = page.locator('.prose table');
    const box = await table.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? width + 1)).toBeLessThanOrEqual(width);
    await table.focus();
    await page.keyboard.press('End');
    expect(await table.getByRole('cell', { name: '30 %' }).isVisible()).toBe(true);
    expect(await table.evaluate((one) => one === document.activeElement)).toBe(true);
    expect((await page.locator('.prose pre').innerText()).trim()).toBe(CODE);
    const sizes = await page
      .locator('.prose :is(h4, h5, h6, p)')
      .evaluateAll((all) =>
        Object.fromEntries(all.map((one) => [one.tagName, Number.parseFloat(getComputedStyle(one).fontSize)])),
      );
    expect(sizes['H4']).toBeGreaterThan(sizes['H5'] ?? 0);
    expect(sizes['H5']).toBeGreaterThan(sizes['P'] ?? 0);
    expect(sizes['H6']).toBeGreaterThanOrEqual(sizes['P'] ?? 0);
  });

  it('draws pictures of the page’s own address, and asks nobody else for one, nor for what is no picture', async () => {
    const asked: string[] = [];
    const page = await open('');
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${site.url}incidents/certificate/`);
    await page.locator('.prose img').scrollIntoViewIfNeeded();
    await page.waitForTimeout(200);
    expect(await page.locator('.prose img').evaluateAll((all) => all.map((one) => one.getAttribute('src')))).toEqual([
      '../../files/requests.png',
    ]);
    expect(await page.locator('.prose img').getAttribute('alt')).toBe('Requests a second');
    expect(asked.filter((address) => !address.startsWith(site.url))).toEqual([]);
    expect(asked.filter((address) => address.includes('logout'))).toEqual([]);
    expect(await page.getByRole('link', { name: 'tracked' }).getAttribute('href')).toBe(
      'https://tracker.example/pixel.png',
    );
  });
});

describe('the history of a month', () => {
  const titles = (page: Page) => page.locator('.entry:visible h3').allInnerTexts();

  it('is narrowed down by component and by impact, and its address says so', async () => {
    const page = await open('history/');
    const all = await titles(page);
    expect(all).toContain('Search is slow');
    expect(all).toContain('A certificate expired');
    await page.getByLabel('Component').selectOption('API');
    expect(await titles(page)).toEqual(['A certificate expired']);
    expect(page.url()).toBe(`${site.url}history/?component=api`);
    await page.getByLabel('Impact').selectOption('Minor impact');
    expect(await titles(page)).toEqual([]);
    await page.getByLabel('Component').selectOption('All components');
    expect(await titles(page)).toEqual(['Search is slow']);
    await page.goto(`${site.url}history/?component=search&impact=critical`);
    expect(await titles(page)).toEqual(['A certificate expired']);
    await page.goto(`${site.url}history/?component=nosuch`);
    expect(await titles(page)).toEqual(all);
  });

  it('is whole without script, with nothing to choose', async () => {
    const page = await open('history/', { javaScriptEnabled: false });
    expect(await titles(page)).toContain('Search is slow');
    expect(await page.getByRole('combobox').count()).toBe(0);
  });
});
