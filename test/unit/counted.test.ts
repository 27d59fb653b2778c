import { expect, it } from 'vitest';
import { counted } from '../../src/schema/counted.ts';

it.each([
  [0, 'monitors', '0 monitors'],
  [1, 'storage targets', '1 storage target'],
  [1, 'queries', '1 query'],
  [2, 'queries', '2 queries'],
])('counts %d %s', (count, plural, words) => {
  expect(counted(count, plural)).toBe(words);
});
