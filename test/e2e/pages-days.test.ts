import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { pagesOf } from '../helpers/every-page.ts';
import { manyComponents, outage, rightToLeft } from '../helpers/page-scenes.ts';
import { pagesInBrowser } from '../helpers/pages-in-browser.ts';

const site = pagesInBrowser({
  pages: () => [
    ...pagesOf(outage()),
    ...pagesOf(rightToLeft())
      .filter(({ kind }) => kind === 'status-page' || kind === 'uptime-calendar')
      .map((page) => ({ ...page, path: `rtl${page.path === '' ? '' : '-'}${page.path || '/'}` })),
    ...pagesOf(manyComponents(30))
      .filter(({ path }) => path === '' || path.startsWith('components/'))
      .map((page) => ({ ...page, path: `many/${page.path}` })),
  ],
  clock: 'still',
  options: { timezoneId: 'Europe/Berlin' },
});
const { open } = site;

const barOf = (page: Page, name: string) => page.getByRole('slider', { name: `${name}, last 90 days`, exact: true });
const tipOf = (page: Page) => page.locator('#day');
const textOf = async (page: Page) => (await tipOf(page).innerText()).split('\n').filter(Boolean);

/** The middle of the day `index`, of 90 that are written from left to right. */
async function pointOf(bar: Locator, index: number): Promise<{ x: number; y: number }> {
  await bar.scrollIntoViewIfNeeded();
  const box = await bar.boundingBox();
  if (box === null) throw new Error('The bar is not there');
  return { x: box.x + ((index + 0.5) / 90) * box.width, y: box.y + box.height / 2 };
}

/** Whether what is seen at the middle and near all corners of the pop-over is the pop-over. */
const isSeenWhole = (page: Page) =>
  page.evaluate(() => {
    const tip = document.querySelector('#day');
    if (!tip?.matches(':popover-open')) return false;
    const { left, right, top, bottom } = tip.getBoundingClientRect();
    return [
      [(left + right) / 2, (top + bottom) / 2],
      [left + 8, top + 8],
      [right - 8, top + 8],
      [left + 8, bottom - 8],
      [right - 8, bottom - 8],
    ].every(([x = 0, y = 0]) => tip.contains(document.elementFromPoint(x, y)));
  });

const TODAY = [
  'Saturday, November 21, 2026',
  'Major outage',
  '08:44 – ongoing',
  'The API and the web application do not answer',
];

describe('a day under the pointer', () => {
  it('is told beside it, inside the window and above everything', async () => {
    const page = await open('');
    for (const [index, isRight] of [
      [89, true],
      [0, false],
    ] as const) {
      const point = await pointOf(barOf(page, 'API'), index);
      await page.mouse.move(point.x, point.y);
      await tipOf(page).waitFor();
      expect(await isSeenWhole(page)).toBe(true);
      const tip = await tipOf(page).boundingBox();
      expect(Math.abs((tip?.y ?? 0) - point.y), 'right below its bar').toBeLessThan(40);
      if (isRight) expect(await textOf(page)).toEqual(TODAY);
    }
    await page.mouse.move(2, 2);
    await tipOf(page).waitFor({ state: 'hidden' });
  });

  it('stands above its bar where there is no room below', async () => {
    const page = await open('', { viewport: { width: 1_000, height: 500 } });
    const bar = barOf(page, 'Documentation');
    await bar.scrollIntoViewIfNeeded();
    await page.evaluate((height) => scrollBy(0, -height), 500 - (await pointOf(bar, 3)).y - 60);
    const point = await pointOf(bar, 89);
    await page.mouse.move(point.x, point.y);
    await tipOf(page).waitFor();
    const tip = await tipOf(page).boundingBox();
    expect((tip?.y ?? 0) + (tip?.height ?? 0)).toBeLessThan(point.y);
    expect(await isSeenWhole(page)).toBe(true);
  });

  it('stays while the pointer goes to its links, which lead to its incidents', async () => {
    const page = await open('');
    const point = await pointOf(barOf(page, 'API'), 89);
    await page.mouse.move(point.x, point.y);
    const link = tipOf(page).getByRole('link');
    const box = await link.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 20, (box?.y ?? 0) + 8, { steps: 6 });
    await page.waitForTimeout(400);
    await link.click();
    expect(page.url()).toBe(`${site.url}incidents/api-down/`);
  });
});

describe('a day by finger', () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

  it('is the nearest one with something to tell, and stays until it is closed', async () => {
    const page = await open('', phone);
    const bar = barOf(page, 'API');
    const { x, y } = await pointOf(bar, 89);
    // Twelve pixels beside it: three days away, all of them well.
    await page.touchscreen.tap(x - 10, y);
    expect((await textOf(page)).slice(0, 4)).toEqual(TODAY);
    expect(await isSeenWhole(page)).toBe(true);
    await tipOf(page).getByRole('button', { name: 'Previous day' }).tap();
    expect((await textOf(page))[0]).toBe('Friday, November 20, 2026');
    await tipOf(page).getByRole('button', { name: 'Close' }).tap();
    await tipOf(page).waitFor({ state: 'hidden' });
    expect(page.url()).toBe(site.url);
  });

  it('is put aside by a tap elsewhere', async () => {
    const page = await open('', phone);
    const { x, y } = await pointOf(barOf(page, 'Search'), 40);
    await page.touchscreen.tap(x, y);
    await tipOf(page).waitFor();
    await page.touchscreen.tap(20, y - 60);
    await tipOf(page).waitFor({ state: 'hidden' });
  });

  it.each([320, 390])(
    'is at least 24 pixels wide in the calendar, which begins with the newest month: %i',
    async (width) => {
      const page = await open('uptime/', { ...phone, viewport: { width, height: 844 } });
      const months = page.getByRole('slider');
      expect(await months.count()).toBe(12);
      expect(await months.first().getAttribute('aria-label')).toBe('November 2026');
      for (const month of await months.all())
        expect(((await month.boundingBox())?.width ?? 0) / 7).toBeGreaterThanOrEqual(24);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    },
  );
});

it.each(['ltr', 'rtl'])(
  'the table of months opens on the newest, beside names that stay, without script: %s',
  async (dir) => {
    for (const width of [320, 390, 1_280]) {
      const path = dir === 'rtl' ? 'rtl-uptime/' : 'uptime/';
      const page = await open(path, { viewport: { width, height: 844 }, javaScriptEnabled: false });
      const table = page.locator('table.wide');
      const newest = await table.locator('thead th').last().boundingBox();
      const name = await table.locator('tbody th').last().boundingBox();
      const [box, inner] = [await page.locator('.newest-last').boundingBox(), await table.boundingBox()];
      if (!newest || !name || !box || !inner) throw new Error('There is no table');
      const [left, right] = [box.x, box.x + box.width];
      expect(newest.x, `${width}`).toBeGreaterThanOrEqual(left - 1);
      expect(newest.x + newest.width).toBeLessThanOrEqual(right + 1);
      expect(dir === 'rtl' ? right - name.x - name.width : name.x - left, 'where lines begin').toBeCloseTo(0, 0);
      const isCovered = newest.x < name.x + name.width && name.x < newest.x + newest.width;
      expect(isCovered).toBe(false);
      // Where there is room for all months it stands where everything stands.
      if (dir === 'ltr' && width === 1_280) expect(inner.x - left).toBeCloseTo(0, 0);
      await page.context().close();
    }
  },
);

describe('a day by key', () => {
  it('begins at today; arrows, Home and End go on, in one stop of the tab key', async () => {
    const page = await open('');
    await page.getByRole('link', { name: 'API', exact: true }).last().focus();
    await page.keyboard.press('Tab');
    const bar = barOf(page, 'API');
    expect(await bar.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await textOf(page)).toEqual(TODAY);
    expect(await bar.getAttribute('aria-valuenow')).toBe('90');
    expect(await bar.getAttribute('aria-valuetext')).toBe(
      'Saturday, November 21, 2026: Major outage. 08:44 – ongoing. The API and the web application do not answer',
    );
    await page.keyboard.press('ArrowLeft');
    expect((await textOf(page))[0]).toBe('Friday, November 20, 2026');
    await page.keyboard.press('Home');
    expect((await textOf(page))[0]).toBe('Monday, August 24, 2026');
    await page.keyboard.press('ArrowLeft');
    expect(await bar.getAttribute('aria-valuenow')).toBe('1');
    await page.keyboard.press('End');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText(), 'its links come next').toBe(TODAY[3]);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).toBe('Sign-in');
    await tipOf(page).waitFor({ state: 'hidden' });
  });

  it('is pinned by Enter, which goes to its links, and closed by Escape, which goes back', async () => {
    const page = await open('');
    const bar = barOf(page, 'API');
    await bar.focus();
    await page.keyboard.press('Enter');
    expect(await page.locator(':focus').innerText()).toBe(TODAY[3]);
    await page.keyboard.press('Escape');
    expect(await bar.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await tipOf(page).isVisible()).toBe(false);
    expect(page.url()).toBe(site.url);
  });

  it('goes by weeks in the calendar, with the day in sight', async () => {
    const page = await open('uptime/', { viewport: { width: 390, height: 844 } });
    await page.keyboard.press('Tab');
    await page.getByRole('slider').first().focus();
    expect((await textOf(page))[0]).toBe('Saturday, November 21, 2026');
    await page.keyboard.press('ArrowLeft');
    expect((await textOf(page))[0]).toBe('Friday, November 20, 2026');
    for (let weeks = 0; weeks < 30; weeks += 1) await page.keyboard.press('ArrowUp');
    expect((await textOf(page))[0]).toBe('Friday, April 24, 2026');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('April 2026');
    expect(await isSeenWhole(page)).toBe(true);
    for (let weeks = 0; weeks < 60; weeks += 1) await page.keyboard.press('ArrowDown');
    expect((await textOf(page))[0]).toBe('Saturday, November 21, 2026');
  });

  it('goes from trouble to trouble, also into other months', async () => {
    const page = await open('uptime/');
    await page.getByRole('slider').first().focus();
    await page.keyboard.press('Enter');
    const earlier = tipOf(page).getByRole('button', { name: 'Previous trouble' });
    const seen: string[] = [];
    for (let steps = 0; steps < 6; steps += 1) {
      await earlier.click();
      const [day = '', state = ''] = await textOf(page);
      // A day may be well and have an incident.
      expect(state !== 'Operational' || (await tipOf(page).getByRole('link').count()) > 0, day).toBe(true);
      seen.push(day);
    }
    expect(new Set(seen.map((day) => day.split(' ')[1])).size).toBeGreaterThan(1);
    await tipOf(page).getByRole('button', { name: 'Next trouble' }).click();
    expect((await textOf(page))[0]).toBe(seen.at(-2));
  });

  it('shows the days of the component that is chosen', async () => {
    const page = await open('uptime/');
    const lines = () =>
      page.locator('.cells path').evaluateAll((all) => all.map((one) => one.getAttribute('d')).join());
    const all = await lines();
    await page.getByLabel('Component').selectOption('API');
    expect(await lines()).not.toBe(all);
    await page.getByRole('slider').first().focus();
    expect((await textOf(page)).slice(0, 3)).toEqual(TODAY.slice(0, 3));
    await page.getByLabel('Component').selectOption('All components');
    expect(await lines()).toBe(all);
  });
});

it('from right to left today is on the left, and the left arrow goes on', async () => {
  const page = await open('rtl/');
  const bar = page.getByRole('slider').first();
  const point = await pointOf(bar, 0);
  await page.mouse.move(point.x, point.y);
  expect(await bar.getAttribute('aria-valuenow')).toBe('90');
  await bar.focus();
  await page.keyboard.press('ArrowRight');
  expect(await bar.getAttribute('aria-valuenow')).toBe('89');
  await page.keyboard.press('ArrowLeft');
  expect(await bar.getAttribute('aria-valuenow')).toBe('90');
});

it('without script a bar leads to the same days as a table, with links to their incidents', async () => {
  const page = await open('', { javaScriptEnabled: false });
  await page.getByRole('link', { name: 'API, last 90 days', exact: true }).click();
  expect(page.url()).toBe(`${site.url}components/api/#days`);
  const today = page.getByRole('row', { name: /Nov 21/ });
  expect(await today.innerText()).toMatch(/Major outage\s+08:44 – ongoing/);
  expect(await today.getByRole('link').getAttribute('href')).toBe('../../incidents/api-down/');
  await page.goto(`${site.url}uptime/`);
  await page.getByText('View days as a table').click();
  await page
    .getByRole('row', { name: /Nov 21/ })
    .getByRole('link')
    .click();
  expect(page.url()).toBe(`${site.url}incidents/api-down/`);
});

describe('a day on a page of many components', () => {
  /** Groups of a long page are folded. */
  const openMany = async () => {
    const page = await open('many/');
    await page.getByRole('heading', { name: 'Region 1' }).click();
    return page;
  };
  const requestsSince = (before: number) =>
    site.server.requests
      .map(({ path }) => path)
      .slice(before)
      .filter((path) => !path.endsWith('now.json'));

  it.each(['pointer', 'keys'])('is told by the page of its component, once it is asked for by %s', async (by) => {
    const page = await openMany();
    const before = site.server.requests.length;
    const bar = barOf(page, 'Web application 1');
    if (by === 'pointer') {
      const { x, y } = await pointOf(bar, 86);
      await page.mouse.move(x, y);
    } else {
      await bar.focus();
      for (let press = 0; press < 3; press += 1) await page.keyboard.press('ArrowLeft');
    }
    await tipOf(page).getByRole('link', { name: 'Search answered slowly' }).waitFor();
    expect(await textOf(page)).toEqual(['Wednesday, November 18, 2026', 'Operational', 'Search answered slowly']);
    expect(await bar.getAttribute('aria-valuetext')).toContain('Search answered slowly');
    expect(requestsSince(before)).toEqual(['many/components/c0/']);
  });

  it('is told at once of what does not work', async () => {
    const page = await open('many/');
    const before = site.server.requests.length;
    await page.locator('.failing').getByRole('slider').focus();
    expect((await textOf(page)).slice(1)).toEqual(['Major outage', '09:06 – ongoing']);
    await page.waitForTimeout(300);
    expect(requestsSince(before)).toEqual([]);
  });

  it('says its state alone where that page cannot be had, and is asked for again', async () => {
    const page = await openMany();
    const bar = barOf(page, 'API 1');
    await page.route('**/components/c1/', (route) => route.abort());
    const failed = page.waitForEvent('requestfailed');
    await bar.focus();
    for (let press = 0; press < 6; press += 1) await page.keyboard.press('ArrowLeft');
    await failed;
    expect((await textOf(page)).slice(1)).toEqual(['Operational']);
    await page.unroute('**/components/c1/');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowRight');
    await tipOf(page).getByRole('link', { name: 'Webhooks: connection refused' }).waitFor();
  });
});
