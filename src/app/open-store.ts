/** Opens the database that a configuration names. */

import { join } from 'node:path';
import type { Config } from '../config/load.ts';
import { isStatusError, messageOf } from '../errors.ts';
import type { EpochMs } from '../model/time.ts';
import type { Database } from '../store/database.ts';
import { openPostgres } from '../store/postgres/postgres.ts';
import { openSqlite, openSqliteReader } from '../store/sqlite/sqlite.ts';
import type { Log } from './log.ts';

/** Where the database is, as plain data that a thread can be begun with. The address of a server is a secret. */
export type StorePlace = { readonly file: string } | { readonly url: string };

/** A thread reads one page after the other. */
const THREAD_POOL_SIZE = 1;

export function storePlace({ store, data }: Pick<Config, 'store' | 'data'>): StorePlace {
  return store === undefined ? { file: join(data, 'pharos.db') } : { url: store.url.reveal() };
}

export interface OpenStoreOptions {
  readonly log: Log;
  readonly now: EpochMs;
  /** A server that cannot be reached is waited for: the published pages are served meanwhile. */
  readonly isLasting: boolean;
}

/** @throws STORE_UNAVAILABLE */
export async function openStore(place: StorePlace, { log, now, isLasting }: OpenStoreOptions): Promise<Database> {
  if ('file' in place) {
    const { database, damagedFile } = openSqlite(place.file, now);
    if (damagedFile !== null) {
      log.error(
        { damagedFile },
        'The database was damaged. It was moved aside and a new one was created. Published pages stay online and upstreams are queried again. To recover history, restore a backup.',
      );
    }
    return database;
  }
  const database = openPostgres(place.url);
  try {
    await database.ready();
  } catch (error) {
    const isNewer = isStatusError(error) && error.context['schema'] !== undefined;
    if (!isLasting || isNewer) {
      await database.close();
      throw error;
    }
    log.error(`${messageOf(error)} The last published pages stay online.`);
  }
  return database;
}

/** Opens what this process has open already, for a thread of it that only reads. */
export function openStoreReader(place: StorePlace): Database {
  return 'file' in place ? openSqliteReader(place.file) : openPostgres(place.url, { poolSize: THREAD_POOL_SIZE });
}
