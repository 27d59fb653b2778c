/** The colours of badges that are no state's, and colours as people write them: names, `#rgb`, `#rrggbb`, `rgb(…)`. */

import { BLACK, type Colour, type Rgb, WHITE } from '../looks/colour.ts';
import { LOOKS } from '../looks/states.ts';

/** For what is neither good nor bad. */
const INFO_COLOUR: Colour = { light: 0x23737a, dark: 0x56b8c0 };
export const LABEL_COLOUR: Colour = { light: 0x35393d, dark: 0x3b4044 };
/** The thin line round the ground that bars are drawn on, which any page may be around. */
export const PANEL_LINE_COLOUR: Colour = { light: 0xcfccc4, dark: 0x3b4044 };

/** Of plates in no known colour. */
export const FALLBACK_COLOUR: Colour = LOOKS.unknown.solid;

/** The states, `info`, and the words people know from other badges. */
const NAMED_COLOURS: ReadonlyMap<string, Colour> = new Map<string, Colour>([
  ...Object.entries(LOOKS).map(([state, { solid }]): [string, Colour] => [state, solid]),
  ['info', INFO_COLOUR],
  ['label', LABEL_COLOUR],
  ['brightgreen', LOOKS.operational.solid],
  ['green', LOOKS.operational.solid],
  ['success', LOOKS.operational.solid],
  ['yellowgreen', { light: 0x5f7a00, dark: 0xa5c24a }],
  ['yellow', LOOKS.degraded.solid],
  ['amber', LOOKS.degraded.solid],
  ['warning', LOOKS.degraded.solid],
  ['orange', LOOKS.partial_outage.solid],
  ['important', LOOKS.partial_outage.solid],
  ['red', LOOKS.major_outage.solid],
  ['critical', LOOKS.major_outage.solid],
  ['blue', LOOKS.maintenance.solid],
  ['informational', LOOKS.maintenance.solid],
  ['purple', { light: 0x6e5494, dark: 0xb795e6 }],
  ['teal', INFO_COLOUR],
  ['cyan', INFO_COLOUR],
  ['grey', FALLBACK_COLOUR],
  ['gray', FALLBACK_COLOUR],
  ['lightgrey', FALLBACK_COLOUR],
  ['lightgray', FALLBACK_COLOUR],
  ['inactive', FALLBACK_COLOUR],
  ['white', { light: WHITE, dark: WHITE }],
  ['black', { light: BLACK, dark: BLACK }],
]);

const HEX = /^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;
const RGB = /^rgb\(\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*[, ]\s*(\d{1,3})\s*\)$/i;

/**
 * The colour meant by a name of the palette (states, the usual badge words, `info`), by `#rgb`, `#rrggbb` with or
 * without the `#`, or by `rgb(r, g, b)`; null for anything else. Only names differ between light and dark grounds.
 */
export function parseColour(text: string): Colour | null {
  const named = NAMED_COLOURS.get(text) ?? NAMED_COLOURS.get(text.trim().toLowerCase());
  if (named) return named;
  const value = parseHex(text.trim()) ?? parseRgb(text.trim());
  return value === null ? null : { light: value, dark: value };
}

function parseHex(text: string): Rgb | null {
  if (!HEX.test(text)) return null;
  const digits = text.startsWith('#') ? text.slice(1) : text;
  const value = Number.parseInt(digits, 16);
  if (digits.length === 6) return value;
  return ((((value >> 8) & 15) * 17) << 16) | ((((value >> 4) & 15) * 17) << 8) | ((value & 15) * 17);
}

function parseRgb(text: string): Rgb | null {
  const parts = RGB.exec(text)?.slice(1).map(Number);
  if (!parts || parts.some((part) => part > 255)) return null;
  const [red = 0, green = 0, blue = 0] = parts;
  return (red << 16) | (green << 8) | blue;
}
