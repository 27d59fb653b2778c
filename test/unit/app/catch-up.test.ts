import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCatchUp, createShown, showCommitted } from '../../../src/app/nodes/catch-up.ts';
import type { Database } from '../../../src/store/database.ts';

/** Looks that end when the test says so, oldest first. */
function looks() {
  const begun: PromiseWithResolvers<void>[] = [];
  const look = (): Promise<void> => {
    const one = Promise.withResolvers<void>();
    begun.push(one);
    return one.promise;
  };
  return { begun, look };
}

const settled = async (promise: Promise<void> | null): Promise<boolean> => {
  let isDone = false;
  void promise?.then(() => {
    isDone = true;
  });
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  return isDone;
};

describe('a request of somebody who was here before', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('waits for a look that began after it came, and shares it with all who came before that began', async () => {
    const { begun, look } = looks();
    const catchUp = createCatchUp(look);
    const first = catchUp();
    const [second, third] = [catchUp(), catchUp()];
    expect(begun).toHaveLength(1);
    begun[0]?.resolve();
    expect([await settled(first), await settled(second)]).toEqual([true, false]);
    expect(begun).toHaveLength(2);
    begun[1]?.resolve();
    expect([await settled(second), await settled(third)]).toEqual([true, true]);
    expect(begun).toHaveLength(2);
    void catchUp();
    expect(begun).toHaveLength(3);
  });

  it('waits for five seconds at most; while looks hang or fail, nobody else waits, and then they do again', async () => {
    const { begun, look } = looks();
    const catchUp = createCatchUp(look);
    const first = catchUp();
    vi.advanceTimersByTime(4_999);
    expect(await settled(first)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await settled(first)).toBe(true);
    expect([catchUp(), begun.length]).toEqual([null, 1]);
    begun[0]?.reject(new Error('the database is away'));
    await settled(null);
    // Tried in the background.
    expect([catchUp(), begun.length]).toEqual([null, 2]);
    begun[1]?.resolve();
    await settled(null);
    expect(catchUp()).not.toBeNull();
    expect(begun).toHaveLength(3);
  });
});

describe('what is committed', () => {
  function node(revision: number) {
    const shown = createShown();
    const calls: string[] = [];
    let news = false;
    const deps = {
      database: { all: async () => [{ value: revision }] } as unknown as Database,
      shown,
      refresh: async () => {
        calls.push('refresh');
        return { revision };
      },
      hasNews: () => news,
      publishNews: () => void calls.push('publish'),
    };
    const setNews = (isThere: boolean): void => {
      news = isThere;
    };
    return { shown, deps, calls, setNews };
  }

  it('is shown already: nothing is asked but the number of the last commit', async () => {
    const { shown, deps, calls } = node(7);
    shown.reach(7);
    await showCommitted(deps);
    expect(calls).toEqual([]);
  });

  it('and on no page counts as shown', async () => {
    const { shown, deps, calls } = node(8);
    shown.reach(7);
    await showCommitted(deps);
    expect([shown.revision(), calls]).toEqual([8, ['refresh']]);
  });

  it('is waited for until a publish that began with it has ended', async () => {
    const { shown, deps, calls, setNews } = node(8);
    setNews(true);
    const before = Promise.withResolvers<string>();
    const running = shown.publish(7, () => before.promise);
    const waiting = showCommitted(deps);
    expect(await settled(waiting)).toBe(false);
    before.resolve('7 is published');
    await running;
    expect(await settled(waiting)).toBe(false);
    setNews(false);
    await shown.publish(8, async () => 'and 8');
    expect(await settled(waiting)).toBe(true);
    expect(calls.filter((call) => call === 'publish').length).toBeGreaterThan(1);
  });

  it('is not shown by a publish that failed, nor by one of a single page', async () => {
    const { shown } = node(8);
    await expect(shown.publish(8, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await shown.publish(null, async () => 'one page');
    expect([shown.revision(), shown.isPublishing()]).toEqual([0, false]);
  });
});

describe('work that can wait', () => {
  it('lets other work of the thread go first, and goes on at once where nothing is being published', async () => {
    const { giveWay } = createShown();
    const order: string[] = [];
    setImmediate(() => order.push('another'));
    await giveWay();
    expect(order).toEqual(['another']);
  });

  it('waits for a publish, but not for one that takes long', async () => {
    const shown = createShown();
    const quick = Promise.withResolvers<void>();
    const publishing = shown.publish(1, () => quick.promise);
    const waiting = shown.giveWay();
    await new Promise((done) => setImmediate(done));
    expect(await settled(waiting)).toBe(false);
    quick.resolve();
    await Promise.all([publishing, waiting]);
    void shown.publish(2, () => new Promise(() => undefined));
    const keepsAwake = setInterval(() => undefined, 1_000);
    await shown.giveWay();
    clearInterval(keepsAwake);
    expect(shown.isPublishing()).toBe(true);
  });
});
