/**
 * Gives memory back when nothing is done any more. V8 collects while it is asked for memory; a thread that published a whole
 * site and then waits keeps what that took, up to half of it garbage.
 */

import { once } from '../../once.ts';

/** So long after the last work that the next one is not held up by it, as a rule. */
const IDLE_MS = 5_000;
/** While there is work, what is free between what is not grows: by a third over a thousand pages. */
const TRIM_EVERY_MS = 2_000;

export interface IdleMemory {
  /** Work began; no garbage is collected until it has ended. */
  readonly begin: () => void;
  readonly end: () => void;
}

/** Where the process was begun without `--expose-gc`, no garbage is collected. */
export function createIdleMemory(collect: (() => void) | undefined = globalThis.gc, idleMs = IDLE_MS): IdleMemory {
  let underWay = 0;
  let timer: NodeJS.Timeout | undefined;
  let trimming: NodeJS.Timeout | undefined;
  const giveBack = (): void => {
    collect?.();
    trimMemory();
  };
  return {
    begin: () => {
      underWay += 1;
      clearTimeout(timer);
      trimming ??= setInterval(trimMemory, TRIM_EVERY_MS).unref();
    },
    end: () => {
      underWay -= 1;
      if (underWay > 0) return;
      clearInterval(trimming);
      trimming = undefined;
      if (collect !== undefined) timer = setTimeout(giveBack, idleMs).unref();
    },
  };
}

/**
 * Has glibc give back what is free between what is not: by itself it gives back what nothing lies behind, which left two
 * thirds of its memory unused once a site was published. Takes up to ten milliseconds, in which threads that ask it for
 * memory wait; where there is no glibc nothing happens.
 */
function trimMemory(): void {
  trim()?.(0n);
}

/** Null: there is none. */
const trim = once(() => {
  const ffi = process.platform === 'linux' ? process.getBuiltinModule('node:ffi') : undefined;
  try {
    return ffi?.dlopen(null, { malloc_trim: { arguments: ['u64'], return: 'i32' } }).functions.malloc_trim ?? null;
  } catch {
    // Another C library has no such function.
    return null;
  }
});
