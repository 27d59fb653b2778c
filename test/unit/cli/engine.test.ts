import { describe, expect, it } from 'vitest';
import { createEngine, type Engine, type RunRequest } from '../../../src/cli/engine.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import type { Store } from '../../../src/store/store.ts';

interface Rig {
  readonly engine: Engine;
  /** What each pass was asked for, in order. */
  readonly passes: { readonly upstreams: readonly string[] | null; readonly isManual: boolean }[];
  readonly published: (string | null)[];
  readonly queued: { readonly run: string; readonly actor: string | undefined }[];
  /** Lets the pass that is under way end. */
  readonly finish: () => void;
}

/** An engine whose passes end when they are told to. */
function rig({ fails = false }: { fails?: boolean } = {}): Rig {
  const passes: Rig['passes'] = [];
  const published: (string | null)[] = [];
  const queued: { run: string; actor: string | undefined }[] = [];
  let finish: (() => void)[] = [];
  let isOpen = false;
  const at = toEpochMs(0);
  const engine = createEngine({
    store: { recordRun: async () => undefined, retain: async () => 0 } as unknown as Store,
    now: () => at,
    pass: async (upstreams, { isManual }) => {
      passes.push({ upstreams, isManual });
      if (!isOpen) await new Promise<void>((resolve) => finish.push(resolve));
      if (fails) throw new Error('the store is gone');
      return { startedAt: at, endedAt: at, upstreams: [] };
    },
    publisher: () => ({
      publish: async (_state, request) => {
        published.push(request?.slug ?? null);
        return { pages: [], problems: [], durationMs: 0 };
      },
      settled: async () => undefined,
      close: async () => undefined,
    }),
    retentionDays: () => 400,
    beforePublish: async () => ({}) as never,
    onReport: () => undefined,
    onError: () => undefined,
    onQueued: (run, request) => queued.push({ run, actor: request.actor }),
  });
  return {
    engine,
    passes,
    published,
    queued,
    finish: () => {
      isOpen = true;
      for (const resolve of finish) resolve();
      finish = [];
    },
  };
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
      engine.submit({ trigger: 'start' }),
      engine.submit({ trigger: 'schedule', upstreams: ['a', 'b'] }),
      engine.submit(pull('svc')),
      engine.submit(pull('edge')),
    ];
    finish();
    await Promise.all(runs.map(({ report }) => report));
    expect(passes.map(({ upstreams }) => upstreams)).toEqual([null, ['svc'], ['edge'], ['a', 'b']]);
  });

  it('lets a waiting run of the schedule become urgent and deliberate when somebody asks for the same', async () => {
    const { engine, passes, finish } = rig();
    const first = engine.submit({ trigger: 'start' });
    engine.submit({ trigger: 'schedule', upstreams: ['other'] });
    const waiting = engine.submit({ trigger: 'schedule', upstreams: ['edge'] });
    const joined = engine.submit({ trigger: 'rebuild', upstreams: ['edge'], isUrgent: true });
    expect(joined.id).toBe(waiting.id);
    finish();
    await first.report;
    expect((await joined.report).trigger).toBe('rebuild');
    expect(passes[1]).toEqual({ upstreams: ['edge'], isManual: true });
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
});
