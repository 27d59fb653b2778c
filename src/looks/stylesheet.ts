/** The colours of the pages as a style sheet; `astro.config.mjs` hands it to the layouts as `virtual:looks.css`. */

import { STATES, type State } from '../model/state.ts';
import { ACCENT, type Colour, INK, LINE, PAPER, QUIET_INK, RAISED, toHex } from './colour.ts';
import { LOOKS, type StateShape } from './states.ts';

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
