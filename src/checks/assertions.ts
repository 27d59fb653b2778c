/** What assertions mean. */

import type { Comparator } from '../sync/connectors/check.ts';

/** Numbers are compared as numbers where both sides are some; other texts by their characters. */
export function holds(found: string | number, comparator: Comparator, target: string | number): boolean {
  const text = String(found);
  const wanted = String(target);
  switch (comparator) {
    case 'contains':
      return text.includes(wanted);
    case 'not_contains':
      return !text.includes(wanted);
    case 'eq':
      return text === wanted;
    case 'neq':
      return text !== wanted;
    case 'empty':
      return text === '';
    case 'not_empty':
      return text !== '';
    case 'gt':
      return order(text, wanted) > 0;
    case 'gte':
      return order(text, wanted) >= 0;
    case 'lt':
      return order(text, wanted) < 0;
    case 'lte':
      return order(text, wanted) <= 0;
  }
}

/** Below, equal or above 0. */
function order(a: string, b: string): number {
  const [x, y] = [toNumber(a), toNumber(b)];
  if (x !== null && y !== null) return x - y;
  return a === b ? 0 : a < b ? -1 : 1;
}

function toNumber(text: string): number | null {
  const trimmed = text.trim();
  return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : null;
}

const WORDS: Readonly<Record<Comparator, string>> = {
  contains: 'to contain',
  not_contains: 'not to contain',
  eq: 'to be',
  neq: 'not to be',
  empty: 'to be empty',
  not_empty: 'not to be empty',
  gt: 'to be above',
  gte: 'to be at least',
  lt: 'to be below',
  lte: 'to be at most',
};

/** `expected the status to be 200`. @param target  absent: it may be a secret */
export function expectation(what: string, comparator: Comparator, target?: string | number): string {
  const isAlone = comparator === 'empty' || comparator === 'not_empty';
  const rest = isAlone ? '' : target === undefined ? ' what is configured' : ` ${target}`;
  return `expected ${what} ${WORDS[comparator]}${rest}`;
}
