/** Reads from a database or a disk that may hang: whoever asks gets what was read last, after a short wait for something newer. */

import { setTimeout as wait } from 'node:timers/promises';

/** A scrape times out after ten seconds by default, and one that answers tells more than one that does not. */
const PATIENCE_MS = 1_000;

export interface Latest<T> {
  /** Reads again, one read at a time, and returns what is known by then. */
  readonly read: () => Promise<T>;
  /** How long the read that is under way has been so; 0: none is. */
  readonly waitingMs: () => number;
}

/**
 * @param first what is known before anything was read
 * @param readNow what fails is said by whoever follows the source; here, what was read last stays
 */
export function createLatest<T>(first: T, readNow: () => Promise<T>, patienceMs: number = PATIENCE_MS): Latest<T> {
  let last = first;
  let reading: Promise<void> | null = null;
  let since = 0;

  async function readOnce(): Promise<void> {
    since = performance.now();
    try {
      last = await readNow();
    } finally {
      reading = null;
    }
  }

  return {
    read: async () => {
      reading ??= readOnce();
      await Promise.race([reading, wait(patienceMs, undefined, { ref: false })]);
      return last;
    },
    waitingMs: () => (reading === null ? 0 : performance.now() - since),
  };
}
