/**
 * What runs of ours while something happens: files and functions, as V8's coverage counts them, in this thread and in every
 * thread that it starts. `PHAROS_BENCH_TRACE=1` lists them.
 */

import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { judge } from './budget.ts';

const SOURCES = new URL('../../src/', import.meta.url).href;

/** The functions that ran, by their file below `src` and their place in it: `name × times`. */
type Trace = ReadonlyMap<string, ReadonlyMap<number, string>>;

export interface Tracer {
  readonly trace: (task: () => Promise<void>) => Promise<Trace>;
  readonly close: () => void;
}

/** Sends a command of the inspector to one thread. */
type Send = (method: string, params?: object) => Promise<unknown>;

/** Follows the threads that are started from here on. */
export async function startTracer(): Promise<Tracer> {
  const session = new Session();
  session.connect();
  const own: Send = (method, params) => session.post(method as 'Profiler.enable', params as never);
  const threads = new Map<string, Send>([['', own]]);
  session.on('NodeWorker.attachedToWorker', ({ params }) => {
    threads.set(params.sessionId, sendTo(session, params.sessionId));
  });
  session.on('NodeWorker.detachedFromWorker', ({ params }) => void threads.delete(params.sessionId));
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  return {
    trace: async (task) => {
      const all = [...threads.values()];
      for (const send of all) {
        await send('Profiler.enable');
        await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
      }
      await task();
      // All at once, since threads go on with what follows.
      const taken = await Promise.all(all.map((send) => send('Profiler.takePreciseCoverage')));
      for (const send of all) await send('Profiler.stopPreciseCoverage');
      const files = new Map<string, Map<number, string>>();
      for (const { result } of taken as Profiler.TakePreciseCoverageReturnType[])
        for (const { url, functions } of result) {
          if (!url.startsWith(SOURCES)) continue;
          for (const { functionName, ranges } of functions) {
            const { startOffset = 0, count = 0 } = ranges[0] ?? {};
            const name = `${functionName || '(anonymous)'} × ${count}`;
            if (count > 0) files.getOrInsertComputed(url.slice(SOURCES.length), () => new Map()).set(startOffset, name);
          }
        }
      return files;
    },
    close: () => session.disconnect(),
  };
}

/** A thread that ends answers nothing more, and has run nothing that counts. */
function sendTo(session: Session, sessionId: string): Send {
  const waiting = new Map<number, (result: unknown) => void>();
  let last = 0;
  let isGone = false;
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    if (params.sessionId !== sessionId) return;
    const { id, result } = JSON.parse(params.message) as { readonly id?: number; readonly result?: unknown };
    waiting.get(id ?? 0)?.(result);
  });
  session.on('NodeWorker.detachedFromWorker', ({ params }) => {
    if (params.sessionId !== sessionId) return;
    isGone = true;
    for (const answer of waiting.values()) answer({ result: [] });
  });
  return async (method, params = {}) => {
    if (isGone) return { result: [] };
    last += 1;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    waiting.set(last, resolve);
    const message = JSON.stringify({ id: last, method, params });
    await session.post('NodeWorker.sendMessageToWorker', { message, sessionId }).catch(() => resolve({ result: [] }));
    return promise;
  };
}

/**
 * What runs each of several times: what runs beside a task, four times a second, is not in all of them. The first warms up.
 *
 * @param settle  resolves when nothing is left to do after a task, which isn't counted
 */
export async function repeatedTrace(
  tracer: Tracer,
  task: () => Promise<void>,
  settle: () => Promise<void> = async () => undefined,
): Promise<Trace> {
  await tracer.trace(task);
  const [first = new Map(), ...others] = await Array.fromAsync({ length: 15 }, async () => {
    await settle();
    return tracer.trace(task);
  });
  const always = [...first].map(([source, ran]): [string, ReadonlyMap<number, string>] => [
    source,
    new Map([...ran].filter(([place]) => others.every((other) => other.get(source)?.has(place)))),
  ]);
  return new Map(always.filter(([, ran]) => ran.size > 0));
}

/** Prints the figures beside their budgets. */
export function judgeTrace(
  name: string,
  trace: Trace,
  { files, functions }: { readonly files?: number; readonly functions?: number } = {},
): void {
  const ran = [...trace.values()].reduce((sum, names) => sum + names.size, 0);
  judge({ name: `${name}, files run`, figure: trace.size, unit: 'files', atMost: files ?? null });
  judge({ name: `${name}, functions run`, figure: ran, unit: 'functions', atMost: functions ?? null });
  if (process.env['PHAROS_BENCH_TRACE'] !== '1') return;
  for (const [source, names] of trace) console.log(`  ${source}: ${[...names.values()].join(', ')}`);
}
