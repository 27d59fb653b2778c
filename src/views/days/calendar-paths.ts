/** A month of days as cells of a grid, a row a week. Each state has a shape of its own, so that colour need not tell them apart. */

import type { BarPath } from './bar-paths.ts';

export const CELL = 16;
export const COLUMNS = 7;
/** Weeks that a month touches at most, below a row for the names of weekdays. */
export const ROWS = 7;

/** In a box of `CELL`, by letter: where it begins, and its outline from there. */
const SHAPES: Readonly<Record<string, readonly [x: number, y: number, outline: string]>> = {
  o: [3.5, 3.5, 'h9v9h-9z'],
  d: [8, 2.5, 'l6.5 11h-13z'],
  p: [8, 1, 'l7 7-7 7-7-7z'],
  m: [5, 1, 'h6l4 4v6l-4 4h-6l-4-4v-6z'],
  t: [2.5, 6, 'h11v4h-11z'],
  s: [5, 7, 'h6v2h-6z'],
  u: [6.5, 6.5, 'h3v3h-3z'],
};

/** The shape of a state in the box that begins at `x` and `y`. */
export function drawShape(letter: string, x: number, y: number): string {
  const [right, down, outline] = SHAPES[letter] ?? [0, 0, ''];
  return `M${x + right} ${y + down}${outline}`;
}

/** Where a day of a month stands in its grid, from left to right as its language is written. */
function cellAt(index: number, firstColumn: number, isMirrored: boolean): { column: number; row: number } {
  const column = (index + firstColumn) % COLUMNS;
  return { column: isMirrored ? COLUMNS - 1 - column : column, row: Math.floor((index + firstColumn) / COLUMNS) };
}

/** Shapes by letter. */
export function calendarPaths(letters: string, firstColumn: number, isMirrored = false): BarPath[] {
  const byLetter = new Map<string, string>();
  for (const [index, sign] of [...letters].entries()) {
    const letter = sign.toLowerCase();
    const { column, row } = cellAt(index, firstColumn, isMirrored);
    byLetter.set(letter, (byLetter.get(letter) ?? '') + drawShape(letter, column * CELL, (row + 1) * CELL));
  }
  return [...byLetter].map(([letter, d]) => ({ letter, d }));
}
