/**
 * Keeps who may see what, and what is published, as the store says, whoever wrote there: this process or another. What is
 * announced is looked at at once; where announcements are lost, or there are none, it is seen at the next look.
 */

import { isStatusError, messageOf } from '../../errors.ts';
import { now } from '../clock.ts';
import type { Pharos } from '../compose.ts';
import type { Log } from '../log.ts';

/** A page that goes behind a gate is behind it this soon; a look without news takes three small reads. */
const LOOK_EVERY_MS = 250;

/**
 * Shows the pages as the store has them, now and whenever that changes; as long as it cannot be read at the start, those
 * that were published last. Gives what stops looking.
 */
export async function followStore(
  pharos: Pick<Pharos, 'store' | 'engine' | 'refreshPages' | 'showLastPublished'>,
  log: Pick<Log, 'error'>,
): Promise<() => Promise<void>> {
  let isStopped = false;
  let told: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isLooking = false;
  let isAnnounced = false;

  async function look(): Promise<boolean> {
    try {
      await pharos.refreshPages(now());
      pharos.engine.publishNews();
      told = null;
      return true;
    } catch (error) {
      if (!isStatusError(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
      // Once until something else is to be said: it is tried four times a second.
      if (messageOf(error) !== told) log.error(messageOf(error));
      told = messageOf(error);
      return false;
    }
  }

  function lookNow(): void {
    if (timer !== null) clearTimeout(timer);
    isLooking = true;
    isAnnounced = false;
    look()
      .catch((error: unknown) => log.error(messageOf(error)))
      .finally(next);
  }

  function next(): void {
    isLooking = false;
    if (isStopped) return;
    timer = setTimeout(lookNow, isAnnounced ? 0 : LOOK_EVERY_MS);
    timer.unref();
  }

  isLooking = true;
  if (!(await look())) pharos.showLastPublished();
  const unlisten = pharos.store.database.listen(() => {
    isAnnounced = true;
    if (!isLooking && !isStopped) lookNow();
  });
  next();
  return async () => {
    isStopped = true;
    if (timer !== null) clearTimeout(timer);
    await unlisten();
  };
}
