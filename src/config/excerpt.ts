/** The lines of a file that a fault is in, with a caret below what is wrong. */

/** Longer lines are shown around the fault. */
const WIDTH_MAX = 68;
const BEFORE_FAULT = 40;

interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  readonly length: number;
}

/** The line of `text` at `place`, as `3 | - { id: edge, kind: nosuch }`, and a line of carets below. */
export function excerptOf(text: string, { line, column, length }: Place): string {
  const whole = (text.split('\n')[line - 1] ?? '').replace(/\p{Cc}/gu, ' ');
  const from = whole.length <= WIDTH_MAX ? 0 : wordStart(whole, column - 1 - BEFORE_FAULT, column - 1);
  const shown = whole.slice(from, from + WIDTH_MAX).trimEnd();
  const start = column - 1 - from;
  const carets = '^'.repeat(Math.max(1, Math.min(length, shown.length - start)));
  const number = String(line);
  return `    ${number} | ${shown}\n    ${' '.repeat(number.length)} | ${' '.repeat(start)}${carets}`;
}

/** The first word that begins at or after a place, and before another. */
function wordStart(line: string, place: number, before: number): number {
  if (place <= 0) return 0;
  const space = line.indexOf(' ', place - 1);
  return space === -1 || space >= before ? place : space + 1;
}
