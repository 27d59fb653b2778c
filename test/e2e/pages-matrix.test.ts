import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEpochMs, toIso } from '../../src/model/index.ts';
import { loadRenderer } from '../../src/publish/draw/renderer.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { type PageServer, servePages } from '../helpers/every-page.ts';
import {
  AXE_SCRIPT,
  axeFaultsOf,
  brokenWordsOf,
  contrast,
  hiddenTipsOf,
  layoutShiftsOf,
  openMenu,
  overflowOf,
  ringsOf,
  unfold,
} from '../helpers/page-examination.ts';
import {
  type Cell,
  cellsOf,
  isTextZoomed,
  type MatrixPage,
  MODES,
  type Mode,
  matrixPages,
  OPTIONS,
  viewportOf,
} from '../helpers/page-matrix.ts';
import { AS_OF } from '../helpers/page-model.ts';

const IS_WHOLE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1) >= 10;
/** All of it is some twelve hundred cells. */
const TIMEOUT_MS = IS_WHOLE ? 1_800_000 : 180_000;
/** Pictures to look at, where a folder is wanted for them; nothing compares them. */
const PICTURES = process.env['PHAROS_PICTURES'];

let browser: Browser;
let server: PageServer;
let pages: readonly MatrixPage[];
let bare: Page | undefined;

beforeAll(async () => {
  const [started, renderer] = await Promise.all([launchBrowser(), loadRenderer()]);
  browser = started;
  pages = await matrixPages(renderer);
  server = await servePages(pages.map(({ name, page }) => [name, page] as const));
  const now = { checkedAt: toIso(toEpochMs(AS_OF - 20_000)), release: 1 };
  server.put('api/now.json', { html: JSON.stringify(now), csp: '' });
  if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const BADGE = '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="20"><path d="M0 0h160v20H0z"/></svg>';

async function contextFor(mode: Mode): Promise<BrowserContext> {
  const context = await browser.newContext({ ...OPTIONS[mode], reducedMotion: 'reduce', bypassCSP: true });
  if (mode in AXE_RULES) await context.addInitScript(AXE_SCRIPT);
  await context.clock.setFixedTime(AS_OF);
  await context.route(/\/badges\/.*\.svg/, (route) => route.fulfill({ contentType: 'image/svg+xml', body: BADGE }));
  return context;
}

async function show(tab: Page, cell: Cell): Promise<void> {
  await tab.setViewportSize(viewportOf(cell));
  if (cell.mode === 'zoom') {
    const session = await tab.context().newCDPSession(tab);
    await session.send('Page.setFontSizes', { fontSizes: { standard: isTextZoomed(cell) ? 32 : 16 } });
    await session.detach();
  }
  await tab.goto(server.url + cell.page.name);
}

const nameOf = ({ page, mode, width }: Cell) => `${page.name}, ${mode}, ${width}`;

const COLOURS = ['color-contrast', 'link-in-text-block'];
/** Which rules are tried; null: all. The dark page is the light one in other colours: everything else would be tried twice. */
const AXE_RULES: Readonly<Partial<Record<Mode, readonly string[] | null>>> = {
  light: null,
  dark: COLOURS,
  'right-to-left': null,
  'no-script': null,
  zoom: ['target-size', 'scrollable-region-focusable'],
};

/** The document as it is without its scripts, in a tab where that of axe may run. */
async function withoutItsScript({ page, width }: Cell): Promise<Page> {
  bare ??= await (await contextFor('light')).newPage();
  await bare.setViewportSize({ width, height: 900 });
  await bare.setContent(page.page.html.replace(/<script[\s\S]*?<\/script>/g, ''));
  await unfold(bare);
  return bare;
}

/** What is wrong with one page in one mode at one width. */
async function faultsOf(tab: Page, cell: Cell): Promise<string[]> {
  const { mode } = cell;
  const hasScript = mode !== 'no-script';
  const faults: string[] = [];
  await show(tab, cell);
  // The visitor's zone may have a longer name than the page's; letters twice as large then need another line.
  if (hasScript && !isTextZoomed(cell)) faults.push(...(await layoutShiftsOf(tab)));
  faults.push(...(await overflowOf(tab)));
  // Letters twice as large find no room on a phone.
  if (mode !== 'zoom' && mode !== 'print') faults.push(...(await brokenWordsOf(tab)));
  if (PICTURES !== undefined)
    await tab.screenshot({ path: join(PICTURES, `${nameOf(cell).replaceAll(', ', '-')}.png`), fullPage: true });
  await unfold(tab);
  faults.push(...(await overflowOf(tab)));
  if (mode === 'print') return faults;
  for (let menu = 0; await openMenu(tab, menu); menu += 1)
    faults.push(...(await overflowOf(tab)).map((fault) => `menu ${menu}: ${fault}`));
  for (const { name, ring, ground, isCovered } of await ringsOf(tab)) {
    if (contrast(ring, ground) < 3) faults.push(`the focus is hard to see: ${ring} on ${ground}: ${name}`);
    if (isCovered) faults.push(`has the focus and is covered: ${name}`);
  }
  if (hasScript) faults.push(...(await hiddenTipsOf(tab)));
  // What differs without script is little, and looking costs more than all else.
  if (mode in AXE_RULES && (hasScript || IS_WHOLE))
    faults.push(...(await axeFaultsOf(hasScript ? tab : await withoutItsScript(cell), AXE_RULES[mode] ?? null)));
  return faults;
}

describe.each(MODES)('every kind of page, %s', (mode) => {
  it(
    'is as wide as the window, does not move by itself and is used by anybody',
    async () => {
      const context = await contextFor(mode);
      const tab = await context.newPage();
      if (mode === 'print') await tab.emulateMedia({ media: 'print' });
      const faults: string[] = [];
      // A window that becomes another size lays out once more what it shows.
      for (const cell of cellsOf(pages, mode, IS_WHOLE).toSorted((a, b) => a.width - b.width))
        faults.push(...(await faultsOf(tab, cell)).map((fault) => `${nameOf(cell)}: ${fault}`));
      await context.close();
      expect(faults).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
