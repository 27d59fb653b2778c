/** Every kind of page that takes the place of itself while it is read. */

import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, type PageModel, toEpochMs } from '../../src/model/index.ts';
import { componentView } from '../../src/views/component/component.ts';
import { uptimeCalendarView } from '../../src/views/history/uptime-calendar.ts';
import { incidentView, maintenanceView } from '../../src/views/incident/incident.ts';
import { indexOfPagesView } from '../../src/views/site/index-of-pages.ts';
import { onePageOfEachKind, type PageUnderTest, partBadges } from '../helpers/every-page.ts';
import { AS_OF, ago, incident, maintenance } from '../helpers/page-model.ts';
import { calm, manyComponents, outage } from '../helpers/page-scenes.ts';
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

/** Days of which nothing was to be said before. */
function uptimePage(isLater: boolean): PageUnderTest {
  const { incidents } = outage();
  const added = Array.from({ length: 9 }, (_, index) => ({
    slug: `added-${index}`,
    title: `Exports were late ${index}`,
    startedAt: ago((50 + 9 * index) * DAY_MS),
    endedAt: ago((50 + 9 * index) * DAY_MS - HOUR_MS),
  }));
  const model = outage(isLater ? { ...LATER, incidents: [...incidents, ...added.map((one) => incident(one))] } : {});
  return { path: 'uptime/', kind: 'uptime-calendar', view: uptimeCalendarView(model) };
}

const longPage = (isLater: boolean) => statusPageAt('long/', manyComponents(300, isLater ? LATER : {}));

const updates = Array.from({ length: 8 }, (_, index) => update(index, 'investigating'));
const later = calm(LATER);

const site = pagesInBrowser({
  pages: () => [
    statusPage(false),
    componentPage(false),
    incidentPage(calm(), false, updates),
    maintenancePage(calm(), false),
    listOfPages(false),
    uptimePage(false),
    longPage(false),
  ],
});
const { open, replace } = site;

/** A minute goes by, in which another version of the page comes. */
async function refreshed(page: Page, next: PageUnderTest): Promise<void> {
  await page.evaluate(() => document.querySelector('#body')?.setAttribute('data-old', ''));
  await replace(next);
  await page.clock.runFor(61_000);
  await page.locator('#body:not([data-old])').waitFor();
}

const hasFocus = (place: Locator) => place.evaluate((element) => element === document.activeElement);

interface Case {
  readonly next: () => PageUnderTest;
  /** What is done before. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** What has the focus while it is read. */
  readonly focus: (page: Page) => Locator;
  /** What is new above it. */
  readonly news: string;
}

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
    focus: (page: Page) => page.locator('#u-u2 .head a'),
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
  'uptime calendar': {
    next: () => uptimePage(true),
    prepare: (page: Page) => page.getByText('View days as a table').click(),
    focus: (page: Page) => page.getByRole('link', { name: 'Documentation', exact: true }),
    news: 'Exports were late 8',
  },
  'a table that scrolls': {
    next: () => uptimePage(true),
    prepare: (page: Page) => page.getByText('View days as a table').click(),
    focus: (page: Page) => page.getByRole('region', { name: 'Uptime by month' }),
    news: 'Exports were late 8',
  },
} as const satisfies Readonly<Record<string, Case>>;

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const NAMES = Object.keys(CASES) as (keyof typeof CASES)[];
const WIDTHS = [390, 1_280] as const;
/** At a smaller scale than 1, the widths take turns. */
const widthsOf = (name: (typeof NAMES)[number]): readonly number[] =>
  SCALE >= 1 ? WIDTHS : WIDTHS.filter((_, index) => (NAMES.indexOf(name) + index) % 2 === 0);

describe.each(NAMES)('a refresh of what is read: %s', (name) => {
  const { next, prepare, focus, news }: Case = CASES[name];
  it.each(widthsOf(name))('keeps the focus and moves nothing when something comes above, %i wide', async (width) => {
    const page = await open(next().path, { viewport: { width, height: 500 } });
    await prepare?.(page);
    const place = focus(page);
    await place.scrollIntoViewIfNeeded();
    await place.focus();
    const before = await place.boundingBox();
    expect(await page.evaluate(() => scrollY), 'there is something above').toBeGreaterThan(100);
    await refreshed(page, next());
    expect(await page.locator('#body').innerText()).toContain(news);
    expect(await hasFocus(place)).toBe(true);
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

it('is tried on every kind of page that takes up what is new', () => {
  // The frame for other sites only says when it is old.
  const aged = onePageOfEachKind().filter(({ kind, view }) => view.shell.freshness !== null && kind !== 'embed');
  expect(new Set(aged.map(({ kind }) => kind))).toEqual(new Set(Object.values(CASES).map(({ next }) => next().kind)));
});

describe('what is open or scrolled when a refresh comes', () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

  it('is a day that was pinned, at the same bar, with the focus in it', async () => {
    const page = await open('');
    const bar = page.getByRole('slider', { name: 'Search, last 90 days', exact: true });
    await bar.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const tip = page.locator('#day');
    const later = tip.getByRole('button', { name: 'Next day' });
    await tip.getByRole('button', { name: 'Previous day' }).click();
    await later.focus();
    const day = await tip.innerText();
    expect(day).toContain('Friday, November 20, 2026');
    await refreshed(page, statusPage(true));
    expect(await tip.innerText()).toBe(day);
    expect(await hasFocus(later)).toBe(true);
    expect(await bar.getAttribute('aria-valuenow')).toBe('89');
    const [box, own] = [await tip.boundingBox(), await bar.boundingBox()];
    expect(Math.abs((box?.y ?? 0) - (own?.y ?? 0)), 'beside its bar').toBeLessThan(300);
    await tip.getByRole('button', { name: 'Close' }).click();
    expect(await tip.isVisible()).toBe(false);
  });

  it('is the bar that has the focus', async () => {
    const page = await open('component/');
    const bar = page.getByRole('slider');
    await bar.focus();
    await page.keyboard.press('ArrowLeft');
    await refreshed(page, componentPage(true));
    expect(await hasFocus(bar)).toBe(true);
    expect(await bar.getAttribute('aria-valuenow')).toBe('89');
    await page.keyboard.press('ArrowLeft');
    expect(await page.locator('#day').innerText()).toContain('Thursday, November 19, 2026');
  });

  it('are a table that was scrolled sideways', async () => {
    const page = await open('uptime/', phone);
    const places = () =>
      page.locator('.newest-last').evaluateAll((all) => all.map(({ scrollLeft }) => Math.round(scrollLeft)));
    expect(await places()).toEqual([0]);
    await page.locator('.newest-last').evaluateAll((all) => {
      for (const one of all) one.scrollLeft = -200;
    });
    await refreshed(page, uptimePage(true));
    expect(await places()).toEqual([-200]);
  });

  it('is a long list that is filtered: what is read of it stays where it is', async () => {
    const page = await open('long/', { viewport: { width: 1_280, height: 500 } });
    await page.getByRole('searchbox').fill('payments');
    const row = page.getByRole('heading', { name: 'Payments 20', exact: true });
    await row.scrollIntoViewIfNeeded();
    await page.getByRole('searchbox').blur();
    const before = await row.boundingBox();
    await refreshed(page, longPage(true));
    expect(Math.abs(((await row.boundingBox())?.y ?? 0) - (before?.y ?? 0))).toBeLessThanOrEqual(1);
  });
});

describe('what is read out after a refresh', () => {
  /** Texts that came into regions that are read out; what is marked as quiet is left out. */
  async function listen(page: Page): Promise<() => Promise<string[]>> {
    await page.evaluate(() => {
      const said: string[] = [];
      Object.assign(globalThis, { said });
      for (const region of document.querySelectorAll('[role=status]'))
        new MutationObserver((changes) => {
          for (const { target, addedNodes } of changes)
            if (addedNodes.length > 0 && !(target as Element).closest('[aria-live=off]'))
              said.push((target.textContent ?? '').trim());
        }).observe(region, { childList: true, subtree: true });
    });
    return () => page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
  }

  it('is another state', async () => {
    const page = await open('');
    const said = await listen(page);
    await refreshed(page, statusPageAt('', calm(LATER)));
    expect((await said())[0]).toMatch(/^All systems operational/);
  });

  it('is nothing where the state is what it was and nobody wrote anything', async () => {
    const page = await open('', { timezoneId: 'America/New_York' });
    await page.getByText('Display', { exact: true }).click();
    await page.getByLabel('Time zone').selectOption('Your time zone');
    const said = await listen(page);
    await refreshed(page, statusPageAt('', outage(LATER)));
    expect(await said()).toEqual([]);
    expect(await page.locator('.as-of').innerText(), 'and yet it says until when it holds').toContain('04:31 EST');
  });

  it('is an update, alone', async () => {
    const page = await open('incident/');
    const said = await listen(page);
    const added = update(8, 'identified');
    await refreshed(page, incidentPage(later, false, [...updates, added]));
    expect(await said()).toEqual([added.body.trim()]);
  });
});

describe('after an upgrade, which has other styles and scripts', () => {
  /** The page as another version of Pharos draws it. */
  async function upgraded(next: PageUnderTest): Promise<void> {
    await replace(next);
    const html = await (await fetch(site.url + next.path)).text();
    const other = html.replace("style-src 'sha256-", "style-src 'sha256-Z29uZQ==' 'sha256-");
    expect(other).not.toBe(html);
    site.server.put(next.path, { html: other, csp: '' });
  }
  const markAsSame = (page: Page) => page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  const isSame = (page: Page) => page.evaluate(() => 'isSamePage' in globalThis);

  it('the page is loaded anew while nobody reads on', async () => {
    const page = await open('');
    await markAsSame(page);
    await upgraded(statusPageAt('', calm(LATER)));
    const loaded = page.waitForEvent('load');
    await page.clock.runFor(61_000);
    await loaded;
    expect(await isSame(page)).toBe(false);
    await page.getByRole('heading', { name: 'All systems operational' }).waitFor();
    await markAsSame(page);
    await page.clock.runFor(181_000);
    expect(await isSame(page), 'once').toBe(true);
  });

  it('what is read is told the news at once, and loaded anew when it is not looked at', async () => {
    const page = await open('');
    await page.getByRole('link', { name: 'Documentation', exact: true }).focus();
    await markAsSame(page);
    await upgraded(statusPageAt('', calm(LATER)));
    await page.clock.runFor(61_000);
    await page.getByRole('heading', { name: 'All systems operational' }).waitFor();
    await page.clock.runFor(181_000);
    expect(await isSame(page)).toBe(true);
    const loaded = page.waitForEvent('load');
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await loaded;
    expect(await isSame(page)).toBe(false);
  });
});
