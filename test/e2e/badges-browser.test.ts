import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Resvg } from '@resvg/resvg-js';
import { makeBadge } from 'badge-maker';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardSvg } from '../../src/badges/card.ts';
import { renderBadge } from '../../src/badges/index.ts';
import { awkwardTexts } from '../helpers/awkward-text.ts';
import { badgeSheet, outlinedBadges } from '../helpers/badge-sheet.ts';
import { badgeSubject } from '../helpers/badge-subject.ts';
import { dejavuFolder, launchBrowser } from '../helpers/browser.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const ARTEFACTS = join(import.meta.dirname, '../artefacts');

/** Draws pictures in a page and hands back what a viewer would see, two pixels for one; runs in the browser. */
async function pixelsOf(page: Page, sources: readonly string[]): Promise<string[]> {
  return page.evaluate(async (addresses) => {
    const results: string[] = [];
    for (const address of addresses) {
      const image = new Image();
      image.src = address;
      await image.decode();
      const canvas = new OffscreenCanvas(image.naturalWidth * 2, image.naturalHeight * 2);
      const context = canvas.getContext('2d');
      context?.drawImage(image, 0, 0, canvas.width, canvas.height);
      const data = context?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
      let text = `${canvas.width}x${canvas.height}:`;
      for (let at = 0; at < data.length; at += 8_192) text += String.fromCharCode(...data.subarray(at, at + 8_192));
      results.push(btoa(text));
    }
    return results;
  }, sources);
}

function address(svg: string): string {
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

function bytesOf(pixels: string): Buffer {
  const all = Buffer.from(pixels, 'base64');
  return all.subarray(all.indexOf(':') + 1);
}

/** Colours as they would look on white, so that hidden colours of clear pixels count for nothing. */
function difference(a: Buffer, b: Buffer): { edge: number; mean: number } {
  expect(a.length).toBe(b.length);
  const onWhite = (buffer: Buffer, at: number, channel: number) => {
    const alpha = (buffer[at + 3] ?? 0) / 255;
    return (buffer[at + channel] ?? 0) * alpha + 255 * (1 - alpha);
  };
  let edge = 0;
  let sum = 0;
  for (let at = 0; at < a.length; at += 4)
    for (let channel = 0; channel < 3; channel += 1) {
      const step = Math.abs(onWhite(a, at, channel) - onWhite(b, at, channel));
      edge = Math.max(edge, step);
      sum += step;
    }
  return { edge, mean: sum / (a.length * 0.75) };
}

/** Short enough to be printed when two differ. */
function digest(pixels: string): string {
  return createHash('sha256').update(pixels).digest('hex').slice(0, 16);
}

let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
  page = await browser.newPage();
  await mkdir(ARTEFACTS, { recursive: true });
});

afterAll(async () => {
  await browser.close();
});

describe('the same pixels whatever fonts the viewer has', () => {
  const FONTS = {
    'DejaVu Sans': 'DejaVuSans.ttf',
    'DejaVu Serif': 'DejaVuSerif.ttf',
    'DejaVu Sans Mono': 'DejaVuSansMono-Bold.ttf',
  };
  const ours: string[][] = [];
  const theirs: string[][] = [];

  beforeAll(async () => {
    const badges = outlinedBadges().map((fields) => address(renderBadge({ ...fields, scheme: 'light' })));
    const card = address(await cardSvg(badgeSubject(), { scheme: 'light' }));
    const others = ['uptime', 'status', 'API'].map((label) =>
      address(makeBadge({ label, message: '99.98%', style: 'flat-square' })),
    );
    for (const [family, file] of Object.entries(FONTS)) {
      const other = await launchBrowser({ fonts: [join(dejavuFolder(), file)], defaultFamily: family });
      const blank = await other.newPage();
      ours.push((await pixelsOf(blank, [...badges, card])).map(digest));
      theirs.push((await pixelsOf(blank, others)).map(digest));
      await other.close();
    }
  });

  it('the three set-ups differ, as badges drawn with text show', () => {
    for (const [first, second, third] of [0, 1, 2].map((index) => theirs.map((pixels) => pixels[index])))
      expect(new Set([first, second, third]).size).toBe(3);
  });

  it('every style, kind and state, and the card', () => {
    const [first, second, third] = ours;
    expect(first?.length).toBeGreaterThan(50);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });
});

describe('resvg, which draws our PNG files, and the browser', () => {
  /**
   * Both smooth edges, each in its own way: on an edge a pixel may differ by up to a quarter of its range, and the mean
   * over a badge by a hundredth of it; a dot, which is mostly edge, comes nearest to that.
   */
  const EDGE_MAX = 64;
  const MEAN_MAX = 2.55;

  it('agree within a quarter of the range on edges and a hundredth of it in the mean', async () => {
    const svgs = outlinedBadges().flatMap((fields) => [
      renderBadge({ ...fields, scheme: 'light' }),
      renderBadge({ ...fields, scheme: 'dark' }),
    ]);
    const seen = await pixelsOf(page, svgs.map(address));
    const differences = svgs.map((svg, index) => {
      const drawn = new Resvg(svg, { fitTo: { mode: 'zoom', value: 2 }, font: { loadSystemFonts: false } }).render()
        .pixels;
      return difference(bytesOf(seen[index] ?? ''), drawn);
    });
    const worst = {
      edge: Math.max(...differences.map(({ edge }) => edge)),
      mean: Math.max(...differences.map(({ mean }) => mean)),
    };
    expect(worst.edge).toBeLessThanOrEqual(EDGE_MAX);
    expect(worst.mean).toBeLessThanOrEqual(MEAN_MAX);
    expect(worst.edge, 'they are two renderers').toBeGreaterThan(0);
  });

  it('would be seen to disagree over one letter', async () => {
    const [one, other] = await pixelsOf(
      page,
      ['99.98%', '99.96%'].map((message) => address(renderBadge({ message, color: 'green' }))),
    );
    expect(difference(bytesOf(one ?? ''), bytesOf(other ?? '')).edge).toBeGreaterThan(EDGE_MAX);
  });
});

describe('schemes', () => {
  /**
   * Where both texts have one ink on one ground but not on the other, they are one path in the fixed badge and two in the
   * other, and the browser smooths long paths a little differently. Another colour differs by far more.
   */
  const SMOOTHING_MAX = 16;

  it.each(['light', 'dark'] as const)('an auto badge is the %s one for who prefers that', async (colorScheme) => {
    const context = await browser.newContext({ colorScheme });
    const tab = await context.newPage();
    const fields = outlinedBadges();
    const [auto, fixed] = await Promise.all([
      pixelsOf(
        tab,
        fields.map((one) => address(renderBadge({ ...one, scheme: 'auto' }))),
      ),
      pixelsOf(
        tab,
        fields.map((one) => address(renderBadge({ ...one, scheme: colorScheme }))),
      ),
    ]);
    const worst = auto.map((one, index) => difference(bytesOf(one), bytesOf(fixed[index] ?? '')).edge);
    expect(Math.max(...worst)).toBeLessThanOrEqual(SMOOTHING_MAX);
    await context.close();
  });

  it('many badges in one document keep their own colours', async () => {
    const context = await browser.newContext({ colorScheme: 'dark' });
    const tab = await context.newPage();
    const svgs = outlinedBadges().map((fields) => renderBadge(fields));
    await tab.setContent(svgs.join(''));
    const inlined = await fillsOf(tab);
    const alone: string[] = [];
    for (const svg of svgs) {
      await tab.setContent(svg);
      alone.push(...(await fillsOf(tab)));
    }
    expect(inlined).toEqual(alone);
    expect(new Set(inlined).size).toBeGreaterThan(6);
    await context.close();
  });

  function fillsOf(tab: Page): Promise<string[]> {
    return tab.evaluate(() =>
      Array.from(document.querySelectorAll('svg path, svg circle'), (element) => {
        const { fill, stroke } = getComputedStyle(element);
        return `${fill} ${stroke}`;
      }),
    );
  }
});

it("the browser's XML parser takes 10,000 awkward labels", async () => {
  const texts = awkwardTexts(Math.ceil(10_000 * SCALE), 3);
  const svgs = texts.map((label) => renderBadge({ label, message: label, color: 'red' }));
  const faults = await page.evaluate(
    (documents) => {
      const parser = new DOMParser();
      return documents.filter(
        (text) => parser.parseFromString(text, 'image/svg+xml').querySelector('parsererror') !== null,
      );
    },
    [...svgs, '<svg>\u0001</svg>'],
  );
  expect(faults).toEqual(['<svg>\u0001</svg>']);
});

it("text in the viewer's fonts stays on its plate, whatever its script", async () => {
  for (const label of ['العربية', 'עברית', 'العربية 99.9% עברית', 'Ελληνικά ไทย']) {
    await page.setContent(renderBadge({ label, message: 'ok', color: 'green' }));
    const { text, plate } = await page.evaluate(() => {
      const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect().toJSON() as DOMRect;
      return { text: box('svg text'), plate: box('svg path') };
    });
    expect(text.left, label).toBeGreaterThanOrEqual(plate.left + 3);
    expect(text.right, label).toBeLessThanOrEqual(plate.right - 3);
  }
});

it('a badge is announced as one picture with its name', async () => {
  await page.setContent(renderBadge({ label: 'uptime', message: '99.98%', color: 'green' }));
  expect(await page.getByRole('img', { name: 'uptime: 99.98%', exact: true }).count()).toBe(1);
});

it('a sheet of all styles, states and kinds is left to look at', async () => {
  const context = await browser.newContext({ deviceScaleFactor: 2, viewport: { width: 1840, height: 600 } });
  const tab = await context.newPage();
  await tab.setContent(await badgeSheet());
  const broken = await tab.evaluate(
    () => Array.from(document.images).filter(({ complete, naturalWidth }) => !complete || naturalWidth === 0).length,
  );
  expect(broken).toBe(0);
  await writeFile(join(ARTEFACTS, 'badges-sheet.png'), await tab.screenshot({ fullPage: true }));
  await context.close();
});
