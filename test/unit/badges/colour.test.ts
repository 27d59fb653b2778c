import { describe, expect, it } from 'vitest';
import { BLACK, contrast, inkOn, legibleOn, parseColour, toHex, WHITE } from '../../../src/badges/colour.ts';
import { INK_COLOUR, LABEL_COLOUR, PANEL_COLOUR, QUIET_COLOUR, STATE_COLOURS } from '../../../src/badges/palette.ts';

/** The page of GitHub's dark theme, where most badges stand. */
const DARK_PAGE = 0x0d1117;

describe('parseColour', () => {
  it.each([
    ['#abc', 0xaabbcc],
    ['2DA44E', 0x2da44e],
    ['#000000', 0],
    ['rgb(1, 2, 255)', 0x0102ff],
    [' #fff ', 0xffffff],
  ])('%s is read', (text, value) => {
    expect(parseColour(text)).toEqual({ light: value, dark: value });
  });

  it('names may differ between light and dark grounds', () => {
    expect(parseColour('BrightGreen')).toEqual(STATE_COLOURS.operational);
    expect(parseColour('major_outage')).toEqual(STATE_COLOURS.major_outage);
  });

  it.each(['', '#12', '#12345', 'red"/><script>', 'url(#x)', 'rgb(1,2,256)', 'constructor', 'var(--x)', '#ggg'])(
    '%j is no colour',
    (text) => {
      expect(parseColour(text)).toBeNull();
    },
  );
});

it('a colour is written as short as it can be and means the same', () => {
  expect([toHex(0xffffff), toHex(0x0a0b0c), toHex(0xaabbcd), toHex(0)]).toEqual(['#fff', '#0a0b0c', '#aabbcd', '#000']);
  for (let value = 0; value < 0x1000000; value += 4_099) expect(parseColour(toHex(value))?.light).toBe(value);
});

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

describe('the palette', () => {
  it.each(Object.entries(STATE_COLOURS))('%s is told from a white page and from a dark one', (_, { light, dark }) => {
    expect(contrast(light, WHITE)).toBeGreaterThanOrEqual(3);
    expect(contrast(light, DARK_PAGE)).toBeGreaterThanOrEqual(3);
    expect(contrast(dark, DARK_PAGE)).toBeGreaterThanOrEqual(4.5);
  });

  it.each(Object.entries(STATE_COLOURS))('a bar of %s is told from the ground of bars', (_, { light, dark }) => {
    expect(contrast(light, PANEL_COLOUR.light)).toBeGreaterThanOrEqual(3);
    expect(contrast(dark, PANEL_COLOUR.dark)).toBeGreaterThanOrEqual(3);
  });

  it('no state has the colour of another, but paused and unknown, which are both grey', () => {
    const { paused: _, ...told } = STATE_COLOURS;
    expect(new Set(Object.values(told).flatMap(({ light, dark }) => [light, dark])).size).toBe(12);
  });

  it('text of a card is read at 4.5 to 1 in every colour, whatever the operator chose', () => {
    for (const colour of [INK_COLOUR, QUIET_COLOUR]) {
      expect(contrast(colour.light, PANEL_COLOUR.light)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(colour.dark, PANEL_COLOUR.dark)).toBeGreaterThanOrEqual(4.5);
    }
    for (const colour of [...Object.values(STATE_COLOURS), LABEL_COLOUR, { light: 0xffff00, dark: 0x000080 }]) {
      const text = legibleOn(PANEL_COLOUR, colour);
      expect(contrast(text.light, PANEL_COLOUR.light)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(text.dark, PANEL_COLOUR.dark)).toBeGreaterThanOrEqual(4.5);
    }
  });

  it('a colour that can be read stays as it was chosen', () => {
    expect(legibleOn(PANEL_COLOUR, STATE_COLOURS.operational)).toEqual(STATE_COLOURS.operational);
  });
});
