/** Every kind of page that takes the place of itself while it is read. */

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, type PageModel, toEpochMs } from '../../src/model/index.ts';
import { componentView } from '../../src/views/component/component.ts';
import { incidentView } from '../../src/views/incident/incident.ts';
import { maintenanceView } from '../../src/views/incident/maintenance.ts';
import { indexOfPagesView } from '../../src/views/site/index-of-pages.ts';
import { type PageUnderTest, partBadges } from '../helpers/every-page.ts';
import { AS_OF, ago, incident, maintenance } from '../helpers/page-model.ts';
import { calm, outage } from '../helpers/page-scenes.ts';
import { pagesInBrowser, statusPageAt } from '../helpers/pages-in-browser.ts';

const LATER = { asOf: ago(-2 * MINUTE_MS), staleAfter: toEpochMs(AS_OF + 60 * MINUTE_MS) };
const LONG = 'What we know by now, at some length, so that it takes several lines on a phone. '.repeat(6);

const update = (index: number, status: 'investigating' | 'identified' | 'resolved') => ({
  id: `u${index}`,
  at: ago((60 - index * 5) * MINUTE_MS),
  status,
  body: `Number ${index}. ${LONG}`,
});
const another = incident({ slug: 'another', title: 'Exports are late', updateBodies: [LONG, LONG, LONG] });
const soon = maintenance({ slug: 'soon', title: 'New disks', texts: [LONG] });

function statusPage(isLater: boolean): PageUnderTest {
  const { incidents } = outage();
  return statusPageAt('', isLater ? outage({ ...LATER, incidents: [another, ...incidents] }) : outage());
}

function componentPage(isLater: boolean): PageUnderTest {
  const { incidents, maintenances } = outage();
  const added = { ...LATER, incidents: [another, ...incidents], maintenances: [soon, ...maintenances] };
  const model = outage(isLater ? added : {});
  const api = model.components.find(({ definition }) => definition.id === 'api');
  if (api === undefined) throw new Error('There is no component');
  return { path: 'component/', kind: 'component', view: componentView(model, api, { badges: partBadges() }) };
}

function incidentPage(model: PageModel, isOver: boolean, updates: readonly ReturnType<typeof update>[]): PageUnderTest {
  const one = incident({
    slug: 'slow',
    title: 'Search is slow',
    startedAt: ago(60 * MINUTE_MS),
    endedAt: isOver ? ago(0) : null,
    status: isOver ? 'resolved' : 'investigating',
    updates,
  });
  const age = isOver ? { ...model, staleAfter: null } : model;
  return { path: 'incident/', kind: 'incident', view: incidentView(age, one) };
}

function maintenancePage(model: PageModel, isOver: boolean): PageUnderTest {
  const one = maintenance({
    slug: 'disks',
    startsAt: ago(60 * MINUTE_MS),
    endsAt: ago(-60 * MINUTE_MS),
    status: isOver ? 'completed' : 'in_progress',
    updates: Array.from({ length: isOver ? 9 : 8 }, (_, index) => ({
      ...update(index, 'investigating'),
      status: index < 8 ? 'in_progress' : 'completed',
    })),
  });
  const age = isOver ? { ...model, staleAfter: null } : model;
  return { path: 'maintenance/', kind: 'maintenance', view: maintenanceView(age, one) };
}

/** Of a list the oldest page says how long it may be believed, which is none of those that changed. */
function listOfPages(isLater: boolean): PageUnderTest {
  const titled = (title: string, from: PageModel = calm()) => ({
    ...from,
    definition: { ...from.definition, title, description: LONG },
  });
  const old = Array.from({ length: 20 }, (_, index) => titled(`Page ${String(index).padStart(2, '0')}`));
  const pages = isLater ? [titled('Acme', outage(LATER)), ...old] : old;
  const init = { locale: 'en', timezone: 'UTC', siteTitle: 'Acme Group', url: 'https://s.example/' };
  return { path: 'list/', kind: 'index-of-pages', view: indexOfPagesView(pages, init) };
}

const updates = Array.from({ length: 8 }, (_, index) => update(index, 'investigating'));
const later = calm(LATER);

const { open, replace } = pagesInBrowser({
  pages: () => [
    statusPage(false),
    componentPage(false),
    incidentPage(calm(), false, updates),
    maintenancePage(calm(), false),
    listOfPages(false),
  ],
});

/** What has the focus while it is read, and what is new above it. */
const CASES = {
  'status page': {
    next: () => statusPage(true),
    focus: (page: Page) => page.getByRole('link', { name: 'Documentation', exact: true }),
    news: 'Exports are late',
  },
  component: {
    next: () => componentPage(true),
    focus: (page: Page) => page.locator('main').getByRole('link', { name: 'RSS', exact: true }),
    news: 'Exports are late',
  },
  'open incident': {
    next: () => incidentPage(later, false, [...updates, update(8, 'identified')]),
    focus: (page: Page) => page.locator('#u-u2 .copy-link'),
    news: 'Number 8. What we know',
  },
  'incident that ends': {
    next: () => incidentPage(later, true, [...updates, update(8, 'resolved')]),
    focus: (page: Page) => page.locator('#u-u2 h3 a'),
    news: 'Number 8. What we know',
  },
  'maintenance that ends': {
    next: () => maintenancePage(later, true),
    focus: (page: Page) => page.locator('#u-u2 .copy-link'),
    news: 'Number 8. What we know',
  },
  'list of pages': {
    next: () => listOfPages(true),
    focus: (page: Page) => page.getByRole('link', { name: 'Page 18' }),
    news: 'Acme',
  },
} as const;

describe.each(Object.keys(CASES) as (keyof typeof CASES)[])('a refresh of what is read: %s', (name) => {
  const { next, focus, news } = CASES[name];
  it.each([390, 1_280])('keeps the focus and moves nothing when something comes above, %i wide', async (width) => {
    const page = await open(next().path, { viewport: { width, height: 500 } });
    const place = focus(page);
    await place.scrollIntoViewIfNeeded();
    await place.focus();
    const before = await place.boundingBox();
    expect(await page.evaluate(() => scrollY), 'there is something above').toBeGreaterThan(100);
    await page.evaluate(() => document.querySelector('#body')?.setAttribute('data-old', ''));
    await replace(next());
    await page.clock.runFor(61_000);
    await page.locator('#body:not([data-old])').waitFor();
    expect(await page.locator('#body').innerText()).toContain(news);
    expect(await place.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(Math.abs(((await place.boundingBox())?.y ?? 0) - (before?.y ?? 0))).toBeLessThanOrEqual(1);
  });
});

it.each([
  ['incident/', () => incidentPage(later, true, [...updates, update(8, 'resolved')]), 'Investigating', 'Resolved'],
  ['maintenance/', () => maintenancePage(later, true), 'In progress', 'Completed'],
] as const)('what is over says so at the top and never goes stale: %s', async (path, next, before, after) => {
  const page = await open(path);
  expect(await page.locator('main .header').innerText()).toContain(before);
  await replace(next());
  await page.clock.runFor(61_000);
  await page.locator('main .header', { hasText: after }).waitFor();
  expect(await page.locator('main .header').innerText()).not.toContain(before);
  expect(await page.title()).toContain(' · Acme');
  await page.clock.runFor(3 * 60 * MINUTE_MS);
  expect(await page.locator('html').getAttribute('class')).not.toBe('is-stale');
  expect(await page.getByText('This page is out of date.').count()).toBe(0);
});

it('what was folded or opened stays so, one by one, though their texts are alike', async () => {
  const page = await open('component/');
  const badges = page.locator('details', { has: page.locator('img') });
  expect(await badges.count()).toBeGreaterThan(1);
  await badges.nth(1).locator('summary').click();
  await badges.nth(1).getByRole('button', { name: 'Copy' }).first().focus();
  await replace(componentPage(true));
  await page.clock.runFor(61_000);
  await page.getByText('Exports are late').first().waitFor();
  expect(await badges.evaluateAll((all) => all.map((one) => (one as HTMLDetailsElement).open))).toEqual(
    Array.from({ length: await badges.count() }, (_, index) => index === 1),
  );
  expect(await page.locator(':focus').innerText()).toBe('Copy');
});

it('another page at the same address, as before a gate, is not taken for this one', async () => {
  const page = await open('component/');
  await replace({ ...listOfPages(true), path: 'component/' });
  await page.clock.runFor(121_000);
  expect(await page.locator('h1').innerText()).toBe('API');
});
