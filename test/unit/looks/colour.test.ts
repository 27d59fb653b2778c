import { expect, it } from 'vitest';
import { BLACK, type Colour, contrast, INK, inkOn, legibleOn, PAPER, toHex, WHITE } from '../../../src/looks/colour.ts';
import { LOOKS } from '../../../src/looks/states.ts';

it('a colour is written as short as it can be and means the same', () => {
  expect([toHex(0xffffff), toHex(0x0a0b0c), toHex(0xaabbcd), toHex(0)]).toEqual(['#fff', '#0a0b0c', '#aabbcd', '#000']);
  for (let value = 0; value < 0x1000000; value += 4_099) expect(hexValue(toHex(value))).toBe(value);
});

function hexValue(hex: string): number {
  const digits = hex.length === 4 ? hex.replaceAll(/[0-9a-f]/g, '$&$&') : hex;
  return Number.parseInt(digits.slice(1), 16);
}

/** WCAG 2's relative luminance, written from its text and not from ours. */
function channel(step: number): number {
  const share = step / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

it('the ink is read at 4.5 to 1 or better on every one of the 16,777,216 plates', () => {
  const red = Float64Array.from({ length: 256 }, (_, step) => 0.2126 * channel(step));
  const green = Float64Array.from({ length: 256 }, (_, step) => 0.7152 * channel(step));
  const blue = Float64Array.from({ length: 256 }, (_, step) => 0.0722 * channel(step));
  let worst = Number.POSITIVE_INFINITY;
  for (let plate = 0; plate <= 0xffffff; plate += 1) {
    const luminance = (red[plate >> 16] ?? 0) + (green[(plate >> 8) & 255] ?? 0) + (blue[plate & 255] ?? 0);
    const ratio = inkOn(plate) === WHITE ? 1.05 / (luminance + 0.05) : (luminance + 0.05) / 0.05;
    if (ratio < worst) worst = ratio;
  }
  expect(worst).toBeGreaterThan(4.58);
});

it('contrast is that of WCAG: 21 for black on white, 1 for a colour on itself', () => {
  expect(contrast(BLACK, WHITE)).toBeCloseTo(21, 10);
  expect(contrast(0x777777, WHITE)).toBeCloseTo(4.478, 3);
  expect(contrast(0x123456, 0x123456)).toBe(1);
});

const EXTREMES: readonly Colour[] = [
  ...Object.values(LOOKS).map(({ solid }) => solid),
  { light: 0xffff00, dark: 0x000080 },
  { light: WHITE, dark: BLACK },
];

it('text is read at 4.5 to 1 in every colour, whatever the operator chose, on all grounds at once', () => {
  for (const grounds of [[PAPER], [PAPER, LOOKS.degraded.row], [INK]] as [Colour, ...Colour[]][])
    for (const colour of EXTREMES)
      for (const theme of ['light', 'dark'] as const)
        for (const ground of grounds)
          expect(contrast(legibleOn(grounds, colour)[theme], ground[theme])).toBeGreaterThanOrEqual(4.5);
});

it('a colour that can be read stays as it was chosen', () => {
  expect(legibleOn([PAPER], LOOKS.operational.solid)).toEqual(LOOKS.operational.solid);
});
