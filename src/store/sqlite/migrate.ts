/** Upgrades a SQLite database to the latest version, after copying it. */

import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { migrationsAfter, type OnOlder, outdated } from '../migrations.ts';
import { readVersion } from './version.ts';

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
