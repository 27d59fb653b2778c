import { expect, it } from 'vitest';
import { createMemo } from '../../../src/badges/memo.ts';

it('a memo gives back what it was given, and never holds more than its limit', () => {
  const memo = createMemo<number>(10);
  for (let index = 0; index < 1_000; index += 1) {
    memo.set(`${index}`, index);
    expect(memo.get(`${index}`)).toBe(index);
    expect(memo.size).toBeLessThanOrEqual(10);
  }
  expect(memo.get('0')).toBeUndefined();
});
