/** The operator's own look as a style sheet. What goes in is checked again here: this text ends up inside `<style>`. */

import { type Colour, legibleOn } from '../../looks/colour.ts';
import { PRESET_LOOKS, type PresetLook } from '../../looks/presets.ts';
import { LOOKS, lightDark } from '../../looks/states.ts';
import type { PageSettings } from '../../model/index.ts';
import { HEX_COLOUR } from '../../model/scalars.ts';
import { stylesheetFault } from './own-stylesheet.ts';

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

/** Of the page's settings, what its look is made of. */
export type OwnLook = Pick<PageSettings, 'accentColor' | 'cssVariables' | 'look'>;

/** Each made once: all files of a page have the settings of the page. */
const made = new WeakMap<OwnLook, SafeCss | null>();

/** The operator's look as a style sheet, which stands behind ours; null when nothing of it passes. */
export function themeStyle(settings: OwnLook): SafeCss | null {
  return made.getOrInsertComputed(settings, makeStyle);
}

function makeStyle({ accentColor, cssVariables, look = {} }: OwnLook): SafeCss | null {
  const preset = PRESET_LOOKS[look.preset ?? 'paper'];
  const accent = accentColor !== null && HEX_COLOUR.test(accentColor) ? accentColor : null;
  const declared = new Map<string, string>(look.preset === undefined ? [] : presetProperties(preset));
  if (accent !== null) {
    declared.set('--brand', accent);
    declared.set('--pharos-accent', lightDark(accentOn(preset, accent)));
  }
  for (const [name, value] of Object.entries(cssVariables)) if (isThemeVariable(name, value)) declared.set(name, value);
  const root = [...declared].map(([name, value]) => `${name}:${value}`).join(';');
  const stylesheet = look.stylesheet ?? '';
  const rules = [
    root === '' ? '' : `:root{${root}}`,
    accent === null ? '' : ACCENT_RULES,
    look.logo === undefined ? '' : LOGO_RULES,
    stylesheetFault(stylesheet) === null ? stylesheet : '',
  ];
  return rules.join('') === '' ? null : (rules.join('') as SafeCss);
}

function presetProperties({ paper, raised, ink, quietInk, line, accent, variables }: PresetLook): [string, string][] {
  return [
    ['--pharos-paper', lightDark(paper)],
    ['--raised', lightDark(raised)],
    ['--pharos-ink', lightDark(ink)],
    ['--ink-2', lightDark(quietInk)],
    ['--line', lightDark(line)],
    ['--pharos-accent', lightDark(accent)],
    ...Object.entries(variables),
  ];
}

/** As near to the accent as can be read on everything that links stand on: paper, boxes and the rows of every state. */
function accentOn({ paper, raised }: PresetLook, accent: string): Colour {
  const rgb = Number.parseInt(accent.slice(1), 16);
  return legibleOn([paper, raised, ...Object.values(LOOKS).map(({ row }) => row)], { light: rgb, dark: rgb });
}

/** Where the accent is seen: a line at the top in the colour itself; links, chosen controls and charts where it can be read. */
const ACCENT_RULES =
  'header.header{border-block-start:.25rem solid var(--brand)}.body p a,.foot a{color:var(--accent)}.body a:hover{color:var(--accent)}.periods label:has(input:checked){color:var(--paper);background:var(--accent);border-color:var(--accent)}';

/** The header is dark in the dark theme and, whatever the theme, on a page in a major outage; in print it is white. */
const LOGO_RULES =
  '.top .logo{border-radius:0;max-width:100%;height:auto;display:block}.logo.dark{display:none}@media screen{html:is([data-theme=dark],.s-major_outage:not(.is-stale)) .logo{&:not(:only-child){display:none}&.dark{display:block}}}@media screen and (prefers-color-scheme:dark){html[data-theme=system] .logo{&:not(:only-child){display:none}&.dark{display:block}}}';
