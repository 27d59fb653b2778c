/** A year of days as cells of a grid, one column a week. The size of a cell says how bad, so that colour need not. */

import type { BarPath } from './bar-paths.ts';

export const CELL = 16;
export const ROWS = 7;
/** 365 days touch at most 53 weeks. */
export const COLUMNS = 53;

/** Side of the square by letter; the rest of the cell stays empty. */
const SIDES: Readonly<Record<string, number>> = { o: 9, d: 11, p: 12, m: 14, t: 9, s: 4, u: 4 };

/** Squares by letter, below a row for the names of months. Each is a line as wide as it is long. */
export function calendarPaths(letters: string, firstRow: number): BarPath[] {
  const byLetter = new Map<string, string>();
  for (const [index, sign] of [...letters].entries()) {
    const letter = sign.toLowerCase();
    const side = SIDES[letter] ?? 4;
    const column = Math.floor((index + firstRow) / ROWS);
    const row = (index + firstRow) % ROWS;
    const line = `M${column * CELL + (CELL - side) / 2} ${(row + 1) * CELL + CELL / 2}h${side}`;
    byLetter.set(letter, (byLetter.get(letter) ?? '') + line);
  }
  return [...byLetter].map(([letter, d]) => ({ letter, d }));
}
