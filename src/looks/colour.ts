/** Colours as numbers, and the arithmetic of WCAG 2 on them. */

// `0xrrggbb`.

/** The colours that stand for no state: what states stand on, and what text is written in. */

export const PAPER: Colour = { light: 0xfdfcfa, dark: 0x141618 };
/** Boxes on the paper. */
export const RAISED: Colour = { light: 0xffffff, dark: 0x1d2023 };
export const INK: Colour = { light: 0x1c1e20, dark: 0xebe9e4 };
/** Text that steps back. */
export const QUIET_INK: Colour = { light: 0x5a5e62, dark: 0xa6a9ab };
export const LINE: Colour = { light: 0xe4e1d9, dark: 0x303437 };
/** Focus rings and charts, unless an operator chose another. */
export const ACCENT: Colour = { light: 0x1d5fae, dark: 0x8dbaf3 };

export type Rgb = number;

/** One colour in the light theme and in the dark one. */
export type Colour = Readonly<Record<'light' | 'dark', Rgb>>;

export const colour = (light: Rgb, dark: Rgb): Colour => ({ light, dark });

export const WHITE: Rgb = 0xffffff;
export const BLACK: Rgb = 0x000000;

/** Contrast that WCAG 2 asks of text (success criterion 1.4.3). */
const TEXT_CONTRAST_MIN = 4.5;

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
function luminance(rgb: Rgb): number {
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

/** A colour for text: as near to `colour` as can be read on every one of the grounds, at `TEXT_CONTRAST_MIN` to 1. */
export function legibleOn(grounds: readonly [Colour, ...Colour[]], colour: Colour): Colour {
  const legible = (theme: keyof Colour): Rgb => {
    const ink = inkOn(grounds[0][theme]);
    for (let share = 0; share < 1; share += 0.05) {
      const mixed = mixRgb(colour[theme], ink, share);
      if (grounds.every((ground) => contrast(mixed, ground[theme]) >= TEXT_CONTRAST_MIN)) return mixed;
    }
    return ink;
  };
  return { light: legible('light'), dark: legible('dark') };
}

function mixRgb(a: Rgb, b: Rgb, share: number): Rgb {
  const channel = (shift: number) => Math.round(((a >> shift) & 255) * (1 - share) + ((b >> shift) & 255) * share);
  return (channel(16) << 16) | (channel(8) << 8) | channel(0);
}
