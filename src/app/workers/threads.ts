/** Threads of ours, called like functions in both directions. If a thread ends, calls to it fail instead of waiting for ever. */

import { extname } from 'node:path';
import { parentPort, Worker } from 'node:worker_threads';
import { type BirpcReturn, createBirpc } from 'birpc';
import { messageOf, StatusError } from '../../errors.ts';

export interface Thread<Theirs extends object> {
  readonly calls: BirpcReturn<Theirs, object>;
  /** Number of calls without an answer. */
  readonly pending: () => number;
  readonly terminate: () => Promise<void>;
}

interface ThreadOptions {
  /** Plain data that the thread starts with. */
  readonly data?: unknown;
  /** Functions that the thread can call. */
  readonly answers?: object;
  readonly onEnd?: (error: Error) => void;
}

/** Only the message of an error is sent: its cause may be something that can't be. */
function serialize(message: { readonly e?: unknown }): unknown {
  return message.e === undefined ? message : { ...message, e: new Error(messageOf(message.e)) };
}

/** Starts a thread. @param module name of a module beside this one, without its ending */
export function startThread<Theirs extends object>(module: string, options: ThreadOptions = {}): Thread<Theirs> {
  const { data, answers = {}, onEnd } = options;
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
  return { calls, pending: () => pending, terminate: async () => void (await worker.terminate()) };
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
