/** SQLite through node:sqlite: one connection that writes, one that reads, WAL, every commit on disk. */

import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync, type StatementSync } from 'node:sqlite';
import pLimit from 'p-limit';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import { type EpochMs, toEpochMs } from '../../model/time.ts';
import type { Database, Writer } from '../database.ts';
import type { OnOlder } from '../migrations.ts';
import { bringToLatest, makeTables, refuseOthers } from './migrate.ts';
import { listsOf, rowsOf } from './statement.ts';
import { requireVersion } from './version.ts';

/** How long a writer of another process is waited for. */
const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 20;
/** The public site is in it too, and names in it are nobody else's business. */
const FOLDER_MODE = 0o711;
const OWN_MODE = 0o600;

export interface OpenedSqlite {
  readonly database: Database;
  /** Where a damaged file was moved; null when the file was sound or new. */
  readonly damagedFile: string | null;
  /** The copy from before its tables were brought to the latest version; null when they were not. */
  readonly copy: string | null;
}

export interface SqliteOptions {
  /** Default: `migrate`. */
  readonly onOlder?: OnOlder;
}

/**
 * Opens (or makes) the database at `file`, brought to the latest version where that is asked for.
 *
 * A damaged file is moved aside as `<file>.damaged-<now>` and a new one is begun: the published pages go on being
 * served and the upstreams are asked again.
 *
 * @param now epoch ms, for the name of a damaged file
 * @throws STORE_UNAVAILABLE when the file cannot be opened, locked or written, or is of another version than asked for
 */
export function openSqlite(file: string, now: number, { onOlder = 'migrate' }: SqliteOptions = {}): OpenedSqlite {
  mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
  makeOwn(file);
  try {
    return { ...connect(file, now, onOlder), damagedFile: null };
  } catch (error) {
    if (!isDamage(error) || !existsSync(file)) throw unavailable(file, error);
  }
  const damagedFile = `${file}.damaged-${now}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, damagedFile + suffix);
  }
  makeOwn(file);
  try {
    return { ...connect(file, now, onOlder), damagedFile };
  } catch (error) {
    throw unavailable(file, error);
  }
}

/** A new database file as an older version had it, for a copy of such a database. */
export function makeSqlite(file: string, version: number): Database {
  makeOwn(file);
  const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  makeTables(connection, version);
  return createDatabase(connection, connection);
}

/** A consistent copy of a database file, of whichever version and whoever writes to it, in a new file that is its owner's. */
export async function copySqlite(
  file: string,
  target: string,
  onProgress?: (done: number, total: number) => void,
): Promise<void> {
  closeSync(openSync(target, 'wx', OWN_MODE));
  const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    await backup(connection, target, {
      progress: ({ totalPages, remainingPages }) => onProgress?.(totalPages - remainingPages, totalPages),
    });
  } finally {
    connection.close();
  }
}

/** Opens a database that this process has open already, for another thread that only reads. */
export function openSqliteReader(file: string): Database {
  const reading = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  const { all, lists, time, listen, close } = createDatabase(reading, reading);
  const refuse = () => Promise.reject(new Error('this connection is read-only'));
  return { all, lists, time, listen, transaction: refuse, backup: refuse, truncateLog: refuse, close };
}

function connect(file: string, now: number, onOlder: OnOlder): Pick<OpenedSqlite, 'database' | 'copy'> {
  const writing = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseOthers(writing, onOlder);
    prepare(writing);
    const copy = bringToLatest(writing, { file, now });
    const reading = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
    return { database: createDatabase(writing, reading), copy };
  } catch (error) {
    writing.close();
    throw error;
  }
}

/** Nobody else may read the database, nor what SQLite keeps beside it, which takes the mode of the file. */
function makeOwn(file: string): void {
  try {
    closeSync(openSync(file, 'a', OWN_MODE));
    for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) chmodSync(path, OWN_MODE);
  } catch (error) {
    throw unavailable(file, error);
  }
}

function prepare(connection: DatabaseSync): void {
  requireVersion(String(connection.prepare('SELECT sqlite_version() AS version').get()?.['version']));
  useLog(connection);
  connection.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;');
  const check = connection.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (check !== 'ok') throw Object.assign(new Error(`quick_check: ${String(check)}`), { errcode: SQLITE_CORRUPT });
}

/**
 * Two processes that open a new file at once both change it to a log. SQLite refuses one of them at once: it does not
 * wait where each could be waiting for the other, so the one refused lets go here and asks again.
 */
function useLog(connection: DatabaseSync): void {
  for (let waitedMs = 0; ; waitedMs += BUSY_RETRY_MS) {
    try {
      connection.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isSqliteError(error) || error.errcode !== SQLITE_BUSY || waitedMs >= BUSY_TIMEOUT_MS) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_RETRY_MS);
  }
}

function createDatabase(writing: DatabaseSync, reading: DatabaseSync): Database {
  const readStatements = new Map<string, StatementSync>();
  const writeStatements = new Map<string, StatementSync>();
  const inTurn = pLimit(1);

  const writer: Writer = {
    all: async (sql, params = []) => rowsOf(prepared(writing, writeStatements, sql), params),
    lists: async (sql, params = []) => listsOf(prepared(writing, writeStatements, sql), params),
    run: async (sql, params = []) => Number(prepared(writing, writeStatements, sql).run(...params).changes),
    runMany: async (sql, rows) => {
      const statement = prepared(writing, writeStatements, sql);
      for (const row of rows) statement.run(...row);
    },
    time: async () => timeOf(writing, writeStatements),
    announce: async () => undefined,
  };

  async function transact<T>(task: (tx: Writer) => Promise<T>, isDurable: boolean): Promise<T> {
    // The next one is as durable as ever, and takes what stands before it in the log along.
    guard(() => writing.exec(isDurable ? 'BEGIN IMMEDIATE' : 'PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE'));
    try {
      const result = await task(writer);
      guard(() => writing.exec('COMMIT'));
      return result;
    } catch (error) {
      if (writing.isTransaction) writing.exec('ROLLBACK');
      throw isStatusError(error) || !isSqliteError(error) ? error : unavailable('the database', error);
    } finally {
      if (!isDurable) writing.exec('PRAGMA synchronous = FULL');
    }
  }

  return {
    all: async (sql, params = []) => guard(() => rowsOf(prepared(reading, readStatements, sql), params)),
    lists: async (sql, params = []) => guard(() => listsOf(prepared(reading, readStatements, sql), params)),
    time: async () => guard(() => timeOf(reading, readStatements)),
    // Who shares the file looks at it now and then.
    listen: () => async () => undefined,
    // The next one waits for this one whatever becomes of it.
    transaction: (task, { isDurable = true } = {}) => inTurn(() => transact(task, isDurable)),
    backup: async (file) => {
      // Never over a file that is there, and nobody else's to read while it is being written.
      closeSync(openSync(file, 'wx', OWN_MODE));
      await backup(reading, file);
    },
    truncateLog: () => inTurn(() => isLogTruncated(writing)),
    close: () =>
      inTurn(() => {
        reading.close();
        if (writing !== reading) writing.close();
      }),
  };
}

/** Readers and writers of other processes are not waited for. */
function isLogTruncated(connection: DatabaseSync): boolean {
  connection.exec('PRAGMA busy_timeout = 0');
  try {
    return connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

function timeOf(connection: DatabaseSync, cache: Map<string, StatementSync>): EpochMs {
  const row = prepared(connection, cache, "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now").get();
  return toEpochMs(Number(row?.['now']));
}

function prepared(connection: DatabaseSync, cache: Map<string, StatementSync>, sql: string): StatementSync {
  return cache.getOrInsertComputed(sql, () => connection.prepare(sql));
}

function guard<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw unavailable('the database', error);
  }
}

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && typeof (error as { errcode?: unknown }).errcode === 'number';
}

function isDamage(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode === SQLITE_CORRUPT || error.errcode === SQLITE_NOTADB);
}

function unavailable(place: string, error: unknown): StatusError {
  if (isStatusError(error)) return error;
  return new StatusError({
    code: isDamage(error) ? 'STORE_CORRUPT' : 'STORE_UNAVAILABLE',
    message: `Can’t use ${place}: ${messageOf(error)}. Check that the data folder is writable, has space and is used by one version of Pharos.`,
    cause: error,
  });
}
