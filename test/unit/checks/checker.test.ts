import { describe, expect, it } from 'vitest';
import { type CheckerDeps, createChecker } from '../../../src/checks/checker.ts';
import type { Try } from '../../../src/checks/measure.ts';
import type { StoredCheck } from '../../../src/model/check-result.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { checkOf, tryOf } from '../../helpers/own-checks.ts';
import { type VirtualTime, virtualTime } from '../../helpers/virtual-time.ts';

const START = Date.UTC(2026, 10, 23, 9);

interface World {
  readonly time: VirtualTime;
  /** `name second` of each try. */
  readonly tries: string[];
  readonly stored: Map<string, StoredCheck>;
  readonly changes: string[];
  readonly gaps: number[];
  answer: (name: string) => Try | Promise<Try>;
  fence: number | null;
}

function checking(
  names: readonly string[],
  {
    fields = {},
    stored = [],
    ...deps
  }: { fields?: object; stored?: readonly StoredCheck[] } & Partial<CheckerDeps> = {},
) {
  const time = virtualTime(START);
  const world: World = {
    ...{ time, tries: [], stored: new Map(stored.map((one) => [one.name, one])), changes: [], gaps: [] },
    answer: () => tryOf(null),
    fence: 1,
  };
  const seconds = (): number => (time.now() - START) / 1_000;
  const checks = names.map((name) => ({
    upstream: 'checks',
    check: checkOf({ name, url: `https://${name}.example`, ...fields }),
  }));
  const checker = createChecker(checks, {
    place: 'fra',
    now: time.now,
    sleep: time.sleep,
    tryOnce: async ({ check }) => {
      world.tries.push(`${check.id} ${seconds()}`);
      return world.answer(check.id);
    },
    reference: null,
    turn: () => world.fence,
    read: async () => [...world.stored.values()],
    write: async (results) => {
      for (const result of results) world.stored.set(result.name, result);
    },
    onChange: (upstreams) => world.changes.push(`${upstreams.join()} ${seconds()}`),
    onGap: async () => void world.gaps.push(seconds()),
    onError: (error) => {
      throw error;
    },
    ...deps,
  });
  return { checker, world };
}

const timesOf = (tries: readonly string[], name: string): number[] =>
  tries.filter((line) => line.startsWith(`${name} `)).map((line) => Number(line.split(' ')[1]));

describe('checks', () => {
  it('are spread over their period, and come exactly once in each', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `t${index}`);
    const { checker, world } = checking(names);
    await checker.open();
    await world.time.pass(10_000);
    expect(world.tries).toHaveLength(30);
    world.tries.length = 0;
    await world.time.pass(300_000);
    expect(world.tries).toHaveLength(300);
    const bySecond = Map.groupBy(world.tries, (line) => Math.floor(Number(line.split(' ')[1])));
    expect(Math.max(...[...bySecond.values()].map(({ length }) => length))).toBe(1);
    const times = timesOf(world.tries, 't7');
    expect(times.slice(1).map((at, index) => Math.round((at - (times[index] ?? 0)) * 1_000))).toEqual(
      Array(9).fill(30_000),
    );
    await checker.close();
  });

  it('don’t overlap, nor wait for each other', async () => {
    const { checker, world } = checking(['stuck', 'fine'], { fields: { retry: 0 } });
    const held = Promise.withResolvers<Try>();
    world.answer = (name) => (name === 'stuck' ? held.promise : tryOf(null));
    await checker.open();
    await world.time.pass(120_000);
    expect(timesOf(world.tries, 'stuck')).toHaveLength(1);
    expect(timesOf(world.tries, 'fine').length).toBeGreaterThanOrEqual(4);
    held.resolve(tryOf(null));
    await world.time.pass(60_000);
    expect(timesOf(world.tries, 'stuck').length).toBeGreaterThanOrEqual(2);
    await checker.close();
  });

  it('of one host come a few at a time', async () => {
    const { checker, world } = checking(['a', 'b', 'c', 'd', 'e'], { fields: { url: 'https://one.example' } });
    const held = Promise.withResolvers<Try>();
    world.answer = () => held.promise;
    await checker.open();
    await world.time.pass(29_000);
    expect(world.tries).toHaveLength(3);
    held.resolve(tryOf(null));
    await world.time.pass(0);
    expect(world.tries).toHaveLength(5);
    await checker.close();
  });

  it('tell a fall within two seconds, and its start is the first failed try', async () => {
    const { checker, world } = checking(['shop', 'other']);
    await checker.open();
    await world.time.pass(45_000);
    expect(world.changes.length).toBe(2);
    const [before] = timesOf(world.tries, 'shop').slice(-1);
    world.answer = (name) => (name === 'shop' ? tryOf('the connection was refused') : tryOf(null));
    await world.time.pass(35_000);
    const failed = timesOf(world.tries, 'shop').filter((at) => at > (before ?? 0));
    expect(failed).toHaveLength(4);
    const told = Number(world.changes.at(-1)?.split(' ')[1]);
    expect(told - (failed[0] ?? 0)).toBeLessThan(2);
    expect(world.stored.get('shop')).toMatchObject({
      state: 'major_outage',
      since: START + (failed[0] ?? 0) * 1_000,
      fault: 'the connection was refused',
    });
    await checker.close();
  });

  it('say nothing of their targets while our own network is gone', async () => {
    const { checker, world } = checking(['a', 'b', 'c']);
    await checker.open();
    await world.time.pass(30_000);
    world.answer = () => tryOf('no connection');
    await world.time.pass(120_000);
    expect([...world.stored.values()].map(({ state }) => state)).toEqual(['unknown', 'unknown', 'unknown']);
    world.answer = (name) => (name === 'a' ? tryOf('no connection') : tryOf(null));
    await world.time.pass(60_000);
    expect([...world.stored.values()].map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
      'a major_outage',
      'b operational',
      'c operational',
    ]);
    await checker.close();
  });

  it('record a gap before they go on after a sleep of the machine', async () => {
    const { checker, world } = checking(['shop']);
    await checker.open();
    await world.time.pass(5_000);
    const tries = world.tries.length;
    await world.time.jump(600_000);
    expect(world.gaps).toHaveLength(1);
    expect(world.tries).toHaveLength(tries);
    await world.time.pass(30_000);
    expect(world.tries.length).toBe(tries + 1);
    expect(world.stored.get('shop')?.since).toBeGreaterThan(START + 600_000);
    await checker.close();
  });

  it('are made by the node whose turn it is, which goes on from what another one found', async () => {
    const { checker, world } = checking(['shop']);
    world.fence = null;
    await checker.open();
    await world.time.pass(60_000);
    expect(world.tries).toEqual([]);
    const since = toEpochMs(START + 20_000);
    world.stored.set('shop', {
      ...{ upstream: 'checks', name: 'shop', place: 'fra', at: toEpochMs(START + 55_000), state: 'operational' },
      ...{ since, foundAt: since, fault: null, totalMs: 5, certificateEndsAt: null, recent: [], usualMs: [] },
    });
    world.fence = 7;
    await world.time.pass(31_000);
    expect(world.tries).toHaveLength(1);
    expect(world.stored.get('shop')?.since).toBe(since);
    await checker.close();
  });

  it('keep what could not be stored, and tell of it once it is', async () => {
    let fails = true;
    const written: string[] = [];
    const errors: unknown[] = [];
    const { checker, world } = checking(['shop'], {
      write: async (results) => {
        if (fails) throw new Error('the database is away');
        written.push(...results.map(({ name }) => name));
      },
      onError: (error) => errors.push(error),
    });
    await checker.open();
    await world.time.pass(20_000);
    expect([errors.length > 0, written, world.changes]).toEqual([true, [], []]);
    fails = false;
    await world.time.pass(30_000);
    expect(written).toContain('shop');
    expect(world.changes).toEqual(['checks 31']);
    await checker.close();
  });

  it('that are paused are left alone', async () => {
    const { checker, world } = checking(['shop'], { fields: { active: false } });
    await checker.open();
    await world.time.pass(60_000);
    expect(await checker.runOnce(true)).toEqual([]);
    expect(world.tries).toEqual([]);
    await checker.close();
  });

  it('once: those that are due, or all', async () => {
    const { checker, world } = checking(['a', 'b']);
    expect((await checker.runOnce(false)).map(({ check }) => check.id)).toEqual(['a', 'b']);
    expect(await checker.runOnce(false)).toEqual([]);
    expect(await checker.runOnce(true)).toHaveLength(2);
    await world.time.jump(31_000);
    expect(await checker.runOnce(false)).toHaveLength(2);
    expect(world.stored.size).toBe(2);
  });
});
