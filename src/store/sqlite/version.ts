/** The library, and what a database file is, without opening it to write. */

import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, StatusError } from '../../errors.ts';
import { unreadable } from './faults.ts';

/** Older libraries can corrupt a WAL database when two connections checkpoint at once (sqlite.org/wal.html#walresetbug). */
const SQLITE_VERSION_MIN = [3, 51, 3] as const;
const BUSY_TIMEOUT_MS = 5_000;

/** What is wrong with a database file, in words; null when nothing is. It is only read. */
export function faultOfSqlite(file: string): string | null {
  try {
    return reading(file, damageOf);
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

/** What is wrong with a database, on one line; null: nothing. */
export function damageOf(connection: DatabaseSync): string | null {
  const check = String(connection.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  return check === 'ok' ? null : check.replaceAll(/\s+/g, ' ');
}

/** Which version the tables of a file have; 0: there are none, or no file. @throws STORE_UNAVAILABLE, STORE_CORRUPT */
export function schemaOfSqlite(file: string): number {
  if (!existsSync(file)) return 0;
  try {
    return reading(file, versionOf);
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Which version the tables have; 0: there are none. */
export function versionOf(connection: DatabaseSync): number {
  return Number(connection.prepare('PRAGMA user_version').get()?.['user_version']);
}

/** The version of the library, and whether it is one that can corrupt databases. */
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

/** @throws STORE_UNAVAILABLE for a library that can corrupt databases */
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
