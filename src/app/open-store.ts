/** Opens the database that a configuration names. */

import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config/load.ts';
import { isStatusError, messageOf } from '../errors.ts';
import type { EpochMs } from '../model/time.ts';
import { copyTables } from '../store/copy.ts';
import type { Database, Reader } from '../store/database.ts';
import { makeFolder } from '../store/make-folder.ts';
import { latestVersion, type OnOlder } from '../store/migrations.ts';
import { probePostgres } from '../store/postgres/migrate.ts';
import { openPostgres, readPostgres } from '../store/postgres/postgres.ts';
import { openSqliteReadOnly } from '../store/sqlite/read-only.ts';
import { copySqlite, makeSqlite, openSqlite, openSqliteReader } from '../store/sqlite/sqlite.ts';
import { schemaOfSqlite } from '../store/sqlite/version.ts';
import type { Log } from './log.ts';

/** Where the database is, as plain data that a thread can be begun with. The address of a server is a secret. */
export type StorePlace = { readonly file: string } | { readonly url: string };

/** A thread reads one page after the other. */
const THREAD_POOL_SIZE = 1;

export function storePlace({ store, data }: Pick<Config, 'store' | 'data'>): StorePlace {
  return store === undefined ? { file: join(data, 'pharos.db') } : { url: store.url.reveal() };
}

interface OpenStoreOptions {
  readonly log: Log;
  readonly now: EpochMs;
  /** A server that cannot be reached is waited for: the published pages are served meanwhile. */
  readonly isLasting: boolean;
  /** True: where the folder of the file cannot be written, what is there is read. Default: that is an error. */
  readonly mayOnlyRead?: boolean;
  readonly onOlder: OnOlder;
  /** False: a damaged file stays where it is, and is an error. Default: it is moved aside and a new one begun. */
  readonly replacesDamaged?: boolean;
  /** Where the copy of a Postgres database goes before it is brought to our version. */
  readonly folder: string;
  /** Told of that copy, and of the one beside a SQLite file. */
  readonly onCopy?: (path: string) => void;
}

const READ_ONLY =
  'The data folder is read-only. Published pages are served, but nobody can sign in, subscribe or post here.';

/** @throws STORE_UNAVAILABLE */
export async function openStore(place: StorePlace, options: OpenStoreOptions): Promise<Database> {
  const { log, now, isLasting, onOlder, folder } = options;
  if ('file' in place && options.mayOnlyRead && !isWritable(dirname(place.file))) {
    log.warn({ folder: dirname(place.file) }, READ_ONLY);
    return openSqliteReadOnly(place.file);
  }
  const noteCopy = (copy: string): void => {
    log.info({ copy }, 'Copied the database before its upgrade. See docs/upgrade.md for how to go back.');
    options.onCopy?.(copy);
  };
  if ('file' in place) {
    const { database, damagedFile, copy } = openSqlite(place.file, now, {
      onOlder,
      ...(options.replacesDamaged === undefined ? {} : { replacesDamaged: options.replacesDamaged }),
    });
    if (damagedFile !== null) {
      log.error(
        { damagedFile },
        'The database was damaged. It was moved aside and a new one was created. Published pages stay online and upstreams are queried again. To recover history, restore a backup.',
      );
    }
    if (copy !== null) noteCopy(copy);
    return database;
  }
  const database = openPostgres(place.url, {
    onOlder,
    copyBefore: async (tables, version) => noteCopy(await copyInto(freeName(folder, version, now), tables, version)),
  });
  try {
    await database.ready();
  } catch (error) {
    // Waiting does not change which version it has.
    const isOther = isStatusError(error) && error.context['schema'] !== undefined;
    if (!isLasting || isOther) {
      await database.close();
      throw error;
    }
    log.error(`${messageOf(error)} The last published pages stay online.`);
  }
  return database;
}

/** Which version the tables of a database have; 0: there are none. Nothing is changed. @throws STORE_UNAVAILABLE */
export async function schemaAt(place: StorePlace): Promise<number> {
  return 'file' in place ? schemaOfSqlite(place.file) : (await probePostgres(place.url)).schema;
}

/** A copy of a database as a SQLite file, of the same version. The database is not changed. @throws STORE_UNAVAILABLE */
export async function copyStore(place: StorePlace, file: string): Promise<void> {
  if ('file' in place) await copySqlite(place.file, file);
  else await readPostgres(place.url, (tables, version) => copyInto(file, tables, version));
}

/** What a database holds, of whichever version, while nobody writes to it. @throws STORE_UNAVAILABLE, STORE_CORRUPT */
export async function readStore<T>(
  place: StorePlace,
  task: (tables: Reader, version: number) => Promise<T>,
): Promise<T> {
  if (!('file' in place)) return readPostgres(place.url, task);
  const database = openSqlite(place.file, 0, { onOlder: 'refuse', replacesDamaged: false }).database;
  try {
    return await database.transaction((tx) => task(tx, latestVersion()));
  } finally {
    await database.close();
  }
}

async function copyInto(file: string, tables: Reader, version: number): Promise<string> {
  const copy = makeSqlite(file, version);
  try {
    await copyTables(tables, copy, version);
  } finally {
    await copy.close();
  }
  return file;
}

function freeName(folder: string, version: number, now: EpochMs): string {
  makeFolder(folder, 0o711);
  const path = join(folder, `postgres.version-${version}.db`);
  return existsSync(path) ? `${path}-${now}` : path;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    // One that is not there yet is made.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Opens what this process has open already, for a thread of it that only reads. */
export function openStoreReader(place: StorePlace): Database {
  return 'file' in place
    ? openSqliteReader(place.file)
    : openPostgres(place.url, { poolSize: THREAD_POOL_SIZE, onOlder: 'refuse' });
}
