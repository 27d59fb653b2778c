import { describe, expect, it } from 'vitest';
import {
  ACCENT,
  type Colour,
  contrast,
  INK,
  PAPER,
  QUIET_INK,
  RAISED,
  type Rgb,
  WHITE,
} from '../../../src/looks/colour.ts';
import { LOOKS, type StateLook } from '../../../src/looks/states.ts';
import { STATES } from '../../../src/model/index.ts';

const THEMES = ['light', 'dark'] as const;
/** The page of GitHub's dark theme, where most badges stand. */
const DARK_PAGE = 0x0d1117;
/** What WCAG 2 asks of text, and of what is not text (1.4.3, 1.4.11). */
const TEXT = 4.5;
const GRAPHIC = 3;

const looks = STATES.map((state): [string, StateLook] => [state, LOOKS[state]]);
/** What rows of components stand on; nothing is said of rows of states that look well. */
const GROUNDS: readonly Colour[] = [PAPER, ...looks.map(([, { row }]) => row)];

/** `over` laid on `under` with an opacity, as a style sheet has it. */
function mixed(over: Rgb, under: Rgb, share: number): Rgb {
  const channel = (shift: number) =>
    Math.round(((over >> shift) & 255) * share + ((under >> shift) & 255) * (1 - share));
  return (channel(16) << 16) | (channel(8) << 8) | channel(0);
}

describe.each(THEMES)('in the %s theme', (theme) => {
  const between = (a: Colour, b: Colour) => contrast(a[theme], b[theme]);

  it.each(looks)('%s: its words and shapes can be read on paper and on its row', (_, { text, row }) => {
    expect(between(text, PAPER)).toBeGreaterThanOrEqual(TEXT);
    expect(between(text, row)).toBeGreaterThanOrEqual(TEXT);
  });

  it.each(looks)('%s: a day of it can be seen on the row of every state', (_, { bar }) => {
    for (const ground of GROUNDS) expect(between(bar, ground)).toBeGreaterThanOrEqual(GRAPHIC);
  });

  it.each(looks)('%s: text can be read on the head of its page, also a little lighter', (_, look) => {
    const ground = look.header[theme];
    const ink = look.isLoud ? WHITE : INK[theme];
    expect(contrast(ink, ground)).toBeGreaterThanOrEqual(7);
    expect(contrast(mixed(ink, ground, 0.85), ground)).toBeGreaterThanOrEqual(TEXT);
    if (!look.isLoud) expect(between(look.text, look.header)).toBeGreaterThanOrEqual(TEXT);
  });

  it('text can be read on every ground', () => {
    for (const ground of [...GROUNDS, RAISED]) {
      expect(between(INK, ground)).toBeGreaterThanOrEqual(7);
      expect(between(QUIET_INK, ground)).toBeGreaterThanOrEqual(TEXT);
    }
  });

  it('the focus ring and the chart can be seen on paper and on boxes', () => {
    for (const ground of [PAPER, RAISED]) expect(between(ACCENT, ground)).toBeGreaterThanOrEqual(GRAPHIC);
  });
});

it.each(looks)('%s: a plate is told from a white page and from a dark one, and from its white sign', (_, { solid }) => {
  expect(contrast(solid.light, WHITE)).toBeGreaterThanOrEqual(GRAPHIC);
  expect(contrast(solid.light, DARK_PAGE)).toBeGreaterThanOrEqual(GRAPHIC);
  expect(contrast(solid.dark, DARK_PAGE)).toBeGreaterThanOrEqual(TEXT);
});

describe('two states', () => {
  const differ = (one: readonly unknown[]) => expect(new Set(one.map((value) => JSON.stringify(value))).size);

  it('never have one shape, one letter or one word for a class', () => {
    differ(looks.map(([, { shape }]) => shape)).toBe(STATES.length);
    differ(looks.map(([, { letter }]) => letter)).toBe(STATES.length);
    for (const [, { letter }] of looks) expect(letter).toMatch(/^[a-z]$/);
  });

  it('that ask for different things have different outlines: calm, trouble by degrees, planned', () => {
    const outlines = (['operational', 'degraded', 'partial_outage', 'major_outage', 'maintenance'] as const).map(
      (state) => LOOKS[state].shape.outline,
    );
    differ(outlines).toBe(outlines.length);
  });

  it('have different colours, but paused and unknown, which are both grey', () => {
    const { paused, unknown, ...others } = LOOKS;
    expect({ ...paused, letter: '', shape: null }).toEqual({ ...unknown, letter: '', shape: null });
    const told = [...Object.values(others), unknown];
    for (const tone of ['solid', 'text', 'bar', 'row', 'token'] as const)
      differ(told.map((look) => look[tone])).toBe(6);
  });

  it('have taller days the worse they are', () => {
    const heights = (
      ['paused', 'maintenance', 'operational', 'degraded', 'partial_outage', 'major_outage'] as const
    ).map((state) => LOOKS[state].height);
    expect(heights).toEqual([...new Set(heights)].toSorted((a, b) => a - b));
    expect(LOOKS.unknown.height).toBe(LOOKS.paused.height);
  });
});
