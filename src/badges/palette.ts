/**
 * The colours of badges, near those of the pages. A picture cannot always know where it stands: the light ones are told
 * from a white page and from a dark one (3 to 1 or more), and text always stands on a plate of its own.
 */

import type { State } from '../model/state.ts';

/** `0xrrggbb`. */
export type Rgb = number;

/** A plate's colour on a light and on a dark ground. */
export interface Colour {
  readonly light: Rgb;
  readonly dark: Rgb;
}

export const STATE_COLOURS: Readonly<Record<State, Colour>> = {
  operational: { light: 0x1f7a49, dark: 0x4fbd84 },
  degraded: { light: 0xc28410, dark: 0xe2ad3f },
  partial_outage: { light: 0xb5470b, dark: 0xf0874a },
  major_outage: { light: 0xc01f2f, dark: 0xf4676f },
  maintenance: { light: 0x2b66c0, dark: 0x7aacf4 },
  paused: { light: 0x676b6f, dark: 0x8d9194 },
  unknown: { light: 0x676b6f, dark: 0x8d9194 },
};

/** For what is neither good nor bad. */
export const INFO_COLOUR: Colour = { light: 0x23737a, dark: 0x56b8c0 };
export const LABEL_COLOUR: Colour = { light: 0x35393d, dark: 0x3b4044 };
/** The ground that bars are drawn on. */
export const PANEL_COLOUR: Colour = { light: 0xfcfbf8, dark: 0x16181a };
/** The thin line round that ground. */
export const PANEL_LINE_COLOUR: Colour = { light: 0xcfccc4, dark: 0x3b4044 };

/** Text on that ground, and text that steps back. */
export const INK_COLOUR: Colour = { light: 0x1d1f21, dark: 0xeceae4 };
export const QUIET_COLOUR: Colour = { light: 0x575b5f, dark: 0xa9acae };

const { operational, degraded, partial_outage, major_outage, maintenance, unknown } = STATE_COLOURS;

/** The states, `info`, and the words people know from other badges. */
export const NAMED_COLOURS: ReadonlyMap<string, Colour> = new Map<string, Colour>([
  ...Object.entries(STATE_COLOURS),
  ['info', INFO_COLOUR],
  ['label', LABEL_COLOUR],
  ['brightgreen', operational],
  ['green', operational],
  ['success', operational],
  ['yellowgreen', { light: 0x5f7a00, dark: 0xa5c24a }],
  ['yellow', degraded],
  ['amber', degraded],
  ['warning', degraded],
  ['orange', partial_outage],
  ['important', partial_outage],
  ['red', major_outage],
  ['critical', major_outage],
  ['blue', maintenance],
  ['informational', maintenance],
  ['purple', { light: 0x6e5494, dark: 0xb795e6 }],
  ['teal', INFO_COLOUR],
  ['cyan', INFO_COLOUR],
  ['grey', unknown],
  ['gray', unknown],
  ['lightgrey', unknown],
  ['lightgray', unknown],
  ['inactive', unknown],
  ['white', { light: 0xffffff, dark: 0xffffff }],
  ['black', { light: 0x000000, dark: 0x000000 }],
]);
