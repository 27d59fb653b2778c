/**
 * Gives memory back when nothing is done any more. V8 collects while it is asked for memory; a thread that published a whole
 * site and then waits keeps what that took, up to half of it garbage.
 */

/** So long after the last work that the next one is not held up by it, as a rule. */
const IDLE_MS = 5_000;

export interface IdleMemory {
  /** Work began; nothing is given back until it has ended. */
  readonly begin: () => void;
  readonly end: () => void;
}

/** Where the process was begun without `--expose-gc`, nothing is given back. */
export function createIdleMemory(collect: (() => void) | undefined = globalThis.gc, idleMs = IDLE_MS): IdleMemory {
  let underWay = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    begin: () => {
      underWay += 1;
      clearTimeout(timer);
    },
    end: () => {
      underWay -= 1;
      if (underWay === 0 && collect !== undefined) timer = setTimeout(collect, idleMs).unref();
    },
  };
}
