/**
 * Threads that prepare pages in addition to the publishing thread. They start when there is work and end when there is none.
 * Our own, because a task must fail if its thread can't start; tinypool waits forever.
 */

import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { OwnComponents } from '../../publish/draw/own-components.ts';
import type { PageTask, PreparedPage } from '../../publish/page-release.ts';
import type { PrepareControl } from '../../publish/publish-control.ts';
import type { WorkerPool } from '../../publish/publisher.ts';
import type { ReleaseFolders } from '../../publish/releases/folders.ts';
import type { SocialView } from '../../views/badges/social.ts';
import type { StorePlace } from '../open-store.ts';
import { DRAWING_GROWTH, memoryLimit, startThread, type Thread, YOUNG_MB } from './threads.ts';

/** Data that a thread starts with. */
export interface PageWorkerData {
  readonly store: StorePlace;
  readonly folders: ReleaseFolders;
  /** An operator's own components; null: none. */
  readonly components: OwnComponents | null;
}

/** Calls that a thread answers. */
export interface PageCalls {
  readonly prepare: (task: PageTask) => Promise<PreparedPage>;
}

/** The calls that a thread makes. By name, because a thread's are made when they are asked for. */
export const prepareCalls = ({ nextNumber, rememberFirsts, commitDays, commitRelease }: PrepareControl) => ({
  ...{ nextNumber, rememberFirsts, commitDays, commitRelease },
});

/** More threads would wait for the disk. */
const SIZE_MAX = 8;
/** Memory of the process without threads, and of each thread while it renders (`npm run bench -- memory`), in bytes. */
const BASE_BYTES = 300 * 2 ** 20;
const THREAD_BYTES = 100 * 2 ** 20;

/**
 * Returns the number of threads: as many as there are cores, and as fit into the memory that the process may use.
 *
 * @param limitBytes as of `memoryLimit`
 */
export function poolSize(cores: number, limitBytes: number): number {
  const fitting = Math.floor((limitBytes - BASE_BYTES) / THREAD_BYTES);
  return Math.max(1, Math.min(SIZE_MAX, cores, fitting));
}

/** Absent: V8 decides, as in a command that ends. */
const USUAL_GROWTH = process.execArgv.find((flag) => flag.startsWith('--heap-growing-percent='));

/** V8 reads the flag whenever it has collected a heap. */
function setGrowth(isDrawing: boolean): void {
  if (USUAL_GROWTH !== undefined) setFlagsFromString((isDrawing ? DRAWING_GROWTH : null) ?? USUAL_GROWTH);
}

/** Creates a pool whose threads start when there is work. */
export function createWorkerPool(data: PageWorkerData, control: PrepareControl): WorkerPool {
  const size = poolSize(availableParallelism(), memoryLimit());
  let threads: Thread<PageCalls>[] = [];

  function begin(): Thread<PageCalls> {
    const thread: Thread<PageCalls> = startThread('page-worker', {
      data,
      youngMb: YOUNG_MB.pages,
      answers: prepareCalls(control),
      onEnd: () => {
        threads = threads.filter((other) => other !== thread);
      },
    });
    threads.push(thread);
    setGrowth(true);
    return thread;
  }

  return {
    size,
    prepare: (task) => {
      const [leastBusy] = threads.toSorted((a, b) => a.pending() - b.pending());
      const isFree = leastBusy !== undefined && (leastBusy.pending() === 0 || threads.length >= size);
      return (isFree ? leastBusy : begin()).calls.prepare(task);
    },
    terminate: async () => {
      const idle = threads.filter(({ pending }) => pending() === 0);
      threads = threads.filter((thread) => !idle.includes(thread));
      if (threads.length === 0) setGrowth(false);
      await Promise.all(idle.map(({ terminate }) => terminate()));
    },
  };
}

// Renders social images in a thread that exists only while there are some. Their libraries, fonts and WebAssembly
// take 14 MB, which a permanent thread would keep. In its own thread, an image also doesn't delay news.

/** Calls that the thread answers. */
export interface PictureCalls {
  readonly draw: (view: SocialView) => Promise<Uint8Array>;
}

export type Pictures = ReturnType<typeof createPictures>;

/** Starting takes a fifth of a second, and news on one page is often followed by news on others. */
const IDLE_MS = 5_000;

/** @param idleMs how long the thread waits for the next image */
export function createPictures(idleMs: number = IDLE_MS) {
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
    draw: async (view: SocialView): Promise<Uint8Array> => {
      clearTimeout(timer);
      begun ??= begin();
      const { calls, pending } = begun;
      try {
        return await calls.draw(view);
      } finally {
        if (pending() === 0) timer = setTimeout(() => void end(), idleMs).unref();
      }
    },
    /** Ends the thread. An image that is being rendered fails. */
    close: end,
  };
}
