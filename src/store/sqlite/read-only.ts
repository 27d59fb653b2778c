/**
 * Reads a database in a folder that can't be written: a read-only mount, or a copy of a data folder. SQLite opens such a file
 * differently depending on whether another process writes to it, and it must be told which. So the file is opened at the first
 * read, and reopened whenever another process starts or stops writing, or replaces the file.
 */

import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import { toEpochMs } from '../../model/time.ts';
import type { Database, SqlValue } from '../database.ts';
import { migrationsAfter, outdated } from '../migrations.ts';
import { NOW, readLists, readRows, readVersion } from './file.ts';

const BUSY_TIMEOUT_MS = 5_000;
/** How often a read is repeated because the file changed during it. */
const TRIES = 20;

/**
 * Opens nothing yet. A read throws STORE_UNAVAILABLE if there is no database or it has another version; writes always throw it.
 */
export function openSqliteReadOnly(file: string): Database {
  let opened: Opened | null = null;

  function close(): void {
    opened?.connection.close();
    opened = null;
  }

  function read<Rows>(sql: string, take: (statement: StatementSync) => Rows): Rows {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const seen = statFiles(file);
      if (opened !== null && !isAsOpened(opened, seen)) close();
      opened ??= open(file, seen);
      try {
        const rows = take(prepare(opened, sql));
        // Without a log, nothing prevents another process from writing during a read.
        if (isAsOpened(opened, statFiles(file))) return rows;
      } catch (error) {
        if (isAsOpened(opened, statFiles(file))) throw error;
      }
    }
    throw new Error('it changes faster than it can be read');
  }

  async function tell<Rows>(sql: string, take: (statement: StatementSync) => Rows): Promise<Rows> {
    try {
      return read(sql, take);
    } catch (error) {
      close();
      throw isStatusError(error) ? error : unreadable(file, error);
    }
  }

  const all: Database['all'] = (sql, params: readonly SqlValue[] = []) => tell(sql, (found) => readRows(found, params));
  const lists: Database['lists'] = (sql, params = []) => tell(sql, (found) => readLists(found, params));
  const time: Database['time'] = async () => {
    const [row] = await all(NOW);
    return toEpochMs(Number(row?.['now']));
  };
  const refuse = (): Promise<never> => Promise.reject(unwritable(file));
  return {
    isReadOnly: true,
    all,
    lists,
    time,
    // There are no announcements; callers poll.
    listen: () => async () => undefined,
    transaction: (task) => task({ all, lists, time, run: refuse, runMany: refuse, announce: refuse }),
    flush: refuse,
    truncateLog: refuse,
    close: async () => close(),
  };
}

type Opened = ReturnType<typeof open>;
type Files = ReturnType<typeof statFiles>;

/**
 * The database file and the files beside it, which exist while a process writes or after a writer was killed; null: missing.
 */
function statFiles(file: string) {
  const optional = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  return { main: statSync(file, { bigint: true }), log: optional(`${file}-wal`), index: optional(`${file}-shm`) };
}

/** With a log, SQLite itself notices changes by others. Without one, the file must be unchanged. */
function isAsOpened({ files }: Opened, { main, log, index }: Files): boolean {
  if (files.main.ino !== main.ino || files.log?.ino !== log?.ino || files.index?.ino !== index?.ino) return false;
  return hasLog(files) || (files.main.mtimeNs === main.mtimeNs && files.main.size === main.size);
}

function hasLog({ log, index }: Files): boolean {
  return log !== null && index !== null;
}

function open(file: string, files: Files) {
  if (files.log !== null && files.log.size > 0n && files.index === null)
    throw new Error('the newest changes are in the -wal file beside it, and the -shm file is missing; copy all three');
  const place = hasLog(files) ? file : new URL(`${pathToFileURL(file).href}?immutable=1`);
  const connection = new DatabaseSync(place, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    const version = readVersion(connection);
    if (migrationsAfter(version).length > 0) throw version === 0 ? new Error('it is empty') : outdated(version);
    return { connection, statements: new Map<string, StatementSync>(), files };
  } catch (error) {
    connection.close();
    throw error;
  }
}

function prepare({ connection, statements }: Opened, sql: string): StatementSync {
  return statements.getOrInsertComputed(sql, () => connection.prepare(sql));
}

function unreadable(file: string, cause: unknown): StatusError {
  return new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `Can’t read ${file} while its folder is read-only: ${messageOf(cause)}.`,
    cause,
  });
}

function unwritable(file: string): StatusError {
  return new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `The folder of ${file} is read-only, so nothing can be stored from here.`,
  });
}
