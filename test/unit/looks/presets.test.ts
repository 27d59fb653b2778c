import { describe, expect, it } from 'vitest';
import { contrast } from '../../../src/looks/colour.ts';
import { PRESET_LOOKS, type PresetLook } from '../../../src/looks/presets.ts';
import { LOOKS } from '../../../src/looks/states.ts';
import { themeStyle } from '../../../src/views/frame/theme.ts';

const presets: readonly (readonly [string, PresetLook])[] = Object.entries(PRESET_LOOKS);
const THEMES = ['light', 'dark'] as const;
/** What WCAG 2 asks of text, and of what is not text. */
const TEXT = 4.5;
const GRAPHIC = 3;

describe.each(presets)('the preset %s', (_, { paper, raised, ink, quietInk, accent }) => {
  it.each(THEMES)('can be read in the %s theme, with every state on its paper', (theme) => {
    const grounds = [paper, raised].map((ground) => ground[theme]);
    for (const ground of grounds) {
      expect(contrast(ink[theme], ground)).toBeGreaterThanOrEqual(7);
      expect(contrast(quietInk[theme], ground)).toBeGreaterThanOrEqual(TEXT);
      expect(contrast(accent[theme], ground)).toBeGreaterThanOrEqual(TEXT);
      for (const { text, bar } of Object.values(LOOKS)) {
        expect(contrast(text[theme], ground)).toBeGreaterThanOrEqual(TEXT);
        expect(contrast(bar[theme], ground)).toBeGreaterThanOrEqual(GRAPHIC);
      }
    }
    for (const { row, header, isLoud } of Object.values(LOOKS)) {
      expect(contrast(ink[theme], row[theme])).toBeGreaterThanOrEqual(7);
      expect(contrast(quietInk[theme], row[theme])).toBeGreaterThanOrEqual(TEXT);
      if (!isLoud) expect(contrast(ink[theme], header[theme])).toBeGreaterThanOrEqual(7);
    }
  });
});

describe('an accent', () => {
  it.each(['#ffff00', '#000000', '#ffffff', '#777777', '#c2410c', '#0000ff', '#00ff88'])(
    '%s is read wherever links stand, on the paper of every preset',
    (accentColor) => {
      for (const preset of ['paper', 'plain', 'slate', 'mono', 'contrast'] as const) {
        const css = themeStyle({ accentColor, cssVariables: {}, look: { preset } }) ?? '';
        expect(css).toContain(`--brand:${accentColor}`);
        const [, light = '', dark = ''] = /--pharos-accent:light-dark\((#\w+),(#\w+)\)/.exec(css) ?? [];
        const { paper, raised } = PRESET_LOOKS[preset];
        for (const [theme, hex] of [
          ['light', light],
          ['dark', dark],
        ] as const) {
          const rgb = Number.parseInt(hex.length === 4 ? hex.slice(1).replace(/./g, '$&$&') : hex.slice(1), 16);
          for (const ground of [paper, raised, ...Object.values(LOOKS).map(({ row }) => row)])
            expect(contrast(rgb, ground[theme])).toBeGreaterThanOrEqual(TEXT);
        }
      }
    },
  );
});
