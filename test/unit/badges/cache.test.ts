import { describe, expect, it } from 'vitest';
import { createBadgeCache } from '../../../src/badges/cache.ts';
import { createMemo } from '../../../src/badges/memo.ts';

describe('createBadgeCache', () => {
  it('draws once while the result is kept', () => {
    const cache = createBadgeCache<string>(2);
    let drawn = 0;
    const draw = () => {
      drawn += 1;
      return `drawn ${drawn}`;
    };
    expect([cache.get('a', draw), cache.get('a', draw)]).toEqual(['drawn 1', 'drawn 1']);
  });

  it('never keeps more than its limit, and gives up the least recently used', () => {
    const cache = createBadgeCache<string>(3);
    for (const key of ['a', 'b', 'c', 'a', 'd']) cache.get(key, () => key);
    expect(cache.size).toBe(3);
    expect(cache.get('a', () => 'again')).toBe('a');
    expect(cache.get('b', () => 'again')).toBe('again');
    for (let index = 0; index < 10_000; index += 1) cache.get(`x${index}`, () => '');
    expect(cache.size).toBe(3);
  });

  it('two who ask at once wait for one drawing', async () => {
    const cache = createBadgeCache<Promise<string>>(3);
    let drawn = 0;
    const draw = async () => {
      drawn += 1;
      return `drawn ${drawn}`;
    };
    expect(await Promise.all([cache.get('a', draw), cache.get('a', draw)])).toEqual(['drawn 1', 'drawn 1']);
  });

  it('a drawing that failed is tried again', async () => {
    const cache = createBadgeCache<Promise<string>>(3);
    await expect(cache.get('a', () => Promise.reject(new Error('no font')))).rejects.toThrow('no font');
    await expect(cache.get('a', async () => 'drawn')).resolves.toBe('drawn');
  });
});

it('a memo gives back what it was given, and never holds more than its limit', () => {
  const memo = createMemo<number>(10);
  for (let index = 0; index < 1_000; index += 1) {
    memo.set(`${index}`, index);
    expect(memo.get(`${index}`)).toBe(index);
    expect(memo.size).toBeLessThanOrEqual(10);
  }
  expect(memo.get('0')).toBeUndefined();
});
