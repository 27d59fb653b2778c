/** Every kind of page, in everything that a browser can be set to, in the widths that matter. */

import type { Browser } from 'playwright-core';
import type { PageModel } from '../../src/model/index.ts';
import type { Rendered, Renderer } from '../../src/publish/draw/renderer.ts';
import { preparing } from '../../src/server/visitors/page-answer.ts';
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
  /** In which mode it is tried by default; null: in none, since its like is. */
  readonly mode: Mode | null;
}

/** Pages of the first model take turns in these, so that each is tried in widths and modes; Arabic has turns of its own. */
const LOCALES = ['en', 'de', 'ja', 'fr', 'ko', 'es', 'zh-Hans', 'it', 'pt-BR'];
const spoken = (locale: string, index: number): PageModel =>
  outage({ settings: { locale, languages: { all: [...LOCALES, 'ar'], path: index === 0 ? '' : `${locale}/` } } });

const ARABIC = { settings: { locale: 'ar', timezone: 'Asia/Riyadh' } };

interface Drawable {
  readonly name: string;
  readonly page: PageUnderTest;
  readonly mode: Mode | null;
}

/** All pages, drawn once: each kind with ordinary and with hostile content, situations, and all that again in Arabic. */
export async function matrixPages(renderer: Renderer): Promise<MatrixPage[]> {
  const situations = [
    ...sceneStatusPages().filter(({ name }) => !['outage', 'right-to-left', 'many-components'].includes(name)),
    { name: '300-components', model: manyComponents(300) },
  ];
  const drawables: readonly Drawable[] = [
    ...ofModel('', ...LOCALES.map(spoken)),
    ...ofModel('hostile-', hostilePage()),
    ...ofModel('rtl-', rightToLeft()),
    ...ofModel('rtl-hostile-', hostilePage(ARABIC)),
    { name: 'ops-hostile', page: { path: '', kind: 'ops', view: hostileOps() }, mode: 'zoom' },
    ...situations.map(({ name, model }, turn) => ({
      name,
      page: statusPage(model),
      mode: inTurn(LEFT_TO_RIGHT, turn),
    })),
  ];
  const drawn = drawables.map(async ({ page, ...rest }) => ({ ...rest, page: await render(renderer, page) }));
  return [...(await Promise.all(drawn)), ...['en', 'ar'].map(beingPrepared)].map((one) => ({
    ...one,
    isRightToLeft: /<html[^>]* dir="rtl"/.test(one.page.html),
  }));
}

const OPERATORS = ['ops', 'ops-sign-in', 'ops-write'];
const LEFT_TO_RIGHT = MODES.filter((mode) => mode !== 'right-to-left');
const NOT_LIGHT = MODES.filter((mode) => mode !== 'light');

const inTurn = <T>(list: readonly T[], turn: number): T => list[turn % list.length] as T;

/**
 * By default each kind is tried in the light mode, where every rule holds, with ordinary or with hostile content, and with the
 * other in another mode. Pages of a kind beside its first are tried once. They take turns, so all meet all of it.
 */
function ofModel(prefix: '' | 'hostile-' | 'rtl-' | 'rtl-hostile-', ...models: readonly PageModel[]): Drawable[] {
  const each = models.map((model) => onePageOfEachKind(model));
  const pages = (each[0] ?? []).map((page, turn) => inTurn(each, turn)[turn] ?? page);
  const firsts = new Set([...Map.groupBy(pages, ({ kind }) => kind).values()].map(([page]) => page));
  const isHostile = prefix.endsWith('hostile-');
  return pages.flatMap((page, turn) => {
    const name = `${prefix}${page.kind}${nth(page)}`;
    // Operators' pages speak English, whatever the site speaks, and say little of what others write.
    if (OPERATORS.includes(page.kind)) return prefix === '' ? [{ name, page, mode: 'light' }] : [];
    if (name === 'rtl-status-page') return [{ name, page, mode: 'right-to-left' }];
    const isFirstTurn = isHostile === (turn % 2 === 1);
    if (firsts.has(page)) return [{ name, page, mode: isFirstTurn ? 'light' : inTurn(NOT_LIGHT, turn) }];
    return [{ name, page, mode: isFirstTurn ? inTurn(MODES, turn) : null }];
  });
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
    mode: locale === 'ar' ? 'right-to-left' : 'light',
  };
}

export interface Cell {
  readonly page: MatrixPage;
  readonly mode: Mode;
  readonly width: Width;
}

/** Which cells are tried: all of them (`isWhole`), or those whose turn it is, at widths that take turns too. */
export function cellsOf(pages: readonly MatrixPage[], mode: Mode, isWhole: boolean): Cell[] {
  return pages
    .filter(({ isRightToLeft }) => isRightToLeft === (mode === 'right-to-left'))
    .filter((page) => isWhole || page.mode === mode)
    .flatMap((page, turn) => (isWhole ? WIDTHS : [inTurn(WIDTHS, turn)]).map((width) => ({ page, mode, width })));
}

/** Zoomed to 200 %, a window has half as many pixels; a phone, which zooms otherwise, has letters twice as large. */
export function viewportOf({ mode, width }: Cell): { readonly width: number; readonly height: number } {
  return { width: mode === 'zoom' && width > 400 ? width / 2 : width, height: width > 400 ? 900 : 780 };
}

export const isTextZoomed = ({ mode, width }: Cell): boolean => mode === 'zoom' && width <= 400;
