import { describe, expect, it } from 'vitest';
import { createEngine, type Engine, type RunRequest } from '../../../src/app/run/engine.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import { pageReport } from '../../../src/publish/publish-control.ts';
import type { Store } from '../../../src/store/create-store.ts';
import type { UpstreamReport } from '../../../src/sync/pass/pass.ts';

interface Rig {
  readonly engine: Engine;
  /** What each pass was asked for, in order. */
  readonly passes: { readonly upstreams: readonly string[]; readonly isManual: boolean; readonly isHinted: boolean }[];
  /** Pages that were named when publishing; null: all. */
  readonly published: (string | null)[];
  readonly queued: { readonly run: string; readonly actor: string | undefined }[];
  readonly troubles: string[];
  /** Lets an upstream answer, once. */
  readonly answer: (id: string) => Promise<void>;
  /** Lets everything answer that is asked, from now on. */
  readonly finish: () => void;
  /** Upstreams that are being asked at this moment. */
  readonly asked: () => readonly string[];
  /** Lets time pass. */
  readonly later: (ms: number) => void;
  /** Makes the next publish fail. */
  readonly breakPublish: () => void;
}

const ALL = ['a', 'b', 'edge', 'svc'];

/** An engine whose upstreams answer when they are told to. */
function rig({ fails = false, isNew = [] as readonly string[] } = {}): Rig {
  const passes: Rig['passes'] = [];
  const published: (string | null)[] = [];
  const queued: { run: string; actor: string | undefined }[] = [];
  const troubles: string[] = [];
  const asked: { readonly id: string; readonly answer: () => void }[] = [];
  let isOpen = false;
  let isBroken = false;
  let elapsed = 0;
  const at = toEpochMs(0);
  const times = new Map(ALL.filter((id) => !isNew.includes(id)).map((id) => [id, { monitorsAt: at, incidentsAt: at }]));
  const engine = createEngine({
    store: {
      recordRun: async () => undefined,
      retain: async () => 0,
      upstreamTimes: async () => times,
    } as unknown as Store,
    now: () => toEpochMs(elapsed),
    upstreamIds: () => ALL,
    pass: async (upstreams, { isManual = false, isHinted = false, onReport }) => {
      passes.push({ upstreams, isManual, isHinted });
      const reports = await Promise.all(
        upstreams.map(async (upstreamId) => {
          if (!isOpen) await new Promise<void>((answer) => asked.push({ id: upstreamId, answer }));
          const report = { upstreamId, kind: 'skipped' } as unknown as UpstreamReport;
          onReport?.(report);
          return report;
        }),
      );
      if (fails) throw new Error('the store is gone');
      return { startedAt: at, endedAt: at, upstreams: reports };
    },
    publisher: () => ({
      publish: async (_state, request) => {
        if (isBroken) {
          isBroken = false;
          throw new Error('the disk is full');
        }
        published.push(request?.slug ?? null);
        return { pages: [pageReport(`release ${published.length}`, 'published')], problems: [], durationMs: 1 };
      },
      publishSite: async () => undefined,
      settled: async () => undefined,
      close: async () => undefined,
    }),
    retentionDays: () => 400,
    beforePublish: async () => ({}) as never,
    onReport: () => undefined,
    onError: () => undefined,
    onTrouble: (error) => troubles.push(String(error)),
    onQueued: (run, request) => queued.push({ run, actor: request.actor }),
  });
  return {
    engine,
    passes,
    published,
    queued,
    troubles,
    answer: async (id) => {
      const [one] = asked.splice(
        asked.findIndex((each) => each.id === id),
        1,
      );
      one?.answer();
      await settle();
    },
    finish: () => {
      isOpen = true;
      for (const { answer } of asked.splice(0)) answer();
    },
    asked: () => asked.map(({ id }) => id).toSorted(),
    later: (ms) => {
      elapsed += ms;
    },
    breakPublish: () => {
      isBroken = true;
    },
  };
}

/** Lets everything happen that waits for nothing else. */
function settle(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

const pull = (id: string): RunRequest => ({ trigger: 'hook', upstreams: [id], isUrgent: true });

describe('the engine', () => {
  it('keeps one run and one that waits, however many ask for the same', async () => {
    const { engine, passes, finish } = rig();
    const runs = Array.from({ length: 1_000 }, () => engine.submit({ trigger: 'rebuild' }));
    expect(new Set(runs.map(({ id }) => id)).size).toBe(2);
    expect(engine.underWay()).toHaveLength(2);
    finish();
    await Promise.all(runs.map(({ report }) => report));
    expect(passes).toHaveLength(2);
    expect(engine.underWay()).toEqual([]);
  });

  it('publishes all pages once for a thousand rebuilds of different pages', async () => {
    const { engine, passes, published, finish } = rig();
    const runs = Array.from({ length: 1_000 }, (_, page) =>
      engine.submit({ trigger: 'rebuild', page: `page-${page}` }),
    );
    finish();
    await Promise.all(runs.map(({ report }) => report));
    expect(passes).toHaveLength(2);
    expect(published).toEqual(['page-0', null]);
  });

  it('takes what is urgent before what waits, in the order that it came', async () => {
    const { engine, passes, finish } = rig();
    const runs = [
      engine.submit({ trigger: 'rebuild', isPublishing: false }),
      engine.submit({ trigger: 'schedule', upstreams: ['a', 'b'] }),
      engine.submit(pull('svc')),
      engine.submit(pull('edge')),
    ];
    finish();
    await Promise.all(runs.map(({ report }) => report));
    expect(passes.map(({ upstreams }) => upstreams)).toEqual([ALL, ['svc'], ['edge'], ['a', 'b']]);
  });

  it('lets a waiting run of the schedule become urgent and deliberate when somebody asks for the same', async () => {
    const { engine, passes, finish } = rig();
    const first = engine.submit({ trigger: 'start', isPublishing: false });
    engine.submit({ trigger: 'schedule', upstreams: ['other'] });
    const waiting = engine.submit({ trigger: 'schedule', upstreams: ['edge'] });
    const joined = engine.submit({ trigger: 'rebuild', upstreams: ['edge'], isUrgent: true });
    expect(joined.id).toBe(waiting.id);
    finish();
    await first.report;
    expect((await joined.report).trigger).toBe('rebuild');
    expect(passes[1]).toEqual({ upstreams: ['edge'], isManual: true, isHinted: false });
    await engine.idle();
  });

  it('tells who asked, also of a run that others began', async () => {
    const { engine, queued, finish } = rig();
    engine.submit({ trigger: 'start' });
    const { id } = engine.submit({ trigger: 'rebuild', actor: 'operator' });
    engine.submit({ trigger: 'rebuild', actor: 'command:alice' });
    expect(queued.slice(1)).toEqual([
      { run: id, actor: 'operator' },
      { run: id, actor: 'command:alice' },
    ]);
    finish();
    await engine.idle();
  });

  it('goes on after a run that fails, and after something done between runs', async () => {
    const { engine, passes, finish } = rig({ fails: true });
    const failed = engine.run({ trigger: 'rebuild' });
    const next = engine.run({ trigger: 'schedule', upstreams: ['edge'] });
    const order: string[] = [];
    const aside = engine.between(async () => {
      order.push(`between, after ${passes.length} pass`);
      return 'done';
    });
    finish();
    await expect(failed).rejects.toThrow('the store is gone');
    await expect(next).rejects.toThrow('the store is gone');
    expect(await aside).toBe('done');
    expect(order).toEqual(['between, after 1 pass']);
    await expect(
      engine.between(async () => {
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    await expect(engine.run({ trigger: 'rebuild' })).rejects.toThrow('the store is gone');
  });

  it('asks what is urgent within a run that waits for others, and publishes it before they answer', async () => {
    const { engine, passes, published, queued, answer, asked } = rig();
    const run = engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
    await answer('edge');
    const hook = engine.submit({ ...pull('edge'), actor: 'hook:edge' });
    expect(hook.id).toBe(run.id);
    expect(queued.at(-1)).toEqual({ run: run.id, actor: 'hook:edge' });
    await settle();
    expect(asked()).toEqual(['edge', 'svc']);
    await answer('edge');
    expect(published).toEqual([null]);
    expect(engine.underWay()).toEqual([{ id: run.id, trigger: 'hook', startedAt: 0 }]);
    await answer('svc');
    const report = await run.report;
    expect(report.pass?.upstreams.map(({ upstreamId }) => upstreamId)).toEqual(['edge', 'svc', 'edge']);
    expect(report.publish?.pages.map(({ slug }) => slug)).toEqual(['release 1', 'release 2']);
    expect(passes).toHaveLength(2);
  });

  it('asks an upstream never twice at a time, and once more for all that came meanwhile', async () => {
    const { engine, passes, answer, asked, finish } = rig();
    engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
    for (let count = 0; count < 100; count += 1) engine.submit(pull('edge'));
    engine.submit({ trigger: 'rebuild', upstreams: ['edge'], isUrgent: true });
    await settle();
    expect(asked()).toEqual(['edge', 'svc']);
    await answer('edge');
    expect(asked()).toEqual(['edge', 'svc']);
    finish();
    await engine.idle();
    expect(passes.slice(1)).toEqual([{ upstreams: ['edge'], isManual: true, isHinted: true }]);
  });

  it('keeps the schedule of what answers while a run waits for what does not, and ends all the same', async () => {
    const { engine, passes, answer, asked } = rig();
    const run = engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
    await answer('edge');
    for (let tick = 0; tick < 5; tick += 1) {
      expect(engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] }).id).toBe(run.id);
      await settle();
      expect(asked()).toEqual(['edge', 'svc']);
      await answer('edge');
    }
    await answer('svc');
    expect((await run.report).trigger).toBe('schedule');
    expect(passes.map(({ upstreams }) => upstreams.length)).toEqual([2, 1, 1, 1, 1, 1]);
    expect(engine.underWay()).toEqual([]);
  });

  it('publishes what answered while it waits for the rest, unless that never answered before', async () => {
    const known = rig();
    const first = known.engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
    await known.answer('edge');
    await expect.poll(() => known.published).toEqual([null]);
    await known.answer('svc');
    expect((await first.report).publish?.pages).toHaveLength(2);

    const fresh = rig({ isNew: ['svc'] });
    const second = fresh.engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
    await fresh.answer('edge');
    fresh.engine.submit(pull('edge'));
    await settle();
    await fresh.answer('edge');
    await new Promise((done) => setTimeout(done, 400));
    expect(fresh.published).toEqual([]);
    await fresh.answer('svc');
    expect((await second.report).publish?.pages).toHaveLength(1);
  });

  it('asks and publishes as well while it waits for nothing but what was asked within it, and ends in time', async () => {
    const { engine, passes, published, answer, asked, later } = rig();
    const run = engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
    await answer('edge');
    engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
    await settle();
    await answer('svc');
    expect(asked()).toEqual(['edge']);
    expect(engine.submit(pull('svc')).id).toBe(run.id);
    await settle();
    await answer('svc');
    expect(published).toEqual([null]);
    // It grows no further by the schedule when it is old, and still says what turned stale.
    later(2 * 60_000);
    expect(engine.submit({ trigger: 'schedule', upstreams: ['svc'] }).id).toBe(run.id);
    await settle();
    expect(asked()).toEqual(['edge']);
    await expect.poll(() => published).toHaveLength(2);
    later(10 * 60_000);
    expect(engine.submit(pull('svc')).id).not.toBe(run.id);
    await answer('edge');
    await run.report;
    await settle();
    await answer('svc');
    await engine.idle();
    expect(passes.map(({ upstreams }) => upstreams)).toEqual([['edge', 'svc'], ['edge'], ['svc'], ['svc']]);
  });

  it('publishes what turned stale with every tick of the schedule, also while nothing answers', async () => {
    const { engine, passes, published, finish } = rig();
    engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
    for (let tick = 1; tick <= 2; tick += 1) {
      engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
      await expect.poll(() => published).toHaveLength(tick);
    }
    finish();
    await engine.idle();
    expect(passes).toHaveLength(1);
  });

  it('publishes in the end what could not be published before, and tells of it', async () => {
    const { engine, published, troubles, answer, breakPublish } = rig();
    const run = engine.submit({ trigger: 'schedule', upstreams: ['edge', 'svc'] });
    breakPublish();
    await answer('edge');
    await expect.poll(() => troubles).toEqual(['Error: the disk is full']);
    await answer('svc');
    expect((await run.report).hasFailed).toBe(false);
    expect(published).toEqual([null]);
  });
});
