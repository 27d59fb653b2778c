/**
 * Keeps access rules and published pages in line with the store, whichever process wrote to it. Announcements are followed at
 * once. Where there are none, or they get lost, polling finds the change.
 */

import { isStatusError, messageOf } from '../../errors.ts';
import type { Database } from '../../store/database.ts';
import type { ServeParts } from '../build-serve.ts';
import { now } from '../clock.ts';
import type { Log } from '../log.ts';
import { lookRegularly } from '../look-regularly.ts';
import type { Engine } from '../run/engine.ts';

/** A page that becomes private is closed within this time. A poll without news takes three small reads. */
const LOOK_EVERY_MS = 250;

/**
 * Applies what the store says, now and whenever it changes. If it can't be read at startup, the pages that were published last
 * are served.
 *
 * @returns a function that stops this
 */
export async function followStore(
  pharos: {
    readonly keeper: Pick<ServeParts['keeper'], 'refresh' | 'showLastPublished'>;
    readonly database: Pick<Database, 'listen'>;
    readonly engine: Pick<Engine, 'publishNews'>;
  },
  log: Pick<Log, 'error'>,
): Promise<() => Promise<void>> {
  const { keeper, database, engine } = pharos;
  let lastError: string | null = null;

  async function look(): Promise<boolean> {
    try {
      await keeper.refresh(now());
      engine.publishNews();
      lastError = null;
      return true;
    } catch (error) {
      if (!isStatusError(error) || error.code !== 'STORE_UNAVAILABLE') throw error;
      // Logged once, not four times a second.
      if (messageOf(error) !== lastError) log.error(messageOf(error));
      lastError = messageOf(error);
      return false;
    }
  }

  if (!(await look())) keeper.showLastPublished();
  return lookRegularly(database, LOOK_EVERY_MS, () => look().catch((error: unknown) => log.error(messageOf(error))));
}
