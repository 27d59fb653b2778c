/**
 * Colours as numbers. A colour from outside is parsed or refused; what is drawn is always written anew from the
 * parsed value, so nothing that was given can end up in an attribute.
 */

import { type Colour, NAMED_COLOURS, type Rgb } from './palette.ts';

export const WHITE: Rgb = 0xffffff;
export const BLACK: Rgb = 0x000000;

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

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const NIBBLES = '0123456789abcdef';

/** `#rrggbb`, or `#rgb` where that says the same. */
export function toHex(rgb: Rgb): string {
  const red = rgb >> 16;
  const green = (rgb >> 8) & 255;
  const blue = rgb & 255;
  return red % 17 === 0 && green % 17 === 0 && blue % 17 === 0
    ? `#${NIBBLES[red / 17]}${NIBBLES[green / 17]}${NIBBLES[blue / 17]}`
    : `#${BYTES[red]}${BYTES[green]}${BYTES[blue]}`;
}

/** Linear light of each of the 256 steps of a channel (WCAG 2, from IEC 61966-2-1). */
const LINEAR = Float64Array.from({ length: 256 }, (_, step) => {
  const share = step / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
});

/** Relative luminance, 0 (black) to 1 (white). */
export function luminance(rgb: Rgb): number {
  return (
    0.2126 * (LINEAR[rgb >> 16] ?? 0) + 0.7152 * (LINEAR[(rgb >> 8) & 255] ?? 0) + 0.0722 * (LINEAR[rgb & 255] ?? 0)
  );
}

/** Contrast ratio of two colours, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [one, two] = [luminance(a), luminance(b)];
  return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
}

/** White and black contrast alike with a plate of this luminance: √(1.05 × 0.05) − 0.05. */
const MIDDLE_LUMINANCE = Math.sqrt(1.05 * 0.05) - 0.05;

/** White or black, whichever is read better on the plate: never less than 4.58 to 1. */
export function inkOn(plate: Rgb): Rgb {
  return luminance(plate) > MIDDLE_LUMINANCE ? BLACK : WHITE;
}

/** Contrast that WCAG 2 asks of text (success criterion 1.4.3). */
export const TEXT_CONTRAST_MIN = 4.5;

/** A colour for text on a ground: as near to `colour` as can be read, which is at least `TEXT_CONTRAST_MIN` to 1. */
export function legibleOn(ground: Colour, colour: Colour): Colour {
  return { light: legible(ground.light, colour.light), dark: legible(ground.dark, colour.dark) };
}

function legible(ground: Rgb, colour: Rgb): Rgb {
  const ink = inkOn(ground);
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mixRgb(colour, ink, share);
    if (contrast(mixed, ground) >= TEXT_CONTRAST_MIN) return mixed;
  }
  return ink;
}

function mixRgb(a: Rgb, b: Rgb, share: number): Rgb {
  const channel = (shift: number) => Math.round(((a >> shift) & 255) * (1 - share) + ((b >> shift) & 255) * share);
  return (channel(16) << 16) | (channel(8) << 8) | channel(0);
}
