/**
 * Calls between threads, in both directions: a name, arguments, and a result or an error. Our own, because a caller must never
 * wait for a thread that has ended, which libraries for browsers don't handle.
 */

import { messageOf } from '../../errors.ts';

/** The common part of `Worker` and `MessagePort`. */
interface RpcPort {
  readonly postMessage: (message: unknown) => void;
  readonly on: (event: 'message', listener: (message: RpcMessage) => void) => unknown;
}

/** Plain data in, plain data out. */
type RpcHandlers = Readonly<Record<string, (...args: never[]) => unknown>>;

interface RpcCall {
  readonly call: number;
  readonly name: string;
  readonly args: readonly never[];
}

type RpcMessage =
  | RpcCall
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly message: string };

export interface RpcPeer<Theirs extends RpcHandlers> {
  readonly call: <Name extends keyof Theirs & string>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ) => Promise<Awaited<ReturnType<Theirs[Name]>>>;
  /** Number of calls without an answer. */
  readonly pending: () => number;
  /** The other thread has ended: rejects waiting calls and all later ones. */
  readonly end: (error: Error) => void;
}

/** Answers calls of the other thread with `own`, and returns a way to call it. */
export function createRpc<Theirs extends RpcHandlers>(port: RpcPort, own: RpcHandlers): RpcPeer<Theirs> {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  let lastCall = 0;
  let ended: Error | null = null;

  async function answer({ call, name, args }: RpcCall): Promise<void> {
    try {
      const handler = own[name];
      if (handler === undefined) throw new Error(`no thread answers to ${name}`);
      port.postMessage({ answer: call, value: await handler(...args) });
    } catch (error) {
      port.postMessage({ answer: call, message: messageOf(error) });
    }
  }

  port.on('message', (message) => {
    if ('call' in message) {
      void answer(message);
      return;
    }
    const caller = waiting.get(message.answer);
    waiting.delete(message.answer);
    if ('message' in message) caller?.reject(new Error(message.message));
    else caller?.resolve(message.value as never);
  });

  return {
    call: (name, ...args) => {
      if (ended !== null) return Promise.reject(ended);
      lastCall += 1;
      const call = lastCall;
      return new Promise((resolve, reject) => {
        waiting.set(call, { resolve, reject });
        port.postMessage({ call, name, args });
      });
    },
    pending: () => waiting.size,
    end: (error) => {
      ended = error;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    },
  };
}
