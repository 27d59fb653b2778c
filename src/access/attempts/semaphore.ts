/** Lets a few in at once and a bounded number wait. */

export interface Semaphore {
  /** Runs `task` in its turn; null when too many wait already. */
  readonly run: <T>(task: () => Promise<T>) => Promise<T | null>;
}

export function createSemaphore(atOnce: number, waitingMax: number): Semaphore {
  const waiting: (() => void)[] = [];
  let inside = 0;
  return {
    run: async (task) => {
      if (inside >= atOnce) {
        if (waiting.length >= waitingMax) return null;
        // The one who leaves hands the place over, so `inside` stays as it is.
        await new Promise<void>((enter) => waiting.push(enter));
      } else inside += 1;
      try {
        return await task();
      } finally {
        const next = waiting.shift();
        if (next === undefined) inside -= 1;
        else next();
      }
    },
  };
}
