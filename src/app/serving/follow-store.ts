/** Keeps who may see what as the store says, whoever wrote there: this process or another. */

import { isStatusError, messageOf } from '../../errors.ts';
import { now, type Pharos } from '../compose.ts';
import type { Log } from '../log.ts';

/** A page that goes behind a gate is behind it this soon; a look without news takes three small reads. */
const LOOK_EVERY_MS = 250;

/**
 * Shows the pages as the store has them, now and whenever that changes; as long as it cannot be read at the start, those
 * that were published last. Gives what stops looking.
 */
export async function followStore(
  pharos: Pick<Pharos, 'refreshPages' | 'showLastPublished'>,
  log: Pick<Log, 'error'>,
): Promise<() => void> {
  let isStopped = false;
  let told: string | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function look(): Promise<boolean> {
    try {
      await pharos.refreshPages(now());
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

  function next(): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      look()
        .catch((error: unknown) => log.error(messageOf(error)))
        .finally(next);
    }, LOOK_EVERY_MS);
    timer.unref();
  }

  if (!(await look())) pharos.showLastPublished();
  next();
  return () => {
    isStopped = true;
    if (timer !== null) clearTimeout(timer);
  };
}
