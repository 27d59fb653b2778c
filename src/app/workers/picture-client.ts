/**
 * Renders social images in a thread that exists only while there are some. Their libraries, fonts and WebAssembly take 14 MB,
 * which a permanent thread would keep. In its own thread, an image also doesn't delay news.
 */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { StatusError } from '../../errors.ts';
import type { PageRenderer } from '../../publish/files/kinds.ts';
import type { SocialView } from '../../views/badges/social.ts';
import { createRpc, type RpcPeer } from './rpc.ts';

/** Calls that the thread answers. */
export interface PictureHandlers {
  readonly draw: (view: SocialView) => Promise<Uint8Array>;
  readonly [name: string]: (...args: never[]) => unknown;
}

export interface Pictures {
  readonly draw: NonNullable<PageRenderer['socialImage']>;
  /** Ends the thread. An image that is being rendered fails. */
  readonly close: () => Promise<void>;
}

/** Starting takes a fifth of a second, and news on one page is often followed by news on others. */
const IDLE_MS = 5_000;

interface Begun {
  readonly worker: Worker;
  readonly rpc: RpcPeer<PictureHandlers>;
}

/** @param idleMs how long the thread waits for the next image */
export function createPictures(idleMs: number = IDLE_MS): Pictures {
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
    worker.on('exit', (status) =>
      end(new StatusError({ code: 'PUBLISH_FAILED', message: `The drawing thread exited with status ${status}.` })),
    );
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
