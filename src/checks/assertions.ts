/** What assertions mean. */

import type { Comparator } from '../sync/connectors/check.ts';

interface Comparison {
  readonly words: string;
  readonly holds: (text: string, wanted: string) => boolean;
}

const COMPARISONS: Readonly<Record<Comparator, Comparison>> = {
  contains: { words: 'to contain', holds: (text, wanted) => text.includes(wanted) },
  not_contains: { words: 'not to contain', holds: (text, wanted) => !text.includes(wanted) },
  eq: { words: 'to be', holds: (text, wanted) => text === wanted },
  neq: { words: 'not to be', holds: (text, wanted) => text !== wanted },
  empty: { words: 'to be empty', holds: (text) => text === '' },
  not_empty: { words: 'not to be empty', holds: (text) => text !== '' },
  gt: { words: 'to be above', holds: (text, wanted) => order(text, wanted) > 0 },
  gte: { words: 'to be at least', holds: (text, wanted) => order(text, wanted) >= 0 },
  lt: { words: 'to be below', holds: (text, wanted) => order(text, wanted) < 0 },
  lte: { words: 'to be at most', holds: (text, wanted) => order(text, wanted) <= 0 },
};

/** Numbers are compared as numbers where both sides are some; other texts by their characters. */
export function holds(found: string | number, comparator: Comparator, target: string | number): boolean {
  return COMPARISONS[comparator].holds(String(found), String(target));
}

/** Below, equal or above 0. */
function order(a: string, b: string): number {
  const [x, y] = [a, b].map((text) => (text.trim() === '' ? Number.NaN : Number(text)));
  if (Number.isFinite(x) && Number.isFinite(y)) return Number(x) - Number(y);
  return a === b ? 0 : a < b ? -1 : 1;
}

/** `expected the status to be 200`. @param target  absent: it may be a secret */
export function expectation(what: string, comparator: Comparator, target?: string | number): string {
  const isAlone = comparator === 'empty' || comparator === 'not_empty';
  const rest = isAlone ? '' : target === undefined ? ' what is configured' : ` ${target}`;
  return `expected ${what} ${COMPARISONS[comparator].words}${rest}`;
}
