/** The outer forms of badges, in tenths of a pixel. */

import type { BadgeStyle } from './names.ts';
import { solid } from './text.ts';

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
}

/** A form with the pieces of text that every badge of it has in common. */
export interface Shape extends Form {
  /** Path from the top edge round the two corners on the right to the bottom edge. */
  readonly rightEnd: string;
  /** Path from the bottom edge round the two corners on the left to the top edge. */
  readonly leftEnd: string;
  /** Attributes of the document between its width and the width in its `viewBox`, and those after that. */
  readonly heightAttributes: string;
  readonly otherAttributes: string;
}

function shape(form: Form): Shape {
  const { height, radius: r } = form;
  const corner = `a${r} ${r} 0 0 1`;
  const side = height - 2 * r;
  return {
    ...form,
    rightEnd: solid(r === 0 ? `v${height}` : `${corner} ${r} ${r}${side === 0 ? '' : `v${side}`}${corner}-${r} ${r}`),
    leftEnd: solid(r === 0 ? 'z' : `${corner}-${r}-${r}${side === 0 ? '' : `v-${side}`}${corner} ${r}-${r}z`),
    heightAttributes: solid(`" height="${height / 10}" viewBox="0 0 `),
    otherAttributes: solid(` ${height}" role="img" aria-label="`),
  };
}

const flat: Form = { height: 200, radius: 30, outside: 60, inside: 50, tracking: 0, isLoud: false };
const FLAT = shape(flat);

export const SHAPES: Readonly<Record<Exclude<BadgeStyle, 'dot'>, Shape>> = {
  flat: FLAT,
  square: shape({ ...flat, radius: 0 }),
  pill: shape({ ...flat, radius: 100, outside: 90, inside: 60 }),
  tall: shape({ height: 280, radius: 40, outside: 110, inside: 100, tracking: 8, isLoud: true }),
  bars: FLAT,
  spark: FLAT,
};

/** The form that lies inside another, `by` away from its edges. */
export function inset(outer: Shape, by: number): Shape {
  return shape({ ...outer, height: outer.height - 2 * by, radius: Math.max(0, outer.radius - by) });
}

export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** Whether these ends are the badge's own, and so have its corners. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** The outline of one plate of a badge. */
export function platePath({ from, to, isFirst, isLast }: Stretch, shape: Shape): string {
  const left = isFirst ? from + shape.radius : from;
  const right = isLast ? to - shape.radius : to;
  return `M${left} 0H${right}${isLast ? shape.rightEnd : `v${shape.height}`}H${left}${isFirst ? shape.leftEnd : 'z'}`;
}
