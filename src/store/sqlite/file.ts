/** Files of SQLite: which library reads them, whether they are damaged, their version, upgrades and tables. */

import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { fileReason, isStatusError, messageOf, StatusError } from '../../errors.ts';
import type { Row, SqlValue, Values } from '../database.ts';
import { migrationsAfter, type OnOlder, outdated } from '../migrations.ts';

/** Older libraries can corrupt a WAL database when two connections checkpoint at once (sqlite.org/wal.html#walresetbug). */
const SQLITE_VERSION_MIN = [3, 51, 3] as const;
const BUSY_TIMEOUT_MS = 5_000;

/** Describes what is wrong with a database file; null: nothing. Only reads it. */
export function faultOfSqlite(file: string): string | null {
  try {
    return reading(file, findDamage);
  } catch (error) {
    return messageOf(error);
  }
}

function reading<T>(file: string, use: (connection: DatabaseSync) => T): T {
  const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
  try {
    return use(connection);
  } finally {
    connection.close();
  }
}

/** Describes what is wrong with a database, on one line; null: nothing. */
export function findDamage(connection: DatabaseSync): string | null {
  const check = String(connection.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  return check === 'ok' ? null : check.replaceAll(/\s+/g, ' ');
}

/** Schema version of a file's tables; 0: there are none, or no file. @throws STORE_UNAVAILABLE, STORE_CORRUPT */
export function schemaOfSqlite(file: string): number {
  if (!existsSync(file)) return 0;
  try {
    return reading(file, readVersion);
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Schema version of the tables; 0: there are none. */
export function readVersion(connection: DatabaseSync): number {
  return Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
}

/** The library's version, and whether it is free of the corruption bug. */
export function sqliteVersion(): { readonly version: string; readonly isSafe: boolean } {
  const connection = new DatabaseSync(':memory:');
  const version = String(connection.prepare('SELECT sqlite_version() AS version').get()?.['version']);
  connection.close();
  try {
    requireVersion(version);
    return { version, isSafe: true };
  } catch {
    return { version, isSafe: false };
  }
}

/** @throws STORE_UNAVAILABLE if the library can corrupt databases */
export function requireVersion(version: string): void {
  const parts = version.split('.').map(Number);
  for (const [index, least] of SQLITE_VERSION_MIN.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least) {
      throw new StatusError({
        code: 'STORE_UNAVAILABLE',
        message: `SQLite ${version} can corrupt databases; Pharos needs ${SQLITE_VERSION_MIN.join('.')} or newer. Run it on the Node that comes with it.`,
      });
    }
  }
}

// Converts SQLite's errors to ours.

export const SQLITE_BUSY = 5;
export const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

export function isSqliteError(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && typeof (error as { errcode?: unknown }).errcode === 'number';
}

export function isDamage(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode === SQLITE_CORRUPT || error.errcode === SQLITE_NOTADB);
}

/** @param place path of the file, or its name for messages */
export function unavailable(place: string, error: unknown): StatusError {
  if (isStatusError(error)) return error;
  return new StatusError({
    code: isDamage(error) ? 'STORE_CORRUPT' : 'STORE_UNAVAILABLE',
    message: `Can’t use ${place}: ${isSqliteError(error) ? messageOf(error) : fileReason(error)}. Check that the data folder is writable, has space and is used by one version of Pharos.`,
    cause: error,
  });
}

/** For commands that only read a database: a damaged one stays in place. */
export function unreadable(file: string, error: unknown): StatusError {
  if (!isDamage(error)) return unavailable(file, error);
  return new StatusError({
    code: 'STORE_CORRUPT',
    message: `The database ${file} is damaged: ${messageOf(error)}. Nothing was changed. Restore a backup, or run pharos start, which moves the file aside and creates a new one.`,
    cause: error,
  });
}

/** Reads the clock of the system, in epoch ms. */
export const NOW = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now";

/** Rows with their column names. */
export function readRows(statement: StatementSync, params: readonly SqlValue[]): readonly Row[] {
  statement.setReturnArrays(false);
  return statement.all(...params) as readonly Row[];
}

/** Rows as arrays, which node:sqlite creates in half the time. */
export function readLists(statement: StatementSync, params: readonly SqlValue[]): readonly Values[] {
  statement.setReturnArrays(true);
  return statement.all(...params) as unknown as readonly Values[];
}

// Upgrades a SQLite database to the latest version, after copying it.

/** From this version on, deleted rows are overwritten; older databases are rewritten once. */
const VERSION_OF_ERASURE = 10;
const OWN_MODE = 0o600;

/**
 * Call before changing a database.
 *
 * @throws STORE_UNAVAILABLE if a newer Pharos made it, or if it is older and must be left alone
 */
export function refuseOthers(connection: DatabaseSync, onOlder: OnOlder): void {
  const current = readVersion(connection);
  const isOlder = migrationsAfter(current).length > 0 && current > 0;
  if (isOlder && onOlder === 'refuse') throw outdated(current);
}

/**
 * Applies the missing migrations in order, all or none. There is no downgrade: restore the copy.
 *
 * @param now epoch ms, for the name of the copy if the short name is taken
 * @returns path of the copy; null: nothing to do, or nothing to copy
 */
export function bringToLatest(connection: DatabaseSync, file: string, now: number): string | null {
  const current = readVersion(connection);
  if (migrationsAfter(current).length === 0) return null;
  const copy = current > 0 ? copyBeside(connection, `${file}.version-${current}`, now) : null;
  connection.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have migrated while this one waited for the lock. One transaction, so that nobody sees an
    // intermediate version.
    for (const { version, sql } of migrationsAfter(readVersion(connection))) {
      connection.exec(sql());
      connection.exec(`PRAGMA user_version = ${version}`);
    }
    connection.exec('COMMIT');
  } catch (error) {
    connection.exec('ROLLBACK');
    throw error;
  }
  if (current > 0 && current < VERSION_OF_ERASURE) connection.exec('VACUUM');
  return copy;
}

/** Creates the tables of a new database as of some version. */
export function makeTables(connection: DatabaseSync, upTo: number): void {
  const files = migrationsAfter(0).filter(({ version }) => version <= upTo);
  connection.exec(['BEGIN', ...files.map(({ sql }) => sql()), `PRAGMA user_version = ${upTo}`, 'COMMIT'].join(';\n'));
}

/** The copy has the old version. Only its owner can read it, even while it is being written. */
function copyBeside(connection: DatabaseSync, path: string, now: number): string {
  const free = existsSync(path) ? `${path}-${now}` : path;
  // An incomplete copy must not look like a copy.
  const partial = `${free}.partial-${process.pid}`;
  rmSync(partial, { force: true });
  try {
    closeSync(openSync(partial, 'wx', OWN_MODE));
    connection.prepare('VACUUM INTO ?').run(partial);
    renameSync(partial, free);
  } finally {
    rmSync(partial, { force: true });
  }
  return free;
}

// Shapes of the tables of a version, read from a temporary SQLite database. Postgres has the same.

export type TableShape = ReturnType<typeof readShape>;

/** Every table of a version, by name. */
export function tableShapes(version: number): readonly TableShape[] {
  const connection = new DatabaseSync(':memory:');
  try {
    makeTables(connection, version);
    const tables = connection
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .all();
    return tables.map(({ name }) => readShape(connection, String(name)));
  } finally {
    connection.close();
  }
}

function readShape(connection: DatabaseSync, name: string) {
  const columns = connection.prepare('SELECT name, pk FROM pragma_table_info(?) ORDER BY cid').all(name);
  const ofKey = columns.filter(({ pk }) => Number(pk) > 0).toSorted((a, b) => Number(a['pk']) - Number(b['pk']));
  return {
    name,
    columns: columns.map((column) => String(column['name'])),
    /** Columns of the primary key, in order; empty: none, and few rows. */
    key: ofKey.map((column) => String(column['name'])),
    /** Number of rows in a new database. */
    rowsAtFirst: Number(connection.prepare(`SELECT COUNT(*) AS count FROM ${name}`).get()?.['count']),
  };
}
