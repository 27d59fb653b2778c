/** Lets a few in at once and a bounded number wait. */

import pLimit from 'p-limit';

export interface Semaphore {
  /** Runs `task` in its turn; null when too many wait already. */
  readonly run: <T>(task: () => Promise<T>) => Promise<T | null>;
}

export function createSemaphore(atOnce: number, waitingMax: number): Semaphore {
  const limit = pLimit(atOnce);
  const isFull = (): boolean => limit.activeCount + limit.pendingCount >= atOnce + waitingMax;
  return { run: async (task) => (isFull() ? null : limit(task)) };
}
