/**
 * Returns memory to the system when the thread is idle. V8 collects garbage only when it needs memory, so a thread that has
 * published a whole site and then waits would keep all of it, up to half of it garbage.
 */

import { once } from '../../once.ts';

/** How long to wait after the last work. Long enough that the collection usually delays no further work. */
const IDLE_MS = 5_000;
/** Free memory between used blocks grows while there is work: by a third over a thousand pages. */
const TRIM_EVERY_MS = 2_000;

interface IdleMemory {
  /** Work starts. No garbage is collected until it ends. */
  readonly begin: () => void;
  readonly end: () => void;
}

/** Without `--expose-gc`, no garbage is collected. */
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
 * Makes glibc return free memory between used blocks. By itself, it only returns memory at the end of its heap, which left two
 * thirds of the heap unused after a site was published. Takes up to ten milliseconds, in which threads that need memory wait.
 * Without glibc, nothing happens.
 */
function trimMemory(): void {
  trim()?.(0n);
}

/** Null: not glibc. */
const trim = once(() => {
  const ffi = process.platform === 'linux' ? process.getBuiltinModule('node:ffi') : undefined;
  try {
    return ffi?.dlopen(null, { malloc_trim: { arguments: ['u64'], return: 'i32' } }).functions.malloc_trim ?? null;
  } catch {
    // Another C library has no such function.
    return null;
  }
});
