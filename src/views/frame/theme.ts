/** The operator's own look as a style sheet. What goes in is checked again here: this text ends up inside `<style>`. */

import type { PageSettings } from '../../model/index.ts';
import { HEX_COLOUR } from '../../model/scalars.ts';

declare const safeCss: unique symbol;
/** A style sheet that this module made. */
export type SafeCss = string & { readonly [safeCss]: true };

/** What an operator may set; docs/theme.md says what each does. */
export const THEME_VARIABLES = [
  '--pharos-accent',
  '--pharos-paper',
  '--pharos-ink',
  '--pharos-font',
  '--pharos-display-font',
  '--pharos-radius',
] as const;

/** Colours, lengths, numbers, font names: no braces, no semicolon, no `url(`, no escapes, no markup. */
const VALUE = /^[#\w\s.,%()'"/+-]{1,200}$/;
const CALLS_OUT = /url|image|import|expression|attr|src/i;

/** Whether a variable is one of ours with a value that can neither leave its place nor call anybody. */
export function isThemeVariable(name: string, value: string): boolean {
  return (THEME_VARIABLES as readonly string[]).includes(name) && VALUE.test(value) && !CALLS_OUT.test(value);
}

/** A rule for the root with the operator's variables; null when there are none that pass. */
export function themeStyle({
  accentColor,
  cssVariables,
}: Pick<PageSettings, 'accentColor' | 'cssVariables'>): SafeCss | null {
  const declared = Object.entries(cssVariables).filter(([name, value]) => isThemeVariable(name, value));
  if (accentColor !== null && HEX_COLOUR.test(accentColor)) declared.unshift(['--pharos-accent', accentColor]);
  if (declared.length === 0) return null;
  return `:root:root{${declared.map(([name, value]) => `${name}:${value}`).join(';')}}` as SafeCss;
}

/**
 * Puts the theme that a visitor chose in place before anything is painted, so that the other one never flashes. It stands in
 * the head as a script of its own, since those of the build run after the document; `layouts/header.ts` writes what it reads.
 */
export const CHOSEN_THEME_SCRIPT =
  'try{let t=localStorage["pharos:theme"];/^(system|light|dark)$/.test(t)&&(document.documentElement.dataset.theme=t)}catch{}';
