/** Colours as people write them: names, `#rgb`, `#rrggbb`, `rgb(…)`. */

import type { Colour, Rgb } from '../looks/colour.ts';
import { NAMED_COLOURS } from './palette.ts';

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
