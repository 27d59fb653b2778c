/** Threads of ours, called like functions in both directions. If a thread ends, calls to it fail instead of waiting for ever. */

import { totalmem } from 'node:os';
import { extname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { parentPort, Worker } from 'node:worker_threads';
import { type BirpcReturn, createBirpc } from 'birpc';
import { messageOf, StatusError } from '../../errors.ts';

export type Thread<Theirs extends object> = ReturnType<typeof startThread<Theirs>>;

interface ThreadOptions {
  /** Plain data that the thread starts with. */
  readonly data?: unknown;
  /** Functions that the thread can call. */
  readonly answers?: object;
  readonly onEnd?: (error: Error) => void;
  /** Half of the room for young objects. Default: what all need. */
  readonly youngMb?: number;
}

/** Bytes that this process may use: what its control group allows, or what the machine has. */
export function memoryLimit(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}

/** From here on, memory is spent on speed. */
const ROOMY_BYTES = 2 * 2 ** 30;
const isRoomy = memoryLimit() >= ROOMY_BYTES;
/**
 * The more room young objects have, the fewer of them V8 copies: the publishing thread needs a tenth less time for a change with
 * 16 instead of 8, and threads that draw whole sites, which last no longer than that, a third less with 16 instead of 4.
 */
export const YOUNG_MB = isRoomy ? { publisher: 16, pages: 16 } : { publisher: 8, pages: 4 };
/**
 * How far heaps may grow before they are collected, while threads draw whole sites: with the usual quarter of what is alive
 * (`bin/pharos.js`), that takes a fifth of the processor. Null: as far as usual.
 */
export const DRAWING_GROWTH = isRoomy ? '--heap-growing-percent=100' : null;
const USUAL_YOUNG_MB = 4;

/** Only the message of an error is sent: its cause may be something that can't be. */
function serialize(message: { readonly e?: unknown }): unknown {
  return message.e === undefined ? message : { ...message, e: new Error(messageOf(message.e)) };
}

/** Starts a thread. @param module name of a module beside this one, without its ending */
export function startThread<Theirs extends object>(module: string, options: ThreadOptions = {}) {
  const { data, answers = {}, onEnd, youngMb = USUAL_YOUNG_MB } = options;
  // A thread takes the flag's value when it starts. The flag overrides `resourceLimits`.
  setFlagsFromString(`--max-semi-space-size=${youngMb}`);
  const worker = new Worker(new URL(`./${module}${extname(import.meta.url)}`, import.meta.url), { workerData: data });
  let pending = 0;
  const calls = createBirpc<Theirs, object>(answers, {
    post: (message) => worker.postMessage(message),
    on: (listener) => void worker.on('message', listener),
    timeout: -1,
    serialize,
    onRequest: async (_request, next) => {
      pending += 1;
      await next().finally(() => {
        pending -= 1;
      });
    },
  });
  const end = (error: Error): void => {
    if (calls.$closed) return;
    calls.$close(error);
    onEnd?.(error);
  };
  worker.on('error', end);
  worker.on('exit', (status) =>
    end(new StatusError({ code: 'PUBLISH_FAILED', message: `The thread ${module} exited with status ${status}.` })),
  );
  return {
    calls,
    /** Number of calls without an answer. */
    pending: () => pending,
    terminate: async () => void (await worker.terminate()),
  };
}

/** Answers the calls of the thread that started this one, and returns a way to call it. */
export function answerParent<Theirs extends object>(answers: object): BirpcReturn<Theirs, object> {
  const port = parentPort;
  if (port === null) throw new Error('this module is the entry point of a thread');
  return createBirpc<Theirs, object>(answers, {
    post: (message) => port.postMessage(message),
    on: (listener) => void port.on('message', listener),
    timeout: -1,
    serialize,
  });
}
