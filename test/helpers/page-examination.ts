/** What can be wrong with a page as it stands in a browser, each as a sentence that names the place. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type Axe from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** For documents of a context that is to be examined: half a megabyte that is sent once, and compiled once for all of them. */
export const AXE_SCRIPT = `globalThis.loadAxe = () => { ${AXE}; return globalThis.axe; };`;

/** Works where the page's own script may not run, and past its policy. */
const onPage = <Result, Argument>(
  page: Page,
  run: (root: HTMLElement, argument: Argument) => Result | Promise<Result>,
  argument: Argument,
) => page.locator('html').evaluate(run as never, argument) as Promise<Result>;

/** Unfolds everything but the menus of the header, which lie above the page one at a time. */
export function unfold(page: Page): Promise<void> {
  return onPage(
    page,
    (root) => {
      for (const one of root.querySelectorAll<HTMLDetailsElement>('details:not(.menu)')) one.open = true;
    },
    null,
  );
}

/** Opens the nth menu of the header and folds the others; false: there are not so many. */
export function openMenu(page: Page, index: number): Promise<boolean> {
  return onPage(
    page,
    (root, at) => {
      // On a phone all of them are in one that unfolds.
      const sections = root.querySelector<HTMLElement>('#sections');
      if (sections && !sections.checkVisibility()) sections.showPopover();
      const menus = [...root.querySelectorAll<HTMLDetailsElement>('.menu')].filter((one) => one.checkVisibility());
      for (const [n, one] of menus.entries()) one.open = n === at;
      if (at >= menus.length && sections?.matches(':popover-open')) sections.hidePopover();
      return at < menus.length;
    },
    index,
  );
}

/**
 * What is wider than the window, or begins outside of it where nobody can scroll to, and text that is cut off by its own
 * element without a way to scroll to the rest.
 */
export function overflowOf(page: Page): Promise<string[]> {
  return onPage(
    page,
    (root) => {
      const width = root.clientWidth;
      const faults: string[] = [];
      const said = (element: Element) =>
        `${element.localName}.${element.getAttribute('class') ?? ''} “${(element.textContent ?? '').trim().slice(0, 40)}”`;
      /** Boxes that scroll, and what is there for screen readers only. */
      const isApart = (element: Element | null): boolean => {
        for (let at = element; at && at !== document.body; at = at.parentElement) {
          const { overflowX, clipPath } = getComputedStyle(at);
          if (['auto', 'scroll', 'hidden', 'clip'].includes(overflowX) || clipPath !== 'none') return true;
          if (at.matches('.skip, svg')) return true;
        }
        return false;
      };
      if (root.scrollWidth > width) faults.push(`is ${root.scrollWidth} pixels wide in a window of ${width}`);
      for (const element of document.body.querySelectorAll('*')) {
        const { left, right, width: own } = element.getBoundingClientRect();
        if (own === 0) continue;
        if ((left < -1 || right > width + 1) && element.checkVisibility() && !isApart(element)) {
          faults.push(`${said(element)} reaches from ${Math.round(left)} to ${Math.round(right)}`);
        }
        if (element.clientWidth < 2 || element.scrollWidth <= element.clientWidth + 1) continue;
        const { overflowX, clipPath, textOverflow } = getComputedStyle(element);
        if (
          ['hidden', 'clip'].includes(overflowX) &&
          element.checkVisibility() &&
          clipPath === 'none' &&
          textOverflow !== 'ellipsis'
        )
          faults.push(`${said(element)} is cut off`);
      }
      return faults.slice(0, 5);
    },
    null,
  );
}

/**
 * Words of up to fourteen letters that are broken in the middle, though any place of a page has room for them. What no-break
 * spaces join is one word.
 */
export function brokenWordsOf(page: Page): Promise<string[]> {
  return onPage(
    page,
    (root) => {
      const faults = new Set<string>();
      const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      const range = document.createRange();
      while (texts.nextNode()) {
        const { currentNode: text } = texts;
        const parent = text.parentElement;
        if (!parent?.checkVisibility() || parent.closest('code, pre, script, style, .vh')) continue;
        for (const { 0: word, index } of (text.textContent ?? '').matchAll(
          /(?<![\S\u00a0])[\p{L}\p{M}]{2,14}(?![\S\u00a0])/gu,
        )) {
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
          // Every sign of these is a place to break at.
          if (new Set(tops).size > 1 && !/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u.test(word))
            faults.add(`${word} is broken in ${parent.localName} “${(text.textContent ?? '').trim().slice(0, 40)}”`);
        }
      }
      return [...faults].slice(0, 5);
    },
    null,
  );
}

/** What has moved since the page was opened, of a page that nobody has touched: there may be nothing. */
export function layoutShiftsOf(page: Page): Promise<string[]> {
  return onPage(
    page,
    () =>
      new Promise<string[]>((resolve) => {
        const shifts: string[] = [];
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            const { value, sources } = entry as unknown as { value: number; sources: { node: Node | null }[] };
            const names = sources.map(({ node }) => (node as Element | null)?.outerHTML?.slice(0, 80) ?? 'a text');
            // Web Vitals calls a tenth good. A duration that counts on may be a letter longer.
            if (value < 0.001) continue;
            shifts.push(`moves by ${value.toFixed(4)} by itself: ${names.join(', ')}`);
          }
        }).observe({ type: 'layout-shift', buffered: true });
        // What is asked for after loading, such as when the page was checked, comes a moment later.
        setTimeout(() => requestAnimationFrame(() => setTimeout(() => resolve(shifts))), 50);
      }),
    null,
  );
}

export interface Ring {
  readonly name: string;
  /** Red, green, blue as they are seen, 0 to 255. */
  readonly ring: readonly number[];
  readonly ground: readonly number[];
  /** What is seen at the middle of the element while it has the focus is something else. */
  readonly isCovered: boolean;
}

/** Of everything that the tab key reaches: its ring and what it stands on. An element without a ring has that of its ground. */
export async function ringsOf(page: Page): Promise<Ring[]> {
  // From then on a focus counts as one by key.
  await page.keyboard.press('Tab');
  return onPage(
    page,
    () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
      const pen = canvas.getContext('2d', { willReadFrequently: true });
      if (!pen) throw new Error('No canvas');
      const known = new Map<string, number[]>();
      /** Colours laid over each other, the lowest first. Reading from a canvas is slow, and few of them differ. */
      const mixed = (colours: readonly string[]): number[] =>
        known.getOrInsertComputed(colours.join(), () => mixAnew(colours));
      const mixAnew = (colours: readonly string[]): number[] => {
        pen.fillStyle = '#fff';
        pen.fillRect(0, 0, 1, 1);
        for (const colour of colours) {
          pen.fillStyle = colour;
          pen.fillRect(0, 0, 1, 1);
        }
        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
      };
      const groundsFrom = (from: Element | null): string[] => {
        const grounds: string[] = [];
        for (let at = from; at; at = at.parentElement) grounds.unshift(getComputedStyle(at).backgroundColor);
        return [getComputedStyle(document.documentElement).getPropertyValue('background-color'), ...grounds];
      };
      const reached = document.querySelectorAll<HTMLElement>(
        'a[href], button, summary, select, textarea, input:not([type="hidden"]), [tabindex="0"]',
      );
      return [...reached]
        .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.matches(':disabled'))
        .flatMap((element) => {
          element.focus();
          if (document.activeElement !== element) return [];
          // An input that is not seen shows its focus on the label around it.
          const seen = getComputedStyle(element).opacity === '0' ? (element.closest('label') ?? element) : element;
          const { outlineColor, outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(seen);
          const isInside = Number.parseFloat(outlineOffset) < 0;
          const grounds = groundsFrom(isInside ? seen : seen.parentElement);
          const isRing = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
          // Of what is larger than its scroll box or the window, or scrolled to only in part, the middle of what is in sight.
          const [box] = element.getClientRects();
          const scroller = element.parentElement?.closest('section[tabindex], .year')?.getBoundingClientRect();
          const left = Math.max(box?.left ?? 0, scroller?.left ?? 0, 0);
          const right = Math.min(box?.right ?? 0, scroller?.right ?? innerWidth, innerWidth);
          const top = Math.max(box?.top ?? 0, 0);
          const bottom = Math.min(box?.bottom ?? 0, innerHeight);
          const hit = box && document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          return [
            {
              name: element.outerHTML.slice(0, 120),
              ring: mixed(isRing ? [...grounds, outlineColor] : grounds),
              ground: mixed(grounds),
              isCovered: !(hit && (element.contains(hit) || hit.contains(element) || hit.closest('label, #day'))),
            },
          ];
        });
    },
    null,
  );
}

/** WCAG 2.2: of a colour with itself 1, of black with white 21. */
export function contrast(one: readonly number[], other: readonly number[]): number {
  const luminance = (colour: readonly number[]) => {
    const [r = 0, g = 0, b = 0] = colour.map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [bright = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
}

/** Details of days that are not seen whole, by a hit test at the first and the last day of the first bar; none without bars. */
export async function hiddenTipsOf(page: Page): Promise<string[]> {
  const bar = page.locator('.days[role="slider"], .cells[role="slider"]').first();
  if ((await bar.count()) === 0) return [];
  const faults: string[] = [];
  for (const share of [0.002, 0.998]) {
    await bar.scrollIntoViewIfNeeded();
    // Of a calendar that scrolls, what is in sight.
    const [x = 0, y = 0] = await bar.evaluate((element, at) => {
      const { y, height } = element.getBoundingClientRect();
      const middle = y + height / 2;
      const seen = Array.from({ length: innerWidth }, (_, x) => x).filter((x) =>
        element.contains(document.elementFromPoint(x, middle)),
      );
      return [(seen[0] ?? 0) + at * seen.length, middle];
    }, share);
    await page.mouse.move(x, y);
    const seen = await page.evaluate(() => {
      const tip = document.querySelector('#day');
      if (!tip?.matches(':popover-open')) return 'is not open';
      const { left: x1, right: x2, top: y1, bottom: y2 } = tip.getBoundingClientRect();
      const points = [
        [(x1 + x2) / 2, (y1 + y2) / 2],
        [x1 + 8, y1 + 8],
        [x2 - 8, y1 + 8],
        [x1 + 8, y2 - 8],
        [x2 - 8, y2 - 8],
      ];
      const isWhole = points.every(([x = 0, y = 0]) => tip.contains(document.elementFromPoint(x, y)));
      return isWhole ? null : `is covered or sticks out: ${[x1, y1, x2, y2].map(Math.round)}`;
    });
    if (seen !== null) faults.push(`the details of the day at ${share} of the bar: ${seen}`);
    await page.mouse.move(1, 1);
    // It would stay for a moment, over what is looked at next.
    await page.evaluate(() => document.querySelector<HTMLElement>('#day:popover-open')?.hidePopover());
  }
  return faults;
}

/** Rules of axe that the open page breaks, with the first place of each; null: all rules. Its document has had `AXE_SCRIPT`. */
export function axeFaultsOf(page: Page, rules: readonly string[] | null): Promise<string[]> {
  return onPage(
    page,
    async (_, only) => {
      // Lines that stay in sight cover what is scrolled below them.
      scrollTo(0, 0);
      const axe = (globalThis as unknown as { loadAxe: () => Pick<typeof Axe, 'run'> }).loadAxe();
      const { violations } = await axe.run(document, {
        ...(only === null ? {} : { runOnly: { type: 'rule', values: [...only] } }),
        rules: only === null ? { 'target-size': { enabled: true } } : {},
        resultTypes: ['violations'],
        // Style sheets and sounds, which only rules ask for that are off or about sounds; it takes a quarter of the time.
        preload: false,
      });
      return violations.map(
        ({ id, help, nodes: [node] }) => `${id}: ${help}: ${node?.target.join(' ')} ${node?.html.slice(0, 160)}`,
      );
    },
    rules,
  );
}
