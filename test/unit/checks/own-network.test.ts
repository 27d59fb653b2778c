import { describe, expect, it } from 'vitest';
import { createNetworkWatch } from '../../../src/checks/checker.ts';
import type { Check } from '../../../src/sync/connectors/check.ts';
import { checkOf, tryOf } from '../../helpers/own-checks.ts';
import { virtualTime } from '../../helpers/virtual-time.ts';

const DOWN = tryOf('no connection');

/** Targets on hosts of their own, those of `up` answering. */
function watching(names: readonly string[], up: Set<string>, reference: (() => Promise<boolean>) | null = null) {
  const time = virtualTime(Date.UTC(2026, 10, 23));
  const targets = names.map((name) => ({ upstream: 'checks', check: checkOf({ url: `https://${name}.example` }) }));
  const asked: string[] = [];
  const watch = createNetworkWatch(targets, {
    now: time.now,
    reference,
    tryOnce: async ({ check }: { upstream: string; check: Check }) => {
      const name = new URL(check.type === 'http' ? check.url : '').hostname.split('.')[0] ?? '';
      asked.push(name);
      return up.has(name) ? tryOf(null) : DOWN;
    },
  });
  const isOurs = (index: number) => {
    const target = targets[index];
    if (target === undefined) throw new Error('no such target');
    return watch.isOursAtFault(target, { since: time.now() });
  };
  return { watch, targets, isOurs, asked, time };
}

describe('a failure without an answer', () => {
  it('is the target’s where another one answers', async () => {
    const { isOurs, asked } = watching(['a', 'b', 'c'], new Set(['b']));
    expect(await isOurs(0)).toBe(false);
    expect(asked).toEqual(['b', 'c']);
  });

  it('is ours where nothing answers', async () => {
    const { isOurs } = watching(['a', 'b', 'c'], new Set());
    expect(await isOurs(0)).toBe(true);
    expect(await isOurs(1)).toBe(true);
  });

  it('is the target’s where there is no other host', async () => {
    expect(await watching(['a'], new Set()).isOurs(0)).toBe(false);
    expect(await watching(['a', 'a'], new Set()).isOurs(0)).toBe(false);
  });

  it('asks nobody where another one has answered since', async () => {
    const { isOurs, asked, watch, targets } = watching(['a', 'b'], new Set(['b']));
    const other = targets[1];
    if (other !== undefined) watch.saw(other, tryOf('status 500', { hasAnswered: true }));
    expect(await isOurs(0)).toBe(false);
    expect(asked).toEqual([]);
  });

  it('has no witness in what was down before', async () => {
    const { isOurs, time } = watching(['a', 'b', 'c'], new Set(['c']));
    expect(await isOurs(0)).toBe(false);
    await time.pass(60_000);
    const dead = watching(['a', 'b'], new Set());
    const [, other] = dead.targets;
    if (other !== undefined) dead.watch.wasDown(other);
    expect(await dead.isOurs(0)).toBe(false);
  });

  it('is decided by the reference alone where there is one', async () => {
    expect(await watching(['a', 'b'], new Set(), async () => true).isOurs(0)).toBe(false);
    expect(await watching(['a', 'b'], new Set(['b']), async () => false).isOurs(0)).toBe(true);
    expect(await watching(['a'], new Set(), async () => false).isOurs(0)).toBe(true);
  });

  it('asks once for all failures of a moment', async () => {
    const { isOurs, asked, time } = watching(['a', 'b', 'c'], new Set());
    await Promise.all([isOurs(0), isOurs(1), isOurs(2)]);
    expect(asked).toHaveLength(2);
    await time.pass(10_000);
    await isOurs(0);
    expect(asked).toHaveLength(4);
  });
});
