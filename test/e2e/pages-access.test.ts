import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadRenderer } from '../../src/publish/draw/load-renderer.ts';
import type { Renderer } from '../../src/publish/draw/renderer.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { onePageOfEachKind, type PageServer, render, sceneStatusPages, servePages } from '../helpers/every-page.ts';
import { AS_OF } from '../helpers/page-model.ts';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
let renderer: Renderer;
let server: PageServer;

beforeAll(async () => {
  [browser, renderer] = await Promise.all([launchBrowser(), loadRenderer()]);
  const pages = [
    ...onePageOfEachKind().map(async (page) => [page.path, await render(renderer, page)] as const),
    ...sceneStatusPages()
      .filter(({ name }) => SITUATIONS.includes(name))
      .map(async ({ name, model }) => [name, await renderer.render('status-page', statusPageView(model))] as const),
  ];
  server = await servePages(await Promise.all(pages));
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Rules that the open page breaks, with the first place of each. */
async function violationsOn(page: Page, rules: readonly string[] | null): Promise<string[]> {
  return page.evaluate(
    async ([source, only]) => {
      // As an expression of the test, past the policy, which forbids scripts that are not the page's own.
      const { axe } = new Function(`${source}; return { axe: globalThis.axe };`)();
      const { violations } = await axe.run(document, only === null ? {} : { runOnly: { type: 'rule', values: only } });
      return violations.map(
        (one: { id: string; help: string; nodes: { target: string[]; html: string }[] }) =>
          `${one.id}: ${one.help}: ${one.nodes[0]?.target.join(' ')} ${one.nodes[0]?.html.slice(0, 160)}`,
      );
    },
    [AXE, rules] as const,
  );
}

async function check(scheme: 'light' | 'dark', paths: readonly string[]): Promise<void> {
  const context = await browser.newContext({ colorScheme: scheme, bypassCSP: true });
  await context.clock.setFixedTime(AS_OF);
  const page = await context.newPage();
  // The dark page is the light one in other colours: everything else would be checked twice.
  const rules = scheme === 'dark' ? ['color-contrast', 'link-in-text-block'] : null;
  for (const path of paths) {
    await page.goto(server.url + path);
    expect(await violationsOn(page, rules), `${path || 'status page'}, ${scheme}`).toEqual([]);
  }
  await context.close();
}

/** Where something else is drawn than on the page of each kind, which is of an outage. */
const SITUATIONS = ['calm', 'empty', 'right-to-left', 'stale'];

describe.each(['light', 'dark'] as const)('with a screen reader, %s', (scheme) => {
  it('every kind of page breaks no rule of axe', async () => {
    await check(
      scheme,
      onePageOfEachKind().map(({ path }) => path),
    );
  });

  it('the page breaks no rule of axe in any situation', async () => {
    await check(scheme, SITUATIONS);
  });
});
