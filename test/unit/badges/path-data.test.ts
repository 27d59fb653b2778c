import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PATH_LENGTH_MAX, parsePathData } from '../../../src/badges/lettering/path-data.ts';

it.each([
  ['M0 0L10,10z', 'M0 0L10 10z'],
  [' m 1.23456 -.5 h+3 V 4 ', 'm1.235-0.5h3V4'],
  ['M0,0 1,1 2,-2', 'M0 0 1 1 2-2'],
  ['M0 0a1 1 0 01.5.5', 'M0 0a1 1 0 0 1 0.5 0.5'],
  ['M0 0c1-2-3 4 5-6', 'M0 0c1-2-3 4 5-6'],
  ['M1e1 2E0', 'M10 2'],
])('%j is read as %j', (text, path) => {
  expect(parsePathData(text)).toBe(path);
});

it.each([
  '',
  'L1 1',
  'M1',
  'M1 1 2',
  'M0 0"/><script>',
  'M0 0x',
  'M0 0 url(#a)',
  'M0 0l1e99 1',
  'M0 0a1 1 0 2 1 1 1',
  'M0 0z1',
  'M NaN 1',
])('%j is refused', (text) => {
  expect(parsePathData(text)).toBeNull();
});

it('path data longer than the limit is refused', () => {
  expect(parsePathData(`M0 0${'l1 1'.repeat(PATH_LENGTH_MAX / 4 - 1)}`)).not.toBeNull();
  expect(parsePathData(`M0 0${'l1 1'.repeat(PATH_LENGTH_MAX / 4)}`)).toBeNull();
});

it('what comes out holds nothing but commands, digits, points, minus signs and spaces, and reads as itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'MmLlHhVvCcZzAa0123456789.-+ ,e"<&') }), (text) => {
      const path = parsePathData(`M0 0${text}`);
      if (path === null) return;
      expect(path).toMatch(/^[mlhvcsqtaz0-9. -]*$/i);
      expect(parsePathData(path)).toBe(path);
    }),
    { numRuns: 2_000 },
  );
});
