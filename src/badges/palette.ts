/**
 * The colours of badges. Plates on a light ground are dark enough for white ink, those on a dark ground light enough
 * for black; either is told from a white and from a black page, since a picture cannot always know where it stands.
 */

import type { State } from '../model/state.ts';
import type { Colour } from './colour.ts';

export const STATE_COLOURS: Readonly<Record<State, Colour>> = {
  operational: { light: 0x1a7f37, dark: 0x3fb950 },
  degraded: { light: 0x946200, dark: 0xe3b341 },
  partial_outage: { light: 0xbc4c00, dark: 0xf0883e },
  major_outage: { light: 0xcf222e, dark: 0xff7b72 },
  maintenance: { light: 0x0969da, dark: 0x58a6ff },
  paused: { light: 0x6e5494, dark: 0xb392f0 },
  unknown: { light: 0x656d76, dark: 0x8b949e },
};

/** For what is neither good nor bad. */
export const INFO_COLOUR: Colour = { light: 0x1b7c83, dark: 0x39c5cf };
export const LABEL_COLOUR: Colour = { light: 0x32383f, dark: 0x373e47 };
/** The ground that bars are drawn on. */
export const PANEL_COLOUR: Colour = { light: 0xf6f8fa, dark: 0x0d1117 };
/** The thin line round that ground. */
export const PANEL_LINE_COLOUR: Colour = { light: 0xd0d7de, dark: 0x30363d };

const { operational, degraded, partial_outage, major_outage, maintenance, paused, unknown } = STATE_COLOURS;

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
  ['purple', paused],
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
