/**
 * SQLite through node:sqlite: one connection for writing, one for reading, WAL; by default every commit is synced to
 * disk.
 */

import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { backup, DatabaseSync, type StatementSync } from 'node:sqlite';
import pLimit from 'p-limit';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import { toEpochMs } from '../../model/time.ts';
import type { Database, Reader, Writer } from '../database.ts';
import { makeFolder } from '../make-folder.ts';
import type { OnOlder } from '../migrations.ts';
import {
  bringToLatest,
  findDamage,
  isDamage,
  isSqliteError,
  makeTables,
  NOW,
  readLists,
  readRows,
  refuseOthers,
  requireVersion,
  SQLITE_BUSY,
  SQLITE_CORRUPT,
  unavailable,
  unreadable,
} from './file.ts';

/** How long to wait for a writer in another process. */
const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 20;
/** Mode of a new data folder: others can reach the public site in it but not list its contents. */
const FOLDER_MODE = 0o711;
const OWN_MODE = 0o600;

export type OpenedSqlite = ReturnType<typeof openSqlite>;

interface SqliteOptions {
  /** Default: `migrate`. */
  readonly onOlder?: OnOlder;
  /** False: a damaged file stays where it is, and is an error. Default: true. */
  readonly replacesDamaged?: boolean;
}

/**
 * Opens or creates the database at `file`, and upgrades it if asked to.
 *
 * A damaged file is renamed to `<file>.damaged-<now>` and a new one is created. Published pages stay online, and upstreams are
 * queried again.
 *
 * @param now epoch ms, for the name of a damaged file
 * @throws STORE_UNAVAILABLE when the file can't be opened, locked or written, or has another version
 * @throws STORE_CORRUPT when it is damaged and is to stay where it is
 * @returns with `damagedFile`: where a damaged file was moved; null: it was sound or new
 */
export function openSqlite(
  file: string,
  now: number,
  { onOlder = 'migrate', replacesDamaged = true }: SqliteOptions = {},
) {
  guard(() => makeFolder(dirname(file), FOLDER_MODE), file);
  makeOwn(file);
  try {
    return { ...connect(file, now, onOlder), damagedFile: null };
  } catch (error) {
    if (!isDamage(error) || !existsSync(file)) throw unavailable(file, error);
    if (!replacesDamaged) throw unreadable(file, error);
  }
  const damagedFile = `${file}.damaged-${now}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, damagedFile + suffix);
  }
  makeOwn(file);
  return guard(() => ({ ...connect(file, now, onOlder), damagedFile }), file);
}

/** Creates a database file with the tables of an older version, to copy such a database into it. */
export function makeSqlite(file: string, version: number): Database {
  makeOwn(file);
  const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  makeTables(connection, version);
  return createDatabase(connection, connection);
}

/**
 * Copies a database file of any version consistently, even while others write. Only the owner can read the copy.
 *
 * @param onProgress called with pages of the database: how many are copied, and how many there are
 * @throws STORE_UNAVAILABLE, STORE_CORRUPT with no file left behind
 */
export async function copySqlite(file: string, target: string, onProgress?: (done: number, total: number) => void) {
  try {
    closeSync(openSync(target, 'wx', OWN_MODE));
  } catch (error) {
    throw new StatusError({
      code: 'STORE_UNAVAILABLE',
      message: `Can’t write the copy: ${messageOf(error)}.`,
      cause: error,
    });
  }
  const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    await backup(connection, target, {
      progress: ({ totalPages, remainingPages }) => onProgress?.(totalPages - remainingPages, totalPages),
    });
  } catch (error) {
    rmSync(target, { force: true });
    throw unreadable(file, error);
  } finally {
    connection.close();
  }
}

/** Opens a database for another thread that only reads. This process must already have it open. */
export function openSqliteReader(file: string): Database {
  const reading = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  const { all, lists, time, listen, close } = createDatabase(reading, reading);
  const refuse = () => Promise.reject(new Error('this connection is read-only'));
  return { all, lists, time, listen, transaction: refuse, flush: refuse, truncateLog: refuse, close };
}

/** `copy`: path of the copy from before the upgrade; null: no upgrade. */
function connect(file: string, now: number, onOlder: OnOlder): { database: Database; copy: string | null } {
  const writing = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    refuseOthers(writing, onOlder);
    prepare(writing);
    const copy = bringToLatest(writing, file, now);
    const reading = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
    return { database: createDatabase(writing, reading), copy };
  } catch (error) {
    writing.close();
    throw error;
  }
}

/** Others may not read the database, or the files that SQLite creates beside it, which get the same mode. */
function makeOwn(file: string): void {
  guard(() => {
    closeSync(openSync(file, 'a', OWN_MODE));
    for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) chmodSync(path, OWN_MODE);
  }, file);
}

function prepare(connection: DatabaseSync): void {
  requireVersion(String(connection.prepare('SELECT sqlite_version() AS version').get()?.['version']));
  // Checked before anything in it may change.
  const damage = findDamage(connection);
  if (damage !== null) throw Object.assign(new Error(damage), { errcode: SQLITE_CORRUPT });
  useLog(connection);
  connection.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;');
}

/**
 * Two processes that open a new file at once both switch it to WAL mode. SQLite rejects one of them at once, because waiting
 * could deadlock. That one tries again here.
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
  const prepare = preparing(writing);
  const inTurn = pLimit(1);

  const writer: Writer = {
    ...createReader(prepare, (action) => action()),
    run: async (sql, params = []) => Number(prepare(sql).run(...params).changes),
    runMany: async (sql, rows) => {
      const statement = prepare(sql);
      for (const row of rows) statement.run(...row);
    },
    announce: async () => undefined,
  };

  async function transact<T>(task: (tx: Writer) => Promise<T>, isDurable: boolean): Promise<T> {
    // The next durable commit also makes this one durable.
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
    ...createReader(preparing(reading), guard),
    // SQLite has no announcements; other processes poll.
    listen: () => async () => undefined,
    // The next transaction waits for this one, even if it fails.
    transaction: (task, { isDurable = true } = {}) => inTurn(() => transact(task, isDurable === true)),
    flush: () => syncLog(`${writing.location()}-wal`),
    truncateLog: () => inTurn(() => isLogTruncated(writing)),
    close: () =>
      inTurn(() => {
        reading.close();
        if (writing !== reading) writing.close();
      }),
  };
}

/** Never makes its thread wait for the disk. */
async function syncLog(path: string): Promise<void> {
  try {
    await using log = await open(path);
    await log.sync();
  } catch (error) {
    // Nothing waits in a log that isn't there.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Does not wait for readers and writers of other processes. */
function isLogTruncated(connection: DatabaseSync): boolean {
  connection.exec('PRAGMA busy_timeout = 0');
  try {
    return connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

function preparing(connection: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return (sql) => statements.getOrInsertComputed(sql, () => connection.prepare(sql));
}

function createReader(prepare: (sql: string) => StatementSync, guarded: typeof guard): Reader {
  return {
    all: async (sql, params = []) => guarded(() => readRows(prepare(sql), params)),
    lists: async (sql, params = []) => guarded(() => readLists(prepare(sql), params)),
    time: async () => guarded(() => toEpochMs(Number(prepare(NOW).get()?.['now']))),
  };
}

function guard<T>(action: () => T, place = 'the database'): T {
  try {
    return action();
  } catch (error) {
    throw unavailable(place, error);
  }
}
