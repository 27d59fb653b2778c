/** Looks at something again and again: when any process announced a change, and in case that gets lost also regularly. */

import type { Database } from '../store/database.ts';

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
