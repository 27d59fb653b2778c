/** Pages on a server of their own and a browser to look at them with, for all tests of a file. */

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { PageModel } from '../../src/model/index.ts';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from './browser.ts';
import { type PageServer, type PageUnderTest, render, servePages } from './every-page.ts';
import { AS_OF } from './page-model.ts';

export interface PagesInit {
  /** Drawn once; each has another path. */
  readonly pages: () => readonly PageUnderTest[];
  /** `still`: it is when the pages were written, and stays so. Default: a minute later, and it goes on (`page.clock`). */
  readonly clock?: 'still' | 'running';
  /** Of every tab. */
  readonly options?: BrowserContextOptions;
}

export interface PagesInBrowser {
  /** With a slash at the end. */
  readonly url: string;
  readonly server: PageServer;
  /** A tab with a page in it, closed after the test. What a policy stops or a script throws fails the test. */
  readonly open: (path: string, options?: BrowserContextOptions) => Promise<Page>;
  /** The same with nothing in it. */
  readonly openEmpty: (options?: BrowserContextOptions) => Promise<Page>;
  /** Another version of pages until the test is over. */
  readonly replace: (...pages: readonly PageUnderTest[]) => Promise<void>;
}

export const statusPageAt = (path: string, model: PageModel): PageUnderTest => ({
  path,
  kind: 'status-page',
  view: statusPageView(model),
});

/** Begins before the tests of the file that calls it, and ends after them. */
export function pagesInBrowser({ pages, clock = 'running', options = {} }: PagesInit): PagesInBrowser {
  let browser: Browser | undefined;
  let renderer: Renderer;
  let server: PageServer | undefined;
  let drawn: (readonly [string, Awaited<ReturnType<typeof render>>])[] = [];
  const isReplaced = new Set<string>();
  const draw = (some: readonly PageUnderTest[]) =>
    Promise.all(some.map(async (page) => [page.path, await render(renderer, page)] as const));
  const running = () => {
    if (browser === undefined || server === undefined)
      throw new Error('Pages are there once the tests of the file began');
    return { browser, server };
  };
  const openEmpty = async (more: BrowserContextOptions = {}): Promise<Page> => {
    const context = await running().browser.newContext({ ...options, ...more });
    await (clock === 'still' ? context.clock.setFixedTime(AS_OF) : context.clock.install({ time: AS_OF + 60_000 }));
    const page = await context.newPage();
    page.on('pageerror', (error) => {
      throw error;
    });
    page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) throw new Error(message.text());
    });
    return page;
  };
  beforeAll(async () => {
    [browser, renderer] = await Promise.all([launchBrowser(), loadRenderer()]);
    drawn = await draw(pages());
    server = await servePages(drawn);
  });
  afterEach(async () => {
    for (const [path, page] of drawn) if (isReplaced.delete(path)) server?.put(path, page);
    await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  return {
    get url() {
      return running().server.url;
    },
    get server() {
      return running().server;
    },
    open: async (path, more) => {
      const page = await openEmpty(more);
      await page.goto(running().server.url + path);
      return page;
    },
    openEmpty,
    replace: async (...some) => {
      for (const [path, page] of await draw(some)) {
        running().server.put(path, page);
        isReplaced.add(path);
      }
    },
  };
}
