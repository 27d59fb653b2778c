/** The colours that stand for no state: what states stand on, and what text is written in. */

import type { Colour } from './colour.ts';

export const PAPER: Colour = { light: 0xfdfcfa, dark: 0x141618 };
/** Boxes on the paper. */
export const RAISED: Colour = { light: 0xffffff, dark: 0x1d2023 };
export const INK: Colour = { light: 0x1c1e20, dark: 0xebe9e4 };
/** Text that steps back. */
export const QUIET_INK: Colour = { light: 0x5a5e62, dark: 0xa6a9ab };
export const LINE: Colour = { light: 0xe4e1d9, dark: 0x303437 };
/** Focus rings and charts, unless an operator chose another. */
export const ACCENT: Colour = { light: 0x1d5fae, dark: 0x8dbaf3 };
