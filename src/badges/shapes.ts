/** The outer forms of badges, in tenths of a pixel. */

import { flattened } from './lettering/text.ts';
import type { BadgeStyle } from './names.ts';

/**
 * `radius`: how far a corner reaches along the edge. `outside` and `inside`: between text and the outer edge, and between text and the
 * seam. `tracking`: added between letters. `isLoud`: capitals, the message in bold. `isText`: text elements instead of outlines.
 */
type Form = Readonly<typeof flat>;

type Ends = ReturnType<typeof withEnds>;

/** A form with the ends that its outlines have in common. */
function withEnds(form: Form) {
  const { height, radius: r } = form;
  const corner = `a${r} ${r} 0 0 1`;
  const side = height - 2 * r;
  return {
    ...form,
    /** Path from the top edge round the two corners on the right to the bottom edge. */
    rightEnd: flattened(
      r === 0 ? `v${height}` : `${corner} ${r} ${r}${side === 0 ? '' : `v${side}`}${corner}-${r} ${r}`,
    ),
    /** Path from the bottom edge round the two corners on the left to the top edge. */
    leftEnd: flattened(r === 0 ? 'z' : `${corner}-${r}-${r}${side === 0 ? '' : `v-${side}`}${corner} ${r}-${r}z`),
  };
}

/** The height of badge that the outlines' baseline is made for, and that baseline. */
const OUTLINE_HEIGHT = 200;
const BASELINE = 140;

/** Longer badges than any site has; what is longer is written anew every time. */
const WIDTH_MAX = 5_120;

/** What depends on a width alone, made once for each: many badges have the same width. @param step  between widths */
function byWidth(write: (width: number) => string, step = 10): (width: number) => string {
  let known: string[] | null = null;
  return (width) => {
    if (width >= WIDTH_MAX) return write(width);
    // Filled, so that a look into it is the same for V8 whether or not something is there.
    known ??= new Array<string>(WIDTH_MAX / step).fill('');
    const place = width / step;
    const written = known[place] || flattened(write(width));
    known[place] = written;
    return written;
  };
}

/** Where the outline of a text begins. */
export const penAt = byWidth((x) => `M${x} ${BASELINE}`, 1);

export type Shape = ReturnType<typeof shape>;

function shape(form: Form) {
  const ends = withEnds(form);
  const { height } = form;
  const lift = (height - OUTLINE_HEIGHT) / 2;
  return {
    ...ends,
    baseline: BASELINE + lift,
    /** The document's first tag, up to the name that is its label. */
    opening: byWidth(
      (width) =>
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width / 10}" height="${height / 10}" viewBox="0 0 ${width} ${height}" role="img" aria-label="`,
    ),
    /** The outline of the plate before a seam. */
    firstPlate: byWidth((to) => `${outline({ from: 0, to, isFirst: true, isLast: false }, ends)}"/>`),
    /** Of the plate behind one, from the end of its top edge to its left. */
    lastPlate: byWidth((width) => `H${width - ends.radius}${ends.rightEnd}`),
    /** Whether outlines have to be lowered by `LIFT`, from the baseline that they are made for. */
    isLifted: lift !== 0,
  };
}

const flat = { height: 200, radius: 30, outside: 60, inside: 50, tracking: 0, isLoud: false, isText: false };
const square: Form = { ...flat, radius: 0 };
const pill: Form = { ...flat, radius: 100, outside: 90, inside: 60 };
const tall: Form = { ...flat, height: 280, radius: 40, outside: 110, inside: 100, tracking: 8, isLoud: true };
const FLAT = shape(flat);
/** Of the one height that is not `OUTLINE_HEIGHT`. */
export const LIFT = (tall.height - OUTLINE_HEIGHT) / 2;

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

/** Where the outline of the plate behind a seam begins, and where it ends. */
const seamStart = byWidth((seam) => `M${seam} 0`);
const seamEnd = byWidth((seam) => `H${seam}z"/>`);

/** The outline of one plate of a badge, and the end of the path that it is the data of. */
export function platePath(stretch: Stretch, shape: Shape): string {
  const { from, to, isFirst, isLast } = stretch;
  if (isFirst === isLast) return `${outline(stretch, shape)}"/>`;
  return isFirst ? shape.firstPlate(to) : seamStart(from) + shape.lastPlate(to) + seamEnd(from);
}

/** The outline of any plate, and of what lies inside one. */
export function outline({ from, to, isFirst, isLast }: Stretch, { radius, height, rightEnd, leftEnd }: Ends): string {
  const top = `M${isFirst ? from + radius : from} 0H${isLast ? to - radius : to}`;
  const bottom = isFirst ? `H${from + radius}${leftEnd}` : `H${from}z`;
  return top + (isLast ? rightEnd : `v${height}`) + bottom;
}
