import { describe, expect, it } from 'vitest';
import { createTargetKeeper } from '../../../src/app/targets.ts';
import type { Config } from '../../../src/config/load.ts';
import type { Target, TargetReport } from '../../../src/publish/targets/create-target.ts';

const REPORT: TargetReport = {
  kind: 's3',
  place: 's3://b/',
  result: 'current',
  filesWritten: 0,
  filesKept: 0,
  filesRemoved: 0,
  bytesWritten: 0,
  durationMs: 0,
  message: null,
  warnings: [],
};

function slowTarget() {
  const pending: ((report: TargetReport) => void)[] = [];
  let isClosed = false;
  let interruptions = 0;
  const target: Target = {
    kind: 's3',
    place: REPORT.place,
    open: async () => undefined,
    update: () => new Promise((done) => pending.push(done)),
    interrupt: () => {
      interruptions += 1;
    },
    probe: async () => undefined,
    close: async () => {
      isClosed = true;
      for (const done of pending.splice(0)) done({ ...REPORT, result: 'failed', message: 'stopped' });
    },
  };
  return {
    target,
    running: () => pending.length,
    finish: async (over: Partial<TargetReport> = {}) => {
      pending.shift()?.({ ...REPORT, ...over });
      await new Promise((turn) => setImmediate(turn));
    },
    isClosed: () => isClosed,
    interruptions: () => interruptions,
  };
}

describe('what keeps targets current', () => {
  const keeperOf = (targets: readonly Target[], isOurs = () => true) => {
    let config = {} as Config;
    const reported: (readonly [string, string])[] = [];
    const keeper = createTargetKeeper({
      config: () => config,
      make: () => targets,
      onReport: ({ result }, run) => reported.push([run, result]),
      isOurs,
    });
    return { keeper, reported, replaceConfig: () => (config = {} as Config) };
  };

  it('runs one update at a time, and one more for all that came meanwhile', async () => {
    const slow = slowTarget();
    const { keeper, reported } = keeperOf([slow.target]);
    for (const run of ['r1', 'r2', 'r3']) keeper.follow(run);
    expect(slow.running()).toBe(1);
    await slow.finish();
    expect(slow.running()).toBe(1);
    await slow.finish({ result: 'failed' });
    expect(slow.running()).toBe(0);
    expect(reported).toEqual([
      ['r1', 'current'],
      ['r3', 'failed'],
    ]);
    expect(keeper.reports()).toMatchObject([{ result: 'failed' }]);
    keeper.follow('r4');
    expect(slow.running()).toBe(1);
    await keeper.close();
  });

  it('interrupts what is under way when pages close, and updates at once also where nothing is', async () => {
    const [busy, idle] = [slowTarget(), slowTarget()];
    const { keeper, reported } = keeperOf([busy.target, idle.target]);
    keeper.follow('r1');
    await idle.finish();
    keeper.withdraw(['acme']);
    expect([busy.interruptions(), idle.interruptions()]).toEqual([1, 1]);
    expect([busy.running(), idle.running()]).toEqual([1, 1]);
    await idle.finish();
    await busy.finish();
    expect(busy.running()).toBe(1);
    expect(reported).toEqual([
      ['r1', 'current'],
      ['closing', 'current'],
      ['r1', 'current'],
    ]);
    await keeper.close();
  });

  it('leaves a target to the node that was elected, and begins anew when that is this one', async () => {
    const slow = slowTarget();
    let isElected = false;
    const { keeper } = keeperOf([slow.target], () => isElected);
    keeper.open();
    keeper.follow('r1');
    keeper.withdraw(['acme']);
    await new Promise((turn) => setImmediate(turn));
    expect(slow.running()).toBe(0);
    isElected = true;
    keeper.takeOver();
    await new Promise((turn) => setImmediate(turn));
    expect([slow.running(), slow.isClosed()]).toEqual([1, true]);
    await keeper.close();
  });

  it('lets one target wait for no other', async () => {
    const [slow, quick] = [slowTarget(), slowTarget()];
    const { keeper } = keeperOf([slow.target, quick.target]);
    keeper.follow('r1');
    await quick.finish();
    keeper.follow('r2');
    expect([slow.running(), quick.running()]).toEqual([1, 1]);
    await keeper.close();
  });

  it('stops what is under way when it closes, tells nobody of it, and begins nothing more', async () => {
    const slow = slowTarget();
    const { keeper, reported } = keeperOf([slow.target]);
    keeper.follow('r1');
    keeper.follow('r2');
    await keeper.close();
    keeper.follow('r3');
    expect([slow.isClosed(), slow.running(), reported]).toEqual([true, 0, []]);
  });

  it('makes the targets anew for another configuration once the old ones have ended, and never before', async () => {
    const [old, next, last] = [slowTarget(), slowTarget(), slowTarget()];
    const made = [old, next, last];
    const ends = Promise.withResolvers<void>();
    old.target = { ...old.target, close: () => ends.promise };
    let config = {} as Config;
    const keeper = createTargetKeeper({
      config: () => config,
      make: () => [(made.shift() as typeof old).target],
      onReport: () => undefined,
      isOurs: () => true,
    });
    keeper.follow('r1');
    config = {} as Config;
    keeper.follow('r2');
    keeper.withdraw(['acme']);
    config = {} as Config;
    keeper.follow('r3');
    await new Promise((turn) => setImmediate(turn));
    // The one in between was never needed: it closes without having written anything.
    expect([old.running(), next.running(), last.running()]).toEqual([1, 0, 0]);
    ends.resolve();
    await new Promise((turn) => setImmediate(turn));
    expect([next.running(), next.isClosed(), last.running()]).toEqual([0, true, 1]);
    await keeper.close();
    expect(last.isClosed()).toBe(true);
  });
});
