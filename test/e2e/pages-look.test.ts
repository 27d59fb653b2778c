import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadRenderer } from '../../src/publish/draw/load-renderer.ts';
import type { Renderer } from '../../src/publish/draw/renderer.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { onePageOfEachKind, type PageServer, render, sceneStatusPages, servePages } from '../helpers/every-page.ts';
import { AS_OF } from '../helpers/page-model.ts';

/** Pictures to look at; nothing compares them. */
const FOLDER = join(import.meta.dirname, '../artefacts/pages');

let browser: Browser;
let renderer: Renderer;
let server: PageServer;
beforeAll(async () => {
  [browser, renderer] = await Promise.all([launchBrowser(), loadRenderer(), mkdir(FOLDER, { recursive: true })]);
  server = await servePages(
    await Promise.all([
      ...sceneStatusPages().map(
        async ({ name, model }) => [`${name}/`, await renderer.render('status-page', statusPageView(model))] as const,
      ),
      ...onePageOfEachKind()
        .filter(({ kind }) => kind !== 'status-page')
        .map(async (page) => [`${page.kind}/`, await render(renderer, page)] as const),
    ]),
  );
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

interface Look {
  readonly name: string;
  readonly width: number;
  readonly options?: Parameters<Browser['newContext']>[0];
  readonly media?: 'print';
  readonly paths: readonly string[];
}

const SCENES = sceneStatusPages().map(({ name }) => name);
const LOOKS: readonly Look[] = [
  {
    name: 'desktop',
    width: 1_200,
    paths: [...SCENES, 'incident', 'component', 'uptime-calendar', 'history', 'report'],
  },
  { name: 'phone', width: 390, paths: ['outage', 'long-names', 'component', 'uptime-calendar'] },
  { name: 'narrow', width: 320, paths: SCENES },
  { name: 'tablet', width: 768, paths: ['outage', 'component'] },
  { name: 'between', width: 930, paths: ['outage', 'long-names'] },
  { name: 'dark', width: 1_200, options: { colorScheme: 'dark' }, paths: ['outage', 'calm', 'component'] },
  { name: 'no-script', width: 1_200, options: { javaScriptEnabled: false }, paths: ['outage'] },
  { name: 'forced-colours', width: 1_200, options: { forcedColors: 'active' }, paths: ['outage'] },
  { name: 'print', width: 800, media: 'print', paths: ['outage'] },
];

describe('looks', () => {
  it.each(LOOKS)(
    'are kept as pictures, and nothing sticks out: $name',
    async ({ name, width, options, media, paths }) => {
      const context = await browser.newContext({
        ...options,
        viewport: { width, height: 800 },
        reducedMotion: 'reduce',
      });
      await context.clock.setFixedTime(AS_OF);
      const page = await context.newPage();
      if (media !== undefined) await page.emulateMedia({ media });
      for (const path of paths) {
        await page.goto(`${server.url}${path}/`);
        const picture = await page.screenshot({ path: join(FOLDER, `${path}-${name}.png`) });
        expect(picture.length).toBeGreaterThan(2_000);
        // A document of the test's own can be asked even where the page has no script.
        const wide = await page.locator('body').evaluate((body) => body.ownerDocument.documentElement.scrollWidth);
        expect(wide, path).toBeLessThanOrEqual(width);
      }
      await context.close();
    },
  );
});
