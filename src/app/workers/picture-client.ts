/**
 * Renders social images in a thread that exists only while there are some. Their libraries, fonts and WebAssembly take 14 MB,
 * which a permanent thread would keep. In its own thread, an image also doesn't delay news.
 */

import type { SocialView } from '../../views/badges/social.ts';
import { startThread, type Thread } from './threads.ts';

/** Calls that the thread answers. */
export interface PictureCalls {
  readonly draw: (view: SocialView) => Promise<Uint8Array>;
}

export interface Pictures extends PictureCalls {
  /** Ends the thread. An image that is being rendered fails. */
  readonly close: () => Promise<void>;
}

/** Starting takes a fifth of a second, and news on one page is often followed by news on others. */
const IDLE_MS = 5_000;

/** @param idleMs how long the thread waits for the next image */
export function createPictures(idleMs: number = IDLE_MS): Pictures {
  let begun: Thread<PictureCalls> | null = null;
  let timer: NodeJS.Timeout | undefined;

  function begin(): Thread<PictureCalls> {
    const mine: Thread<PictureCalls> = startThread('picture-thread', {
      onEnd: () => {
        if (begun === mine) begun = null;
      },
    });
    return mine;
  }

  async function end(): Promise<void> {
    const ending = begun;
    begun = null;
    clearTimeout(timer);
    await ending?.terminate();
  }

  return {
    draw: async (view) => {
      clearTimeout(timer);
      begun ??= begin();
      const { calls, pending } = begun;
      try {
        return await calls.draw(view);
      } finally {
        if (pending() === 0) timer = setTimeout(() => void end(), idleMs).unref();
      }
    },
    close: end,
  };
}
