import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATES } from '../../src/model/index.ts';
import { loadRenderer } from '../../src/publish/draw/load-renderer.ts';
import type { Renderer } from '../../src/publish/draw/renderer.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { onePageOfEachKind, type PageServer, render, sceneStatusPages, servePages } from '../helpers/every-page.ts';
import { AS_OF, componentModel, pageModel } from '../helpers/page-model.ts';

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
  const states = STATES.map(async (state) => {
    const view = statusPageView(pageModel({ components: [componentModel({ state })] }));
    return [`state-${state}`, await renderer.render('status-page', view)] as const;
  });
  server = await servePages(await Promise.all([...pages, ...states]));
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

/** WCAG 2.2: of a colour with itself 1, of black with white 21. */
function contrast(one: readonly number[], other: readonly number[]): number {
  const luminance = (colour: readonly number[]) => {
    const [r = 0, g = 0, b = 0] = colour.map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [bright = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
}

/** Of everything that the tab key reaches: the colours of its ring and of what it stands on, and what it is. */
async function ringsOn(
  page: Page,
): Promise<{ readonly name: string; readonly ring: number[]; readonly ground: number[] }[]> {
  const count = await page.locator('a[href],button,summary,select,input,[tabindex="0"]').count();
  const rings = [];
  for (let at = 0; at < count + 2; at += 1) {
    await page.keyboard.press('Tab');
    rings.push(
      await page.evaluate(() => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
        const rgb = (colour: string) => {
          if (!canvas) throw new Error('No canvas');
          canvas.clearRect(0, 0, 1, 1);
          canvas.fillStyle = colour;
          canvas.fillRect(0, 0, 1, 1);
          return [...canvas.getImageData(0, 0, 1, 1).data];
        };
        const element = document.activeElement ?? document.body;
        let around: Element | null = element.parentElement;
        while (around && (rgb(getComputedStyle(around).backgroundColor)[3] ?? 0) < 255) around = around.parentElement;
        const { outlineColor, outlineStyle, outlineWidth } = getComputedStyle(element);
        const isRing = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
        const ground = rgb(getComputedStyle(around ?? document.documentElement).backgroundColor);
        return {
          name: element.outerHTML.slice(0, 90),
          ring: (isRing ? rgb(outlineColor) : ground).slice(0, 3),
          ground: ground.slice(0, 3),
        };
      }),
    );
  }
  return rings.filter(({ name }) => !name.startsWith('<body'));
}

describe.each(['light', 'dark'] as const)('the focus, %s', (colorScheme) => {
  it('is seen on every ground: 3 to 1, whatever the state', async () => {
    const context = await browser.newContext({ colorScheme });
    await context.clock.setFixedTime(AS_OF);
    const page = await context.newPage();
    for (const state of STATES) {
      await page.goto(`${server.url}state-${state}`);
      const rings = await ringsOn(page);
      expect(rings.length).toBeGreaterThan(10);
      const faint = rings.filter(({ ring, ground }) => contrast(ring, ground) < 3);
      expect(faint.map(({ name }) => `${state}: ${name}`)).toEqual([]);
    }
    await context.close();
  });
});
