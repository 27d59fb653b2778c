import { stripVTControlCharacters } from 'node:util';

/**
 * Columns of text for a terminal or a file; the last column is not padded. Colours take no room. By hand: packages for
 * tables draw boxes, and what reads our output splits it at spaces.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lengthOf = (cell: string): number => stripVTControlCharacters(cell).length;
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => lengthOf(row[column] ?? ''))));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === cells.length - 1 ? cell : cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(cell))),
      )
      .join('  ')
      .trimEnd();
  return [line(head), line(widths.map((width) => '─'.repeat(width))), ...rows.map(line)].join('\n');
}
