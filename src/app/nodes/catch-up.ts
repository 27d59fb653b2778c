/**
 * Nodes publish a commit within milliseconds of each other. Behind a balancer, a visitor who was answered by the first of them
 * may ask another next. A request that shows that its sender was here before (`isReturning`) therefore waits until this node
 * shows everything that was committed when the request came, and never sees less than before. That costs one small read, which
 * requests share.
 */

import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../store/database.ts';
import { readRevision } from '../../store/revisions.ts';

/** After this time, a node that is cut off or busy publishing answers with what it has. */
const LIMIT_MS = 5_000;

/**
 * @param look brings what this node serves up to date with what is stored when it is called
 * @returns a function that resolves once a look that began after the call has ended, or the time is up; null: looks fail or
 *   take too long, so nobody waits until one succeeds
 */
export function createCatchUp(look: () => Promise<void>, limitMs = LIMIT_MS): () => Promise<void> | null {
  let running: Promise<void> | null = null;
  /** The look after the current one, for all requests that came since it began. */
  let next: Promise<void> | null = null;
  let isAway = false;

  function begin(): Promise<void> {
    next = null;
    running = look().then(
      () => {
        [isAway, running] = [false, null];
      },
      () => {
        [isAway, running] = [true, null];
      },
    );
    return running;
  }

  return () => {
    if (isAway) {
      if (running === null) void begin();
      return null;
    }
    if (running !== null) next ??= running.then(begin);
    const looked = next ?? begin();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        isAway = true;
        resolve();
      }, limitMs);
      void looked.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  };
}

/** Work that waits goes on after this time even while pages are being published all the time. */
const GIVE_WAY_MS = 250;

export type Shown = ReturnType<typeof createShown>;

/** The commit up to which this node shows everything. */
export function createShown() {
  let shown = 0;
  let tasks = 0;
  let ended = Promise.withResolvers<void>();
  const reach = (revision: number): void => {
    shown = Math.max(shown, revision);
  };
  return {
    revision: () => shown,
    /** Whether pages are being published. */
    isPublishing: () => tasks > 0,
    /** Publishes; null: not everything up to a commit, but a single page. */
    publish: async <Report>(revision: number | null, task: () => Promise<Report>): Promise<Report> => {
      tasks += 1;
      try {
        const report = await task();
        if (revision !== null) reach(revision);
        return report;
      } finally {
        tasks -= 1;
        ended.resolve();
        ended = Promise.withResolvers();
      }
    },
    reach,
    /** Resolves when pages were published. */
    published: () => ended.promise,
    /** For work that can wait: lets this thread do other things, and pages that are being published go first, but not for long. */
    giveWay: async () => {
      await nextTurn();
      if (tasks > 0) await Promise.race([ended.promise, wait(GIVE_WAY_MS, undefined, { ref: false })]);
    },
  };
}

interface ShowDeps {
  readonly database: Database;
  readonly shown: Shown;
  /** Reads commits, and returns the last one. */
  readonly refresh: () => Promise<{ readonly revision: number }>;
  /** Whether pages have news that is not being published yet. */
  readonly hasNews: () => boolean;
  readonly publishNews: () => void;
}

/** Resolves when this node shows what is committed by now. */
export async function showCommitted({ database, shown, refresh, hasNews, publishNews }: ShowDeps): Promise<void> {
  const wanted = await readRevision(database);
  while (shown.revision() < wanted) {
    const { revision } = await refresh();
    // No page shows any of the changes.
    if (!hasNews() && !shown.isPublishing()) return shown.reach(revision);
    const published = shown.published();
    publishNews();
    await published;
  }
}

// Looks at something again and again: when any process announced a change, and in case that gets lost also regularly.

/**
 * @param look called once at a time; must not throw
 * @returns a function that stops this
 */
export function lookRegularly(database: Pick<Database, 'listen'>, everyMs: number, look: () => Promise<unknown>) {
  let timer: NodeJS.Timeout | null = null;
  let isLooking = false;
  let isAnnounced = false;
  let isStopped = false;

  async function lookNow(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    isLooking = true;
    isAnnounced = false;
    await look();
    isLooking = false;
    wait();
  }

  function wait(): void {
    if (isStopped) return;
    timer = setTimeout(() => void lookNow(), isAnnounced ? 0 : everyMs);
    timer.unref();
  }

  const unlisten = database.listen(() => {
    isAnnounced = true;
    if (!isLooking && !isStopped) void lookNow();
  });
  wait();
  return async () => {
    if (isStopped) return;
    isStopped = true;
    if (timer !== null) clearTimeout(timer);
    await unlisten();
  };
}
