/** Plain data as JSON and CSV text. */

/** How JSON writes half of a surrogate pair. */
const LONE_SURROGATE = /\\ud[89a-f]/;

/** A view as JSON text that every parser takes: lone surrogates replaced, one line, a line feed at the end. */
export function jsonText(view: unknown): string {
  const text = JSON.stringify(view);
  // Looking at every string takes several times as long, so that is done only where one may be broken.
  return `${LONE_SURROGATE.test(text) ? JSON.stringify(view, wellFormed) : text}\n`;
}

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** Rows as CSV (RFC 4180, with line ends as there). By hand: the rules are two, and the third, against formulas, is ours. */
export function csvText(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');
}

/** What a spreadsheet would take for a formula, or for the end of its own cell, is made text by an apostrophe. */
function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[\s]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
