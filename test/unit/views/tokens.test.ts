import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const CSS = readFileSync(join(import.meta.dirname, '../../../src/layouts/tokens.css'), 'utf8');
const SCHEMES = ['light', 'dark'] as const;
type Scheme = (typeof SCHEMES)[number];

/** The colour of a token in a scheme, through the operator's variable to its default. */
function colourOf(token: string, scheme: Scheme): [number, number, number] {
  const value = new RegExp(`--${token}:\\s*([^;]+);`).exec(CSS)?.[1];
  if (value === undefined) throw new Error(`There is no token --${token}`);
  const [light, dark] = value.match(/#[0-9a-f]{3,6}\b/gi) ?? [];
  const hex = (scheme === 'light' ? light : (dark ?? light))?.slice(1) ?? '';
  const full = hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex;
  return [0, 2, 4].map((at) => Number.parseInt(full.slice(at, at + 2), 16)) as [number, number, number];
}

/** WCAG 2 relative luminance. */
function luminance(colour: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: readonly number[], b: readonly number[]): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

const mixed = (over: readonly number[], under: readonly number[], share: number) =>
  over.map((value, at) => value * share + (under[at] ?? 0) * (1 - share));

const TEXT = 4.5;
const GRAPHIC = 3;
const STATES = ['ok', 'degraded', 'partial', 'major', 'maintenance', 'unknown'];
const SKIES = ['ok-sky', 'degraded-sky', 'partial-sky', 'maintenance-sky', 'unknown-sky'];
/** What rows of components stand on. */
const GROUNDS = ['paper', 'degraded-sky', 'partial-sky', 'major-tint', 'maintenance-sky'];

describe.each(SCHEMES)('colours on %s', (scheme) => {
  const between = (a: string, b: string) => contrast(colourOf(a, scheme), colourOf(b, scheme));

  it.each(['paper', 'raised', 'major-tint', ...SKIES])('text is legible on %s', (ground) => {
    expect(between('ink', ground)).toBeGreaterThanOrEqual(7);
    expect(between('ink-2', ground)).toBeGreaterThanOrEqual(TEXT);
  });

  it.each(SKIES)('the age of the data, a little lighter, is legible on %s', (ground) => {
    const under = colourOf(ground, scheme);
    expect(contrast(mixed(colourOf('ink', scheme), under, 0.85), under)).toBeGreaterThanOrEqual(TEXT);
  });

  it('white is legible on an outage, also a little lighter', () => {
    const sky = colourOf('major-sky', scheme);
    expect(contrast(mixed([255, 255, 255], sky, 0.85), sky)).toBeGreaterThanOrEqual(TEXT);
  });

  it.each(STATES)('the word of %s is legible on paper, and on the ground of its row', (state) => {
    expect(between(state, 'paper')).toBeGreaterThanOrEqual(TEXT);
    expect(between(state, state === 'major' ? 'major-tint' : `${state}-sky`)).toBeGreaterThanOrEqual(TEXT);
  });

  it.each(STATES)('a day that was %s can be seen on every ground of a row', (state) => {
    for (const ground of GROUNDS) expect(between(`${state}-bar`, ground), ground).toBeGreaterThanOrEqual(GRAPHIC);
  });

  it('the focus ring and the chart can be seen on paper', () => {
    expect(between('accent', 'paper')).toBeGreaterThanOrEqual(GRAPHIC);
    expect(between('accent', 'raised')).toBeGreaterThanOrEqual(GRAPHIC);
  });
});
