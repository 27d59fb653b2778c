/**
 * Threads of the program that are used again: the one that publishes, and the one for social images, which are drawn plainly. A new one
 * loads the templates and half of the program again, and has compiled nothing yet.
 */

import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import threads, { MessageChannel, type MessagePort, Worker, type WorkerOptions } from 'node:worker_threads';

/** Sent to the thread (`warm-thread.ts`), with the port that stands for the one to its parent. */
export interface ThreadTask {
  readonly module: string;
  readonly data: unknown;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly port: MessagePort;
}

/** Those that leave nothing open when they are told to close. */
const SHARED = /\/(?:publisher|picture)-thread\.ts$/;
const PLAIN_PICTURES = new URL('plain-pictures.ts', import.meta.url);
const IDLE_MAX = 3;
const idle = new Set<Worker>();
// The name stands for something else soon.
const OwnWorker = Worker;

/** As a worker does it; "terminated", its thread does something else. */
class WarmWorker extends EventEmitter {
  readonly #thread: Worker;
  readonly #port: MessagePort;
  #ended: Promise<number> | undefined;

  constructor(module: URL, data: unknown) {
    super();
    const { port1, port2 } = new MessageChannel();
    const [free = startThread()] = idle;
    idle.delete(free);
    this.#thread = free;
    this.#port = port1.on('message', (message) => this.emit('message', message));
    this.#thread.ref();
    this.#thread.on('error', this.#fail).on('exit', this.#end);
    const task: ThreadTask = { module: module.href, data, env: { ...process.env }, port: port2 };
    this.#thread.postMessage(task, [port2]);
  }

  postMessage(message: unknown): void {
    this.#port.postMessage(message);
  }

  terminate(): Promise<number> {
    this.#ended ??= this.#leave();
    return this.#ended;
  }

  readonly #fail = (error: unknown): void => void this.emit('error', error);

  readonly #end = (status: number): void => {
    this.#ended ??= Promise.resolve(status);
    this.#port.close();
    this.#thread.off('error', this.#fail).off('exit', this.#end);
    this.emit('exit', status);
  };

  async #leave(): Promise<number> {
    const thread = this.#thread;
    this.#port.close();
    const isClean = await new Promise<boolean>((resolve) => {
      const onExit = (): void => resolve(false);
      thread.once('exit', onExit).once('message', (isClosed: boolean) => {
        thread.off('exit', onExit);
        resolve(isClosed);
      });
    });
    this.#end(1);
    if (isClean && idle.size < IDLE_MAX) {
      thread.unref();
      idle.add(thread);
    } else await thread.terminate();
    return 1;
  }
}

function startThread(): Worker {
  // A thread that was ended would not say what went wrong in it afterwards either.
  const thread = new OwnWorker(new URL('warm-thread.ts', import.meta.url));
  return thread.on('error', () => undefined).once('exit', () => void idle.delete(thread));
}

/** From now on, what begins such a thread gets one that is warm. Returns what ends this. */
export function shareThreads(): () => void {
  const set = (worker: unknown): void => {
    Object.assign(threads, { Worker: worker });
    syncBuiltinESMExports();
  };
  // A function that is called with `new` may return something else.
  set(function start(module: URL, options: WorkerOptions) {
    if (!SHARED.test(module.pathname)) return new OwnWorker(module, options);
    const isPictures = module.pathname.endsWith('/picture-thread.ts');
    return new WarmWorker(isPictures ? PLAIN_PICTURES : module, options.workerData);
  });
  return () => set(OwnWorker);
}
