/**
 * The social image of a page: 1200 × 630, PNG. Text is laid out by satori with fonts that come along, so that it looks
 * the same on every machine; signs and days are drawn directly. The libraries are loaded when the first image is drawn.
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Font } from 'satori';
import type { State } from '../../model/index.ts';
import type { SocialView } from '../../views/badges/social.ts';
import { once } from '../fingerprint.ts';
import { SIGNS } from './favicon.ts';
import { DARK, LIGHT, type SocialPalette } from './social-palette.ts';

const WIDTH = 1200;
const HEIGHT = 630;
const MARGIN = 72;
const SKY_HEIGHT = 408;
const BARS_BOTTOM = 530;
const SIGN_SIZE = 132;
const BESIDE_SIGN_WIDTH = WIDTH - 2 * MARGIN - SIGN_SIZE - 40;

/** The image as PNG. Takes about a tenth of a second of one core, and more the first time. */
export async function socialImage(view: SocialView): Promise<Uint8Array> {
  const { satori, Resvg, fonts } = await libraries();
  const palette = view.isDark ? DARK : LIGHT;
  const text = await satori(layoutOf(view, palette), { width: WIDTH, height: HEIGHT, fonts });
  const svg = text.replace(/<\/svg>\s*$/, `${signOf(view, palette)}${barsOf(view, palette)}</svg>`);
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
}

/** Loaded once: satori keeps what it learned of a font by the identity of its bytes. */
const libraries = once(async () => {
  const [{ default: satori }, { Resvg }, fonts] = await Promise.all([
    import('satori'),
    import('@resvg/resvg-js'),
    loadFonts(),
  ]);
  return { satori, Resvg, fonts };
});

const SUBSETS = ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'vietnamese'] as const;
const WEIGHTS = [500, 700] as const;

/** Each subset under a name of its own, since of one name only one font is asked for a letter. */
async function loadFonts(): Promise<Font[]> {
  const { resolve } = createRequire(import.meta.url);
  return Promise.all(
    SUBSETS.flatMap((subset) =>
      WEIGHTS.map(async (weight) => {
        const data = await readFile(resolve(`@fontsource/inter/files/inter-${subset}-${weight}-normal.woff`));
        return { name: subset, weight, style: 'normal', data } satisfies Font;
      }),
    ),
  );
}

type Style = Readonly<Record<string, string | number>>;

const ONE_LINE: Style = { display: 'block', whiteSpace: 'nowrap', overflow: 'hidden', textOverflow: 'ellipsis' };

/** An element as satori takes it, without JSX. */
interface Box {
  readonly type: 'div';
  readonly props: { readonly style: Style; readonly children: string | readonly Box[] };
}

function box(style: Style, children: Box['props']['children']): Box {
  return { type: 'div', props: { style: { display: 'flex', ...style }, children } };
}

function layoutOf(view: SocialView, { paper, quiet, header }: SocialPalette): Box {
  const { background, ink } = header[view.state];
  const head = box(
    {
      flexDirection: 'column',
      justifyContent: 'space-between',
      width: WIDTH,
      height: SKY_HEIGHT,
      boxSizing: 'border-box',
      padding: `56px ${MARGIN}px 52px`,
      backgroundColor: background,
      color: ink,
    },
    [
      box({ ...ONE_LINE, fontSize: 36, fontWeight: 700, letterSpacing: -0.5, width: BESIDE_SIGN_WIDTH }, view.title),
      box({ flexDirection: 'column' }, [
        box(
          {
            fontSize: sentenceSize(view.sentence),
            fontWeight: 700,
            letterSpacing: -2,
            lineHeight: 1.1,
            width: BESIDE_SIGN_WIDTH,
          },
          view.sentence,
        ),
        box(
          {
            fontSize: 30,
            fontWeight: 500,
            lineHeight: 1.3,
            marginTop: 14,
            width: WIDTH - 2 * MARGIN,
            display: 'block',
            lineClamp: 2,
          },
          view.detail,
        ),
      ]),
    ],
  );
  const foot = box(
    {
      justifyContent: 'space-between',
      position: 'absolute',
      left: MARGIN,
      top: BARS_BOTTOM + 18,
      width: WIDTH - 2 * MARGIN,
      fontSize: 24,
      fontWeight: 500,
      color: quiet,
    },
    [box({}, view.daysFrom), box({ ...ONE_LINE, maxWidth: 640 }, view.address), box({}, view.daysTo)],
  );
  return box({ width: WIDTH, height: HEIGHT, backgroundColor: paper, fontFamily: SUBSETS.join(', ') }, [head, foot]);
}

/** Long sentences of some languages stay on two lines. */
function sentenceSize(sentence: string): number {
  if (sentence.length <= 24) return 76;
  return sentence.length <= 40 ? 64 : 52;
}

/** The state's sign in the corner. On a loud background the colours change places. */
function signOf({ state }: SocialView, palette: SocialPalette): string {
  const { outline, sign } = SIGNS[state];
  const { background } = palette.header[state];
  const isLoud = state === 'major_outage';
  const fill = isLoud ? '#ffffff' : palette.state[state];
  const scale = SIGN_SIZE / 32;
  return (
    `<g transform="translate(${WIDTH - MARGIN - SIGN_SIZE} 56) scale(${scale})">` +
    `<path fill="${fill}" d="${outline}"/>` +
    `<path fill="none" stroke="${background}" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" d="${sign}"/></g>`
  );
}

/** Heights as well as colours tell the days apart: the worse, the taller; what was not seen is a stub. */
const BAR_HEIGHTS: Readonly<Record<State, number>> = {
  major_outage: 84,
  partial_outage: 74,
  degraded: 64,
  operational: 52,
  maintenance: 40,
  paused: 14,
  unknown: 14,
};

function barsOf({ days }: SocialView, palette: SocialPalette): string {
  const pitch = (WIDTH - 2 * MARGIN) / days.length;
  return days
    .map((state, index) => {
      const height = BAR_HEIGHTS[state];
      const x = (MARGIN + index * pitch).toFixed(2);
      const fill = state === 'unknown' || state === 'paused' ? palette.line : palette.state[state];
      return `<rect x="${x}" y="${BARS_BOTTOM - height}" width="${(pitch * 0.66).toFixed(2)}" height="${height}" rx="3" fill="${fill}"/>`;
    })
    .join('');
}
