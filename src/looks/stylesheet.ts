/** The colours of the pages as a style sheet; `astro.config.mjs` hands it to the layouts as `virtual:looks.css`. */

import { STATES } from '../model/state.ts';
import { type Colour, toHex } from './colour.ts';
import { ACCENT, INK, LINE, PAPER, QUIET_INK, RAISED } from './neutrals.ts';
import { LOOKS } from './states.ts';

/**
 * Custom properties of every colour, and for each state a class `s-<state>` that sets `--s` (words and shapes),
 * `--header` (the top of a page) and `--tint` (the row of a component). `--pharos-…` are the operator's (docs/theme.md).
 */
export function looksStylesheet(): string {
  const properties = new Map([
    ['--paper', `var(--pharos-paper,${lightDark(PAPER)})`],
    ['--raised', lightDark(RAISED)],
    ['--ink', `var(--pharos-ink,${lightDark(INK)})`],
    ['--ink-2', lightDark(QUIET_INK)],
    ['--line', lightDark(LINE)],
    ['--accent', `var(--pharos-accent,${lightDark(ACCENT)})`],
  ]);
  const rules = STATES.map((state) => {
    const { token, text, bar, header, row, isLoud } = LOOKS[state];
    properties.set(`--${token}`, lightDark(text));
    properties.set(`--${token}-bar`, lightDark(bar));
    properties.set(`--${token}-header`, lightDark(header));
    const tint = isLoud ? 'tint' : 'header';
    if (isLoud) properties.set(`--${token}-${tint}`, lightDark(row));
    return `.s-${state}{--s:var(--${token});--header:var(--${token}-header);--tint:var(--${token}-${tint});}\n`;
  });
  const declarations = [...properties].map(([name, value]) => `${name}:${value};\n`);
  return `:root{color-scheme:light dark;\n${declarations.join('')}}\n${rules.join('')}`;
}

/** As a value of CSS. */
export function lightDark({ light, dark }: Colour): string {
  return `light-dark(${toHex(light)},${toHex(dark)})`;
}
