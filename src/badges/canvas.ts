/**
 * What a badge is drawn on: its shape, its scheme, and the rules that its style sheet will need.
 *
 * In the scheme `auto` an element gets its colour for dark grounds by a class that is named after that colour, so any
 * number of badges can stand in one document: equal names always mean equal colours.
 */

import { type Colour, inkOn, toHex } from '../looks/colour.ts';
import { flattened } from './lettering/text.ts';
import { createMemo, type Memo } from './memo.ts';
import type { BadgeScheme } from './names.ts';
import { parseColour } from './palette.ts';
import { LIFT, type Shape } from './shapes.ts';

export interface Canvas {
  readonly scheme: BadgeScheme;
  readonly shape: Shape;
  rules: string;
}

/** ` fill="…"`, with its class where the dark ground has another colour. */
export function fill(colour: Colour, canvas: Canvas): string {
  return attribute('fill', colour, canvas);
}

/** The same for strokes. */
export function stroke(colour: Colour, canvas: Canvas): string {
  return attribute('stroke', colour, canvas);
}

function attribute(name: 'fill' | 'stroke', { light, dark }: Colour, canvas: Pick<Canvas, 'scheme' | 'rules'>): string {
  if (canvas.scheme !== 'auto') return ` ${name}="${toHex(canvas.scheme === 'dark' ? dark : light)}"`;
  if (light === dark) return ` ${name}="${toHex(light)}"`;
  const hex = toHex(dark);
  const className = `p${name[0]}${hex.slice(1)}`;
  const rule = `.${className}{${name}:${hex}}`;
  if (!canvas.rules.includes(rule)) canvas.rules += rule;
  return ` ${name}="${toHex(light)}" class="${className}"`;
}

/** Style sheets by their rules; a site needs a few dozen. */
const sheets = createMemo<string>(256);

/** The end of a picture's title, and the `<style>` element for all that was painted; none when every colour suits both grounds. */
export function titleEnd({ rules }: Canvas): string {
  if (rules === '') return '</title>';
  const known = sheets.get(rules);
  if (known !== undefined) return known;
  const sheet = flattened(`</title><style>@media(prefers-color-scheme:dark){${rules}}</style>`);
  sheets.set(rules, sheet);
  return sheet;
}

/** A plate's colour and that of the ink on it, ready to be written. */
export type Paint = ReturnType<typeof mix>;

/** A site uses a few dozen colours; the limit keeps strangers' colours from filling the memory. */
const PAINTS_MAX = 512;
const paints: Readonly<Record<BadgeScheme, Memo<Paint>>> = {
  auto: createMemo(PAINTS_MAX),
  light: createMemo(PAINTS_MAX),
  dark: createMemo(PAINTS_MAX),
};

/** The paint for a colour in the words of `parseColour`; of `fallback` when it is none. */
export function parsePaint(text: string, fallback: Colour, scheme: BadgeScheme): Paint {
  const known = paints[scheme].get(text);
  if (known) return known;
  const parsed = parseColour(text);
  const paint = mix(parsed ?? fallback, scheme);
  if (parsed) paints[scheme].set(text, paint);
  return paint;
}

function mix(colour: Colour, scheme: BadgeScheme) {
  // White or black on each ground, whichever is read better.
  const ink = { light: inkOn(colour.light), dark: inkOn(colour.dark) };
  const canvas = { scheme, rules: '' };
  const plateFill = attribute('fill', colour, canvas);
  const inkFill = flattened(attribute('fill', ink, canvas));
  return {
    colour,
    ink,
    /** As `fill` gives it. */
    inkFill,
    /** The beginnings of paths, up to their data: of a plate, and of letters, as they are and lowered. */
    platePath: flattened(`<path${plateFill} d="`),
    inkPath: flattened(`<path${inkFill} d="`),
    liftedInkPath: flattened(`<path${inkFill} transform="translate(0 ${LIFT})" d="`),
    rules: flattened(canvas.rules),
    /** Its rules behind others, by those; as many as there are plates that stand beside one. */
    rulesBehind: createMemo<string>(16),
  };
}

/** Adds the rules of a paint that is about to be used. */
export function addRules({ rules, rulesBehind }: Paint, canvas: Canvas): void {
  if (canvas.rules === '') canvas.rules = rules;
  else if (rules !== '') {
    const known = rulesBehind.get(canvas.rules);
    const all = known ?? flattened(canvas.rules.includes(rules) ? canvas.rules : canvas.rules + rules);
    if (known === undefined) rulesBehind.set(canvas.rules, all);
    canvas.rules = all;
  }
}
