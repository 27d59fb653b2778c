/** Opens the database of a configuration. */

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
import { schemaOfSqlite } from '../store/sqlite/file.ts';
import { openSqliteReadOnly } from '../store/sqlite/read-only.ts';
import { copySqlite, makeSqlite, openSqlite, openSqliteReader } from '../store/sqlite/sqlite.ts';
import type { Log } from './log.ts';

/** The place of the database, as plain data that can be sent to a thread. The address of a server is a secret. */
export type StorePlace = { readonly file: string } | { readonly url: string };

/** A thread reads one page after another. */
const THREAD_POOL_SIZE = 1;

export function storePlace({ store, data }: Pick<Config, 'store' | 'data'>): StorePlace {
  return store === undefined ? { file: join(data, 'pharos.db') } : { url: store.url.reveal() };
}

export interface OpenStoreOptions {
  readonly log: Log;
  readonly now: EpochMs;
  /** True: a server, which waits for a database that can't be reached. Default: false. */
  readonly isLasting?: boolean;
  /** True: a read-only data folder is read, not refused. Default: false. */
  readonly mayOnlyRead?: boolean;
  readonly onOlder: OnOlder;
  /** False: a damaged file stays where it is, which is an error. Default: it is moved aside, and a new one is created. */
  readonly replacesDamaged?: boolean;
  /** Folder for the copy of a Postgres database before an upgrade. */
  readonly folder: string;
  /** Called with the path of that copy, or of the copy next to an SQLite file. */
  readonly onCopy?: (path: string) => void;
}

const READ_ONLY =
  'The data folder is read-only. Published pages are served, but nobody can sign in, subscribe or post here.';

/** @throws STORE_UNAVAILABLE */
export async function openStore(place: StorePlace, options: OpenStoreOptions): Promise<Database> {
  const { log, now, isLasting = false, onOlder, folder, replacesDamaged = true } = options;
  if ('file' in place && options.mayOnlyRead && !isWritable(dirname(place.file))) {
    log.warn({ folder: dirname(place.file) }, READ_ONLY);
    return openSqliteReadOnly(place.file);
  }
  const noteCopy = (copy: string): void => {
    log.info({ copy }, 'Copied the database before its upgrade. See docs/upgrade.md for how to go back.');
    options.onCopy?.(copy);
  };
  if ('file' in place) {
    const { database, damagedFile, copy } = openSqlite(place.file, now, { onOlder, replacesDamaged });
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
    // Waiting doesn't change its version.
    const isOther = isStatusError(error) && error.context['schema'] !== undefined;
    if (!isLasting || isOther) {
      await database.close();
      throw error;
    }
    log.error(`${messageOf(error)} The last published pages stay online.`);
  }
  return database;
}

/** The schema version of a database; 0: it has no tables. Changes nothing. @throws STORE_UNAVAILABLE */
export async function schemaAt(place: StorePlace): Promise<number> {
  return 'file' in place ? schemaOfSqlite(place.file) : (await probePostgres(place.url)).schema;
}

/** Copies a database into an SQLite file of the same version. Doesn't change the database. @throws STORE_UNAVAILABLE */
export async function copyStore(place: StorePlace, file: string): Promise<void> {
  if ('file' in place) await copySqlite(place.file, file);
  else await readPostgres(place.url, (tables, version) => copyInto(file, tables, version));
}

/** Reads a database of any version while nobody writes to it. @throws STORE_UNAVAILABLE, STORE_CORRUPT */
export async function readStore<T>(place: StorePlace, task: (tables: Reader, version: number) => Promise<T>) {
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
    // A missing file will be created.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Opens the same database for a thread that only reads. */
export function openStoreReader(place: StorePlace): Database {
  return 'file' in place
    ? openSqliteReader(place.file)
    : openPostgres(place.url, { poolSize: THREAD_POOL_SIZE, onOlder: 'refuse' });
}
