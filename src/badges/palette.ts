/** The colours of badges that are no state's, and the names that people know colours by. */

import { BLACK, type Colour, WHITE } from '../looks/colour.ts';
import { LOOKS } from '../looks/states.ts';

/** For what is neither good nor bad. */
const INFO_COLOUR: Colour = { light: 0x23737a, dark: 0x56b8c0 };
export const LABEL_COLOUR: Colour = { light: 0x35393d, dark: 0x3b4044 };
/** The thin line round the ground that bars are drawn on, which any page may be around. */
export const PANEL_LINE_COLOUR: Colour = { light: 0xcfccc4, dark: 0x3b4044 };

/** Of plates in no known colour. */
export const FALLBACK_COLOUR: Colour = LOOKS.unknown.solid;

/** The states, `info`, and the words people know from other badges. */
export const NAMED_COLOURS: ReadonlyMap<string, Colour> = new Map<string, Colour>([
  ...Object.entries(LOOKS).map(([state, { solid }]): [string, Colour] => [state, solid]),
  ['info', INFO_COLOUR],
  ['label', LABEL_COLOUR],
  ['brightgreen', LOOKS.operational.solid],
  ['green', LOOKS.operational.solid],
  ['success', LOOKS.operational.solid],
  ['yellowgreen', { light: 0x5f7a00, dark: 0xa5c24a }],
  ['yellow', LOOKS.degraded.solid],
  ['amber', LOOKS.degraded.solid],
  ['warning', LOOKS.degraded.solid],
  ['orange', LOOKS.partial_outage.solid],
  ['important', LOOKS.partial_outage.solid],
  ['red', LOOKS.major_outage.solid],
  ['critical', LOOKS.major_outage.solid],
  ['blue', LOOKS.maintenance.solid],
  ['informational', LOOKS.maintenance.solid],
  ['purple', { light: 0x6e5494, dark: 0xb795e6 }],
  ['teal', INFO_COLOUR],
  ['cyan', INFO_COLOUR],
  ['grey', FALLBACK_COLOUR],
  ['gray', FALLBACK_COLOUR],
  ['lightgrey', FALLBACK_COLOUR],
  ['lightgray', FALLBACK_COLOUR],
  ['inactive', FALLBACK_COLOUR],
  ['white', { light: WHITE, dark: WHITE }],
  ['black', { light: BLACK, dark: BLACK }],
]);
