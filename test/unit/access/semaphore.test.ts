import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSemaphore } from '../../../src/access/parts.ts';

describe('a turnstile', () => {
  it('lets two in at once, the others in their order, and turns away who finds the queue full', async () => {
    const turnstile = createSemaphore(2, 3);
    const log: string[] = [];
    const leave: (() => void)[] = [];
    const task = (name: string) => () =>
      new Promise<string>((resolve) => {
        log.push(name);
        leave.push(() => resolve(name));
      });
    const results = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => turnstile.run(task(name)));
    await setImmediate();
    expect(log).toEqual(['a', 'b']);
    expect(await results[5]).toBeNull();
    for (let index = 0; index < 5; index += 1) {
      leave[index]?.();
      await results[index];
    }
    expect(log).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('gives the place on when a task fails', async () => {
    const turnstile = createSemaphore(1, 1);
    const failed = turnstile.run(() => Promise.reject(new Error('no')));
    const next = turnstile.run(async () => 'in');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('in');
    expect(await turnstile.run(async () => 'again')).toBe('again');
  });
});
