/** Limits concurrent tasks, and how many may wait. */

import pLimit from 'p-limit';

export interface Semaphore {
  /** Runs `task` when a slot is free; null if too many are waiting already. */
  readonly run: <T>(task: () => Promise<T>) => Promise<T | null>;
}

export function createSemaphore(atOnce: number, waitingMax: number): Semaphore {
  const limit = pLimit(atOnce);
  const isFull = (): boolean => limit.activeCount + limit.pendingCount >= atOnce + waitingMax;
  return { run: async (task) => (isFull() ? null : limit(task)) };
}
