/** What assertions mean. */

import type { Comparator } from '../sync/connectors/check.ts';

type Comparison = readonly [words: string, holds: (text: string, wanted: string) => boolean];
const COMPARISONS: Readonly<Record<Comparator, Comparison>> = {
  contains: ['to contain', (text, wanted) => text.includes(wanted)],
  not_contains: ['not to contain', (text, wanted) => !text.includes(wanted)],
  eq: ['to be', (text, wanted) => text === wanted],
  neq: ['not to be', (text, wanted) => text !== wanted],
  empty: ['to be empty', (text) => text === ''],
  not_empty: ['not to be empty', (text) => text !== ''],
  gt: ['to be above', (text, wanted) => order(text, wanted) > 0],
  gte: ['to be at least', (text, wanted) => order(text, wanted) >= 0],
  lt: ['to be below', (text, wanted) => order(text, wanted) < 0],
  lte: ['to be at most', (text, wanted) => order(text, wanted) <= 0],
};

/** Numbers are compared as numbers where both sides are some; other texts by their characters. */
export function holds(found: string | number, comparator: Comparator, target: string | number): boolean {
  return COMPARISONS[comparator][1](String(found), String(target));
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
  return `expected ${what} ${COMPARISONS[comparator][0]}${rest}`;
}
