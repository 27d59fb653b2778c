/** The outer forms of badges, in tenths of a pixel. */

import { flattened } from './lettering/text.ts';
import { createMemo, type Memo } from './memo.ts';
import type { BadgeStyle } from './names.ts';

interface Form {
  readonly height: number;
  /** How far a corner reaches along the edge. */
  readonly radius: number;
  /** Between text and the outer edge, and between text and the seam. */
  readonly outside: number;
  readonly inside: number;
  /** Added between letters. */
  readonly tracking: number;
  /** Capitals, the message in bold. */
  readonly isLoud: boolean;
  /** Text elements instead of outlines. */
  readonly isText: boolean;
}

/** A form with the ends that its outlines have in common. */
interface Ends extends Form {
  /** Path from the top edge round the two corners on the right to the bottom edge. */
  readonly rightEnd: string;
  /** Path from the bottom edge round the two corners on the left to the top edge. */
  readonly leftEnd: string;
}

export interface Shape extends Ends {
  /** What depends on a width alone, by that width: many badges have the same label. */
  readonly openings: Memo<string, number>;
  readonly firstPlates: Memo<string, number>;
}

/** More widths than any site's labels have. */
const WIDTHS_MAX = 512;

function withEnds(form: Form): Ends {
  const { height, radius: r } = form;
  const corner = `a${r} ${r} 0 0 1`;
  const side = height - 2 * r;
  return {
    ...form,
    rightEnd: flattened(
      r === 0 ? `v${height}` : `${corner} ${r} ${r}${side === 0 ? '' : `v${side}`}${corner}-${r} ${r}`,
    ),
    leftEnd: flattened(r === 0 ? 'z' : `${corner}-${r}-${r}${side === 0 ? '' : `v-${side}`}${corner} ${r}-${r}z`),
  };
}

function shape(form: Form): Shape {
  return {
    ...withEnds(form),
    openings: createMemo(WIDTHS_MAX),
    firstPlates: createMemo(WIDTHS_MAX),
  };
}

const flat: Form = { height: 200, radius: 30, outside: 60, inside: 50, tracking: 0, isLoud: false, isText: false };
const square: Form = { ...flat, radius: 0 };
const pill: Form = { ...flat, radius: 100, outside: 90, inside: 60 };
const tall: Form = { ...flat, height: 280, radius: 40, outside: 110, inside: 100, tracking: 8, isLoud: true };
const FLAT = shape(flat);

export const SHAPES: Readonly<Record<Exclude<BadgeStyle, 'dot'>, Shape>> = {
  flat: FLAT,
  square: shape(square),
  pill: shape(pill),
  tall: shape(tall),
  bars: FLAT,
  spark: FLAT,
  'flat-text': shape({ ...flat, isText: true }),
  'square-text': shape({ ...square, isText: true }),
  'pill-text': shape({ ...pill, isText: true }),
  'tall-text': shape({ ...tall, isText: true }),
};

/** The form that lies inside another, `by` away from its edges. */
export function inset(outer: Form, by: number): Ends {
  return withEnds({ ...outer, height: outer.height - 2 * by, radius: Math.max(0, outer.radius - by) });
}

export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** Whether these ends are the badge's own, and so have its corners. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** The document's first tag, up to the name that is its label. */
export function opening(width: number, { height, openings }: Shape): string {
  const known = openings.get(width);
  if (known !== undefined) return known;
  const tag = flattened(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width / 10}" height="${height / 10}" viewBox="0 0 ${width} ${height}" role="img" aria-label="`,
  );
  openings.set(width, tag);
  return tag;
}

/** The outline of one plate of a badge. */
export function platePath(stretch: Stretch, shape: Shape): string {
  const { from, to, isFirst, isLast } = stretch;
  if (from !== 0 || !isFirst || isLast) return outline(stretch, shape);
  const known = shape.firstPlates.get(to);
  if (known !== undefined) return known;
  const path = flattened(outline(stretch, shape));
  shape.firstPlates.set(to, path);
  return path;
}

/** The same of any plate, and of what lies inside one. */
export function outline({ from, to, isFirst, isLast }: Stretch, { radius, height, rightEnd, leftEnd }: Ends): string {
  const top = `M${isFirst ? from + radius : from} 0H${isLast ? to - radius : to}`;
  const bottom = isFirst ? `H${from + radius}${leftEnd}` : `H${from}z`;
  return top + (isLast ? rightEnd : `v${height}`) + bottom;
}
