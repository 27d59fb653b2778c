/** A state's shape, filled: for where there is no text beside it. */

import type { State } from '../model/state.ts';
import { toHex } from './colour.ts';
import { LOOKS, type StateShape } from './states.ts';

/** Side of the square that shapes are drawn in. */
export const SHAPE_SIZE = 20;

/** Attributes with a space before each, so that a badge can add a class for dark grounds. */
interface ShapePaint {
  /** `fill` of the shape. */
  readonly fill: string;
  /** `stroke` in the same colour. */
  readonly stroke: string;
  /** `stroke` of its sign. */
  readonly ink: string;
}

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
  const escaped = favicon(state)
    .trim()
    .replaceAll('"', "'")
    .replace(/[<># ]/g, (character) => encodeURIComponent(character));
  return `data:image/svg+xml,${escaped}`;
}
