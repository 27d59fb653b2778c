import { describe, expect, it } from 'vitest';
import { once } from '../../src/once.ts';

describe('once', () => {
  it('makes a value at the first call only', () => {
    let calls = 0;
    const made = once(() => {
      calls += 1;
      return { calls };
    });
    expect(calls).toBe(0);
    expect(made()).toBe(made());
    expect(calls).toBe(1);
  });

  it('keeps a value that is null or undefined too', () => {
    let calls = 0;
    const made = once(() => {
      calls += 1;
      return null;
    });
    expect([made(), made(), calls]).toEqual([null, null, 1]);
  });

  it('hands one promise to all who wait, and tries again after it was rejected', async () => {
    let calls = 0;
    const made = once(async () => {
      calls += 1;
      if (calls === 1) throw new Error('busy');
      return calls;
    });
    const [first, second] = await Promise.allSettled([made(), made()]);
    expect([first.status, second.status, calls]).toEqual(['rejected', 'rejected', 1]);
    expect(await made()).toBe(2);
    expect(await made()).toBe(2);
  });

  it('tries again after `make` threw', () => {
    let calls = 0;
    const made = once(() => {
      calls += 1;
      if (calls === 1) throw new Error('busy');
      return calls;
    });
    expect(made).toThrow('busy');
    expect(made()).toBe(2);
  });
});
