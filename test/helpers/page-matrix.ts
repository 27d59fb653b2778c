/** Every kind of page, in everything that a browser can be set to, in the widths that matter. */

import type { Browser } from 'playwright-core';
import type { PageModel } from '../../src/model/index.ts';
import type { Rendered, Renderer } from '../../src/publish/draw/renderer.ts';
import { preparing } from '../../src/server/visitors/preparing.ts';
import { opsView } from '../../src/views/operators/ops.ts';
import { onePageOfEachKind, type PageUnderTest, render, sceneStatusPages } from './every-page.ts';
import { hostileOpsFacts, hostilePage } from './hostile-page.ts';
import { manyComponents, outage, rightToLeft } from './page-scenes.ts';

export const WIDTHS = [320, 390, 820, 1_280] as const;
export type Width = (typeof WIDTHS)[number];

export const MODES = ['light', 'dark', 'right-to-left', 'no-script', 'zoom', 'forced-colours', 'print'] as const;
export type Mode = (typeof MODES)[number];

export const OPTIONS: Readonly<Record<Mode, Parameters<Browser['newContext']>[0]>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  'right-to-left': { colorScheme: 'light' },
  'no-script': { javaScriptEnabled: false },
  zoom: {},
  'forced-colours': { forcedColors: 'active' },
  print: {},
};

export interface MatrixPage {
  /** Its path on the server of the test: unique. */
  readonly name: string;
  readonly page: Rendered;
  readonly isRightToLeft: boolean;
  /** When its turn is: that of its kind, and one later with hostile content. */
  readonly turn: number;
}

const ARABIC = { settings: { locale: 'ar', timezone: 'Asia/Riyadh' } };

interface Drawable {
  readonly name: string;
  readonly page: PageUnderTest;
  readonly turn: number;
}

/** All pages, drawn once: each kind with ordinary and with hostile content, situations, and all that again in Arabic. */
export async function matrixPages(renderer: Renderer): Promise<MatrixPage[]> {
  const situations = [
    ...sceneStatusPages().filter(({ name }) => !['outage', 'right-to-left', 'many-components'].includes(name)),
    { name: '300-components', model: manyComponents(300) },
  ];
  const drawables: readonly Drawable[] = [
    ...ofModel('', outage()),
    ...ofModel('hostile-', hostilePage(), 1),
    ...ofModel('rtl-', rightToLeft()),
    ...ofModel('rtl-hostile-', hostilePage(ARABIC), 1),
    { name: 'ops-hostile', page: { path: '', kind: 'ops', view: hostileOps() }, turn: 1 },
    ...situations.map(({ name, model }, turn) => ({ name, page: statusPage(model), turn })),
  ];
  const drawn = drawables.map(async ({ page, ...rest }) => ({ ...rest, page: await render(renderer, page) }));
  return [...(await Promise.all(drawn)), ...['en', 'ar'].map(beingPrepared)].map((one) => ({
    ...one,
    isRightToLeft: /<html[^>]* dir="rtl"/.test(one.page.html),
  }));
}

const OPERATORS = ['ops', 'ops-sign-in', 'ops-write'];

/** Operators' pages speak English, whatever the site speaks. */
function ofModel(prefix: string, model: PageModel, late = 0): Drawable[] {
  return onePageOfEachKind(model)
    .map((page, turn) => ({ name: `${prefix}${page.kind}${nth(page)}`, page, turn: turn + late }))
    .filter(({ page }) => prefix === '' || !OPERATORS.includes(page.kind));
}

/** Of the kinds of which there are several: which. */
function nth({ kind, path }: PageUnderTest): string {
  const isOneOfSeveral = kind === 'login' || kind === 'subscribe' || path === 'site-404/';
  return isOneOfSeveral ? `-${path.slice(0, -1).replace('/', '-')}` : '';
}

function statusPage(model: PageModel): PageUnderTest {
  const [page] = onePageOfEachKind(model);
  if (page === undefined) throw new Error('A page of each kind begins with the status page');
  return page;
}

function hostileOps() {
  return opsView(hostileOpsFacts(), { formToken: 'x', notice: 'A run is queued.' });
}

/** What the server says of a page before its first data, as it stands there but for loading itself again. */
function beingPrepared(locale: string): Omit<MatrixPage, 'isRightToLeft'> {
  const { body, headers } = preparing('index.html', locale);
  const html = String(body).replace(/<meta http-equiv="refresh"[^>]*>/, '');
  return {
    name: locale === 'ar' ? 'rtl-being-prepared' : 'being-prepared',
    page: { html, csp: String(headers['content-security-policy']) },
    turn: 0,
  };
}

export interface Cell {
  readonly page: MatrixPage;
  readonly mode: Mode;
  readonly width: Width;
}

/** Modes in which by default every other kind is tried. */
const RARER: readonly Mode[] = MODES.filter((mode) => mode !== 'light');

/**
 * Which cells are tried: all of them (`isWhole`), or each kind once, with ordinary or with hostile content and at one width:
 * they take turns, so that every kind meets both and every width, and so does every mode.
 */
export function cellsOf(pages: readonly MatrixPage[], mode: Mode, isWhole: boolean): Cell[] {
  const shift = MODES.indexOf(mode);
  return pages
    .filter(({ isRightToLeft }) => isRightToLeft === (mode === 'right-to-left'))
    .flatMap((page) => {
      const half = Math.floor(page.turn / 2);
      const isTurn = (page.turn + shift) % 2 === 0 && !(RARER.includes(mode) && half % 2 === 1);
      if (!isWhole && !isTurn) return [];
      return WIDTHS.filter((_, at) => isWhole || at === (half + shift) % WIDTHS.length).map((width) => ({
        page,
        mode,
        width,
      }));
    });
}

/** Zoomed to 200 %, a window has half as many pixels; a phone, which zooms otherwise, has letters twice as large. */
export function viewportOf({ mode, width }: Cell): { readonly width: number; readonly height: number } {
  return { width: mode === 'zoom' && width > 400 ? width / 2 : width, height: width > 400 ? 900 : 780 };
}

export const isTextZoomed = ({ mode, width }: Cell): boolean => mode === 'zoom' && width <= 400;
