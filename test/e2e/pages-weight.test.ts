import { brotliCompressSync, constants } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { manyComponents, troubledWorld } from '../helpers/page-scenes.ts';

/** What a status page of many components, each with ninety days, a response time and past trouble, may weigh. */
const BUDGETS = [
  { components: 50, rawBytes: 90_000, nodes: 3_000, brotliBytes: 9_000 },
  { components: 300, rawBytes: 400_000, nodes: 8_000, brotliBytes: null },
] as const;
const SCRIPT_BROTLI_BYTES = 6_000;

let browser: Browser;
let renderer: Renderer;
beforeAll(async () => {
  [browser, renderer] = await Promise.all([launchBrowser(), loadRenderer()]);
});
afterAll(() => browser?.close());

const brotli = (text: string, quality = 11) =>
  brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
  }).length;

const SCRIPT = /<script(?: type="module"(?: blocking="render")?)?>([\s\S]*?)<\/script>/g;

describe.each(BUDGETS)('a page of $components components', (budget) => {
  it('weighs no more than it may, in bytes and in nodes, with and without script', async () => {
    const { html } = await renderer.render('status-page', statusPageView(manyComponents(budget.components)));
    expect(html.match(/<li class="row /g)?.length).toBeGreaterThanOrEqual(budget.components);
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(budget.rawBytes);
    const scripts = [...html.matchAll(SCRIPT)].map((match) => match[1]).join('\n');
    expect(scripts.length).toBeGreaterThan(1_000);
    expect(brotli(scripts)).toBeLessThanOrEqual(SCRIPT_BROTLI_BYTES);
    if (budget.brotliBytes !== null) expect(brotli(html.replace(SCRIPT, ''))).toBeLessThanOrEqual(budget.brotliBytes);
    for (const javaScriptEnabled of [false, true]) {
      const context = await browser.newContext({ javaScriptEnabled });
      const page = await context.newPage();
      await page.setContent(html);
      const nodes = await page.locator('html').evaluate((root) => root.querySelectorAll('*').length + 1);
      expect(nodes).toBeGreaterThan(budget.components * 10);
      expect(nodes, `with${javaScriptEnabled ? '' : 'out'} script`).toBeLessThanOrEqual(budget.nodes);
      await context.close();
    }
  });
});

/** Ten packets, which are sent unasked, and twenty. Of many components the pages of these say what past days were. */
it.each([
  { components: 50, incidents: 150, bytes: 14_600 },
  { components: 300, incidents: 900, bytes: 30_000 },
])(
  'a page of $components components with much past trouble weighs no more than it may, as it is published at once',
  async ({ components, incidents, bytes }) => {
    const { html } = await renderer.render('status-page', statusPageView(troubledWorld(components, incidents)), 'file');
    expect(html.match(/<path class="[dpm]"/g)?.length).toBeGreaterThan(components);
    expect(brotli(html, 5)).toBeLessThanOrEqual(bytes);
  },
);
