/**
 * Looks to begin with: paper, ink and what lies between, fonts and corners. Colours of states are the same in all of them, so
 * `test/unit/looks/presets.test.ts` holds what states need of the paper that they stand on.
 */

import type { Preset } from '../model/page.ts';
import { ACCENT, type Colour, colour, INK, LINE, PAPER, QUIET_INK, RAISED } from './colour.ts';

type Ground = 'paper' | 'raised' | 'ink' | 'quietInk' | 'line' | 'accent';
export interface PresetLook extends Readonly<Record<Ground, Colour>> {
  /** Values of the operator's variables that belong to it: fonts and corners. */
  readonly variables: Readonly<Record<`--pharos-${string}`, string>>;
}

const SANS = 'Inter, ui-sans-serif, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif';
const MONO = 'ui-monospace, "Cascadia Mono", Menlo, Consolas, "Noto Sans Mono", monospace';

export const PRESET_LOOKS: Readonly<Record<Preset, PresetLook>> = {
  paper: {
    paper: PAPER,
    raised: RAISED,
    ink: INK,
    quietInk: QUIET_INK,
    line: LINE,
    accent: ACCENT,
    variables: {},
  },
  plain: {
    paper: colour(0xffffff, 0x121314),
    raised: colour(0xffffff, 0x1c1e20),
    ink: colour(0x18191b, 0xededed),
    quietInk: colour(0x595c60, 0xa8abae),
    line: colour(0xe3e4e6, 0x2f3235),
    accent: ACCENT,
    variables: { '--pharos-font': SANS, '--pharos-radius': '0.375rem' },
  },
  slate: {
    paper: colour(0xfbfcfe, 0x10151c),
    raised: colour(0xffffff, 0x18202a),
    ink: colour(0x16202c, 0xe6ebf2),
    quietInk: colour(0x526070, 0x9fabba),
    line: colour(0xdbe2ea, 0x2a3440),
    accent: colour(0x2a5bd7, 0x8fb4ff),
    variables: { '--pharos-font': SANS, '--pharos-radius': '0.75rem' },
  },
  mono: {
    paper: colour(0xfdfdfc, 0x111111),
    raised: colour(0xffffff, 0x1a1a1a),
    ink: colour(0x1a1a1a, 0xe8e8e8),
    quietInk: colour(0x5a5a5a, 0xa6a6a6),
    line: colour(0xdedede, 0x333333),
    accent: colour(0x1a1a1a, 0xe8e8e8),
    variables: { '--pharos-font': MONO, '--pharos-radius': '0' },
  },
  contrast: {
    paper: colour(0xffffff, 0x000000),
    raised: colour(0xffffff, 0x000000),
    ink: colour(0x000000, 0xffffff),
    quietInk: colour(0x2b2b2b, 0xdcdcdc),
    line: colour(0x6b6b6b, 0x8f8f8f),
    accent: colour(0x003a8c, 0xa9cbff),
    variables: { '--pharos-font': SANS, '--pharos-radius': '0.25rem' },
  },
};
