/** The days of a bar as a handful of SVG lines: a run of like days is one dashed line, so weight follows change, not length. */

import { LRUCache } from 'lru-cache';

export interface BarPath {
  /** A state's letter in lower case, or `b` for the marks of brief trouble, as a class. */
  readonly letter: string;
  /** In a box one unit wide for each day and 8 high. */
  readonly d: string;
}

const WELL = 'o';
/** Marks at least as tall as those of good days. */
const COVERING = 'dpmt';
const COVERED = new RegExp(`[${COVERING}]`, 'g');
const NO_DATA = 'u';
const NO_DATA_HEIGHTS = [1.8, 4, 6.2];
const BRIEF = 'b';

/**
 * Lines by letter. Days that are well are one line as far as it is not interrupted by days of no data, and trouble is drawn
 * over it, taller: so a page weighs what was not well. A day of no data is three short marks, never a block.
 */
export function barPaths(letters: string): readonly BarPath[] {
  return known.memo(letters);
}

const known = new LRUCache<string, readonly BarPath[]>({ max: 500, memoMethod: linesOf });

function linesOf(letters: string): readonly BarPath[] {
  const lower = letters.toLowerCase();
  const byLetter = new Map<string, string>();
  const draw = (letter: string, line: string) => byLetter.set(letter, (byLetter.get(letter) ?? '') + line);
  const below = lower.includes(WELL) ? lower.replace(COVERED, WELL) : lower;
  for (const { letter, from, length } of letterRuns(below)) {
    if (letter === NO_DATA) for (const y of NO_DATA_HEIGHTS) draw(letter, `M${from} ${y}h${length}`);
    else draw(letter, `M${from} 4h${length}`);
  }
  if (below !== lower)
    for (const { letter, from, length } of letterRuns(lower))
      if (COVERING.includes(letter)) draw(letter, `M${from} 4h${length}`);
  if (letters !== lower)
    for (let index = 0; index < letters.length; index += 1)
      if (letters[index] !== lower[index]) draw(BRIEF, `M${index} 7.5h1`);
  return [...byLetter].map(([letter, d]) => ({ letter, d }));
}

function letterRuns(letters: string) {
  const runs: { letter: string; from: number; length: number }[] = [];
  for (let from = 0; from < letters.length; ) {
    const letter = letters[from] ?? NO_DATA;
    let to = from + 1;
    while (letters[to] === letter) to += 1;
    runs.push({ letter, from, length: to - from });
    from = to;
  }
  return runs;
}
