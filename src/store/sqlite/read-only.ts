/**
 * A database in a folder that cannot be written: on a read-only mount, or a copy of a data folder. SQLite keeps a log beside
 * the file while somebody writes, and none after that, and needs to be told which it is. So the file is opened when it is
 * first read, and again whenever somebody elsewhere begins to write, ends, or puts another file in its place.
 */

import { type BigIntStats, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import { toEpochMs } from '../../model/time.ts';
import type { Database, SqlValue } from '../database.ts';
import { migrationsAfter, outdated } from '../migrations.ts';
import { listsOf, rowsOf } from './statement.ts';
import { versionOf } from './version.ts';

const BUSY_TIMEOUT_MS = 5_000;
/** How often a read begins anew because the file changed under it. */
const TRIES = 20;

/**
 * Opens nothing yet. A read throws STORE_UNAVAILABLE as long as there is no database or it is of another version; whatever
 * would change it is refused with the same.
 */
export function openSqliteReadOnly(file: string): Database {
  let opened: Opened | null = null;

  function close(): void {
    opened?.connection.close();
    opened = null;
  }

  function read<Rows>(sql: string, take: (statement: StatementSync) => Rows): Rows {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const seen = lookAt(file);
      if (opened !== null && !isAsOpened(opened, seen)) close();
      opened ??= open(file, seen);
      try {
        const rows = take(statementOf(opened, sql));
        // Nobody keeps a writer from a file without a log while it is read.
        if (isAsOpened(opened, lookAt(file))) return rows;
      } catch (error) {
        if (isAsOpened(opened, lookAt(file))) throw error;
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

  const all: Database['all'] = (sql, params: readonly SqlValue[] = []) => tell(sql, (found) => rowsOf(found, params));
  const lists: Database['lists'] = (sql, params = []) => tell(sql, (found) => listsOf(found, params));
  const time: Database['time'] = async () => {
    const [row] = await all("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now");
    return toEpochMs(Number(row?.['now']));
  };
  const refuse = (): Promise<never> => Promise.reject(unwritable(file));
  return {
    isReadOnly: true,
    all,
    lists,
    time,
    // Who reads a folder that cannot be written looks at it now and then.
    listen: () => async () => undefined,
    transaction: (task) => task({ all, lists, time, run: refuse, runMany: refuse, announce: refuse }),
    backup: refuse,
    truncateLog: refuse,
    close: async () => close(),
  };
}

/** The database file, and what lies beside it while somebody writes or after a writer was killed; null: it is not there. */
interface Files {
  readonly main: BigIntStats;
  readonly log: BigIntStats | null;
  readonly index: BigIntStats | null;
}

interface Opened {
  readonly connection: DatabaseSync;
  readonly statements: Map<string, StatementSync>;
  readonly files: Files;
}

function lookAt(file: string): Files {
  const optional = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  return { main: statSync(file, { bigint: true }), log: optional(`${file}-wal`), index: optional(`${file}-shm`) };
}

/** With its log, SQLite itself sees what others write to the same files; without one they must be as they were. */
function isAsOpened({ files }: Opened, { main, log, index }: Files): boolean {
  if (files.main.ino !== main.ino || files.log?.ino !== log?.ino || files.index?.ino !== index?.ino) return false;
  return hasLog(files) || (files.main.mtimeNs === main.mtimeNs && files.main.size === main.size);
}

function hasLog({ log, index }: Files): boolean {
  return log !== null && index !== null;
}

function open(file: string, files: Files): Opened {
  if (files.log !== null && files.log.size > 0n && files.index === null)
    throw new Error('the newest changes are in the -wal file beside it, and the -shm file is missing; copy all three');
  const place = hasLog(files) ? file : new URL(`${pathToFileURL(file).href}?immutable=1`);
  const connection = new DatabaseSync(place, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    const version = versionOf(connection);
    if (migrationsAfter(version).length > 0) throw version === 0 ? new Error('it is empty') : outdated(version);
    return { connection, statements: new Map(), files };
  } catch (error) {
    connection.close();
    throw error;
  }
}

function statementOf({ connection, statements }: Opened, sql: string): StatementSync {
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
