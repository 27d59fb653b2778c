import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { followStore } from '../../../src/app/serving/listen.ts';
import { StatusError } from '../../../src/errors.ts';

describe('a process that listens', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('looks four times a second who may see what, and says once that the store cannot be read', async () => {
    let isAway = true;
    let looks = 0;
    let shows = 0;
    const errors: unknown[] = [];
    const pharos = {
      database: { listen: () => async () => undefined },
      engine: { publishNews: () => undefined },
      keeper: {
        refresh: async () => {
          looks += 1;
          if (isAway) throw new StatusError({ code: 'STORE_UNAVAILABLE', message: 'the store is away' });
          return {} as never;
        },
        showLastPublished: () => {
          shows += 1;
        },
      },
    };
    const stop = await followStore(pharos, { error: (text: unknown) => errors.push(text) } as never);
    expect([looks, shows]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([looks, shows, errors]).toEqual([5, 1, ['the store is away']]);
    isAway = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(looks).toBe(9);
    stop();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(looks).toBe(9);
  });
});
