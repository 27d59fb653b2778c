/** The SQLite library's version, and inspection of database files without opening them for writing. */

import { existsSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { fileReason, isStatusError, messageOf, StatusError } from '../../errors.ts';
import type { Row, SqlValue, Values } from '../database.ts';

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
