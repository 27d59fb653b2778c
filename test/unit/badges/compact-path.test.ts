import { expect, it } from 'vitest';
import { compactPath } from '../../../src/badges/lettering/card-text.ts';

it('absolute path data becomes relative path data of ten times the size', () => {
  expect(compactPath('M1 2L3.1 2Q4 5 6 7C1 1 2 2 3 3ZM10 10L10 10L0 0Z')).toBe(
    'm10 20l21 0q9 30 29 50c-50-60-40-50-30-40zm90 80l-100-100z',
  );
});

it('after a contour is closed, the next is measured from where that one began', () => {
  expect(compactPath('M1 1L2 2ZM1 1L3 3')).toBe('m10 10l10 10zm0 0l20 20');
});

it('rounding does not add up', () => {
  const path = `M0 0${Array.from({ length: 100 }, (_, index) => `L${(index + 1) * 0.04} 0`).join('')}`;
  const sum = Array.from(compactPath(path).matchAll(/l(-?\d+)/g), (match) => Number(match[1])).reduce(
    (a, b) => a + b,
    0,
  );
  expect(sum).toBe(40);
});
