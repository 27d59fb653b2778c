/**
 * How each state looks, wherever it is shown: pages, badges, favicons, social images, the element for other sites. `astro.config.mjs`
 * hands the style sheet to the layouts as `virtual:looks.css`.
 * `test/unit/looks/states.test.ts` holds the contrast of every pair that stands on each other.
 */

import { STATES, type State } from '../model/state.ts';
import { ACCENT, type Colour, colour, INK, LINE, legibleOn, PAPER, QUIET_INK, RAISED, toHex } from './colour.ts';

export interface StateLook {
  /** Of its custom properties in style sheets; states that share a token share their colours. */
  readonly token: string;
  /** A day of a bar is one letter; the class of its mark too. In capitals: with trouble too short for its colour. */
  readonly letter: string;
  readonly shape: StateShape;
  /**
   * How tall the mark of a day is beside the others, 1 to 7: the worse, the taller, so that colour need not tell them
   * apart; what was not seen is a stub.
   */
  readonly height: number;
  /** Plates and filled shapes. The light one is told from white and from black, since a picture may stand on either. */
  readonly solid: Colour;
  /** Words and shapes on paper and on `row`. */
  readonly text: Colour;
  /** The mark of a day, on paper and on every `row`. */
  readonly bar: Colour;
  /** The head of a page about it. Text there is ink, or white where `isLoud`. */
  readonly header: Colour;
  readonly isLoud: boolean;
  /** The row of a component in it. */
  readonly row: Colour;
}

/** Path data in a square of 20, for strokes two wide with round ends and corners. Each begins with an `M`. */
interface StateShape {
  /** Told from the others without colour and without the sign. */
  readonly outline: string;
  readonly sign: string;
}

const CIRCLE = 'M10 2a8 8 0 1 1 0 16a8 8 0 1 1 0-16z';
const TRIANGLE = 'M10 2.5 18.4 17H1.6z';
const DIAMOND = 'M10 1.6 18.4 10 10 18.4 1.6 10z';
const OCTAGON = 'M6.7 2h6.6L18 6.7v6.6L13.3 18H6.7L2 13.3V6.7z';
const SQUARE = 'M5 2.5h10q2.5 0 2.5 2.5v10q0 2.5-2.5 2.5H5q-2.5 0-2.5-2.5V5q0-2.5 2.5-2.5z';

type Tones = Pick<StateLook, 'solid' | 'bar' | 'row'> & Partial<Pick<StateLook, 'header'>>;

/** The header has the colour of the row unless it is given another. */
function tones({ solid, bar, row, header = row }: Tones) {
  return { solid, text: legibleOn([PAPER, row], solid), bar, header, isLoud: header !== row, row };
}

/** Nothing is known, or nobody looks. */
const GREY = tones({
  solid: colour(0x676b6f, 0x8d9194),
  bar: colour(0x767a7e, 0x7f8386),
  row: colour(0xecebe7, 0x212426),
});

export const LOOKS: Readonly<Record<State, StateLook>> = {
  operational: {
    token: 'ok',
    letter: 'o',
    shape: { outline: CIRCLE, sign: 'M6.5 10.3l2.4 2.4 4.6-5' },
    height: 4,
    ...tones({
      solid: colour(0x1f7a49, 0x4fbd84),
      bar: colour(0x43926a, 0x3f9a6b),
      row: colour(0xe3f0e7, 0x15271d),
    }),
  },
  degraded: {
    token: 'degraded',
    letter: 'd',
    shape: { outline: TRIANGLE, sign: 'M10 8v4m0 2.3v.1' },
    height: 5,
    ...tones({
      solid: colour(0xc28410, 0xe2ad3f),
      bar: colour(0xa87812, 0xd9a640),
      row: colour(0xfaeecd, 0x2c240f),
    }),
  },
  partial_outage: {
    token: 'partial',
    letter: 'p',
    shape: { outline: DIAMOND, sign: 'M10 6v4.7m0 2.8v.1' },
    height: 6,
    ...tones({
      solid: colour(0xb5470b, 0xf0874a),
      bar: colour(0xcc5a1f, 0xee8549),
      row: colour(0xfbe2d1, 0x321e11),
    }),
  },
  major_outage: {
    token: 'major',
    letter: 'm',
    shape: { outline: OCTAGON, sign: 'M7.2 7.2l5.6 5.6m0-5.6-5.6 5.6' },
    height: 7,
    ...tones({
      solid: colour(0xc01f2f, 0xf4676f),
      bar: colour(0xc4202f, 0xf4606a),
      row: colour(0xfbe7e6, 0x351619),
      header: colour(0xa91526, 0x7c1220),
    }),
  },
  maintenance: {
    token: 'maintenance',
    letter: 't',
    shape: { outline: SQUARE, sign: 'M10 5.7V10l3 2' },
    height: 3,
    ...tones({
      solid: colour(0x2b66c0, 0x7aacf4),
      bar: colour(0x3f7bd2, 0x6fa5f2),
      row: colour(0xe1ebfa, 0x152236),
    }),
  },
  paused: {
    token: 'unknown',
    letter: 's',
    shape: { outline: SQUARE, sign: 'M8 7v6m4-6v6' },
    height: 1,
    ...GREY,
  },
  unknown: {
    token: 'unknown',
    letter: 'u',
    shape: { outline: CIRCLE, sign: 'M7.8 8.2a2.2 2.2 0 1 1 3.3 1.9c-.8.4-1.1.8-1.1 1.5m0 2.2v.1' },
    height: 1,
    ...GREY,
  },
};

const STATE_OF_LETTER = new Map(STATES.map((state) => [LOOKS[state].letter, state]));

/** The state that a letter of a bar stands for. */
export function stateOfLetter(letter: string): State {
  return STATE_OF_LETTER.get(letter.toLowerCase()) ?? 'unknown';
}

// A state's shape, filled: for where there is no text beside it.

/** Side of the square that shapes are drawn in. */
export const SHAPE_SIZE = 20;

/**
 * Attributes with a space before each, so that a badge can add a class for dark grounds: `fill` and `stroke` of the shape, in the same
 * colour; `ink`: `stroke` of its sign.
 */
type ShapePaint = Readonly<Record<'fill' | 'stroke' | 'ink', string>>;

/** The shape as an SVG group in a square of `SHAPE_SIZE`, its edge half a stroke wider than its outline. */
export function filledShape({ outline, sign }: StateShape, { fill, stroke, ink }: ShapePaint): string {
  return (
    `<g${fill} stroke-width="2" stroke-linecap="round" stroke-linejoin="round">` +
    `<path${stroke} d="${outline}"/><path fill="none"${ink} d="${sign}"/></g>`
  );
}

/** The favicon of a page in the state: an SVG document of about 300 bytes. */
export function favicon(state: State): string {
  const { shape, solid } = LOOKS[state];
  const hex = toHex(solid.light);
  const picture = filledShape(shape, { fill: ` fill="${hex}"`, stroke: ` stroke="${hex}"`, ink: ' stroke="#fff"' });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox=".5 .5 19 19">${picture}</svg>\n`;
}

/** The same as a `data:` address, with which a page needs no second request. */
export function faviconAddress(state: State): string {
  return addresses.getOrInsertComputed(state, () => {
    const escaped = favicon(state)
      .trim()
      .replaceAll('"', "'")
      .replace(/[<># ]/g, (character) => encodeURIComponent(character));
    return `data:image/svg+xml,${escaped}`;
  });
}

const addresses = new Map<State, string>();

/**
 * Custom properties of every colour, and for each state a class `s-<state>` that sets `--s` (words and shapes),
 * `--header` (the top of a page) and `--tint` (the row of a component). `--pharos-…` are the operator's (docs/theme.md).
 */
export function looksStylesheet(): string {
  const properties = new Map([
    ['--paper', `var(--pharos-paper,${lightDark(PAPER)})`],
    ['--raised', lightDark(RAISED)],
    ['--ink', `var(--pharos-ink,${lightDark(INK)})`],
    ['--ink-2', lightDark(QUIET_INK)],
    ['--line', lightDark(LINE)],
    ['--accent', `var(--pharos-accent,${lightDark(ACCENT)})`],
  ]);
  const rules = STATES.map((state) => {
    const { token, text, bar, header, row, isLoud } = LOOKS[state];
    properties.set(`--${token}`, lightDark(text));
    properties.set(`--${token}-bar`, lightDark(bar));
    properties.set(`--${token}-header`, lightDark(header));
    const tint = isLoud ? 'tint' : 'header';
    if (isLoud) properties.set(`--${token}-${tint}`, lightDark(row));
    return `.s-${state}{--s:var(--${token});--header:var(--${token}-header);--tint:var(--${token}-${tint});}\n`;
  });
  const declarations = [...properties].map(([name, value]) => `${name}:${value};\n`);
  return `:root{color-scheme:light dark;\n${declarations.join('')}}\n${rules.join('')}`;
}

/** As a value of CSS. */
export function lightDark({ light, dark }: Colour): string {
  return `light-dark(${toHex(light)},${toHex(dark)})`;
}
