/**
 * Social images drawn in a thread that is there while there are some to draw. The libraries, fonts and WebAssembly behind
 * them take 14 MB, which a thread that lasts would keep, and whatever is drawn beside the thread that publishes holds no news up.
 */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StatusError } from '../../errors.ts';
import type { PageRenderer } from '../../publish/files/file-kind.ts';
import type { SocialView } from '../../views/badges/social.ts';
import { createRpc, type RpcPeer } from './rpc.ts';

/** What the thread answers. */
export interface PictureHandlers {
  readonly draw: (view: SocialView) => Promise<Uint8Array>;
  readonly [name: string]: (...args: never[]) => unknown;
}

export interface Pictures {
  readonly draw: NonNullable<PageRenderer['socialImage']>;
  /** Ends the thread. What it draws at this moment fails. */
  readonly close: () => Promise<void>;
}

export interface PicturesOptions {
  /** The thread begins. */
  readonly onBegin: () => void;
  /** It has ended, and what it took is free. */
  readonly onEnd: () => void;
  /** How long it waits for the next image. */
  readonly idleMs?: number;
}

/** Beginning takes a fifth of a second, and where one page has news, others often do. */
const IDLE_MS = 5_000;

interface Begun {
  readonly worker: Worker;
  readonly rpc: RpcPeer<PictureHandlers>;
}

export function createPictures({ onBegin, onEnd, idleMs = IDLE_MS }: PicturesOptions): Pictures {
  let begun: Begun | null = null;
  let timer: NodeJS.Timeout | undefined;

  function begin(): Begun {
    const worker = new Worker(new URL(`./picture-thread${extname(import.meta.url)}`, import.meta.url));
    const mine: Begun = { worker, rpc: createRpc<PictureHandlers>(worker, {}) };
    const end = (error: Error): void => {
      if (begun === mine) begun = null;
      mine.rpc.end(error);
    };
    worker.on('error', end);
    worker.on('exit', (status) => {
      end(new StatusError({ code: 'PUBLISH_FAILED', message: `The drawing thread exited with status ${status}.` }));
      onEnd();
    });
    onBegin();
    return mine;
  }

  async function end(): Promise<void> {
    const ending = begun;
    begun = null;
    clearTimeout(timer);
    await ending?.worker.terminate();
  }

  return {
    draw: async (view) => {
      clearTimeout(timer);
      begun ??= begin();
      const { rpc } = begun;
      try {
        return await rpc.call('draw', view);
      } finally {
        if (rpc.pending() === 0) timer = setTimeout(() => void end(), idleMs).unref();
      }
    },
    close: end,
  };
}
