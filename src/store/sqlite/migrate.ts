/** Brings a SQLite database to the latest version, after a copy of it was made beside it. */

import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { migrationsAfter, type OnOlder, outdated } from '../migrations.ts';
import { readVersion } from './version.ts';

/** The version from which on deleted rows are overwritten; databases of before are written anew once. */
const VERSION_OF_ERASURE = 10;
const OWN_MODE = 0o600;

interface MigrateOptions {
  /** Path of the database. */
  readonly file: string;
  /** Epoch ms, for the name of the copy where the shorter one is taken. */
  readonly now: number;
}

/**
 * To be called before anything is done to a database.
 *
 * @throws STORE_UNAVAILABLE when a newer Pharos made it, or an older one and it is to be left alone
 */
export function refuseOthers(connection: DatabaseSync, onOlder: OnOlder): void {
  const current = readVersion(connection);
  const isOlder = migrationsAfter(current).length > 0 && current > 0;
  if (isOlder && onOlder === 'refuse') throw outdated(current);
}

/**
 * Applies each numbered file once, in order, all of them or none. Forward only; the way back is the copy.
 *
 * @returns path of the copy; null: there was nothing to do, or nothing to copy
 */
export function bringToLatest(connection: DatabaseSync, { file, now }: MigrateOptions): string | null {
  const current = readVersion(connection);
  if (migrationsAfter(current).length === 0) return null;
  const copy = current > 0 ? copyBeside(connection, `${file}.version-${current}`, now) : null;
  connection.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have done it while this one waited for the lock. All at once, so that nobody sees one in between.
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

/** Makes the tables of a new database as some version had them. */
export function makeTables(connection: DatabaseSync, upTo: number): void {
  const files = migrationsAfter(0).filter(({ version }) => version <= upTo);
  connection.exec(['BEGIN', ...files.map(({ sql }) => sql()), `PRAGMA user_version = ${upTo}`, 'COMMIT'].join(';\n'));
}

/** The version is the same in the copy; its owner alone may read it while it is being written, too. */
function copyBeside(connection: DatabaseSync, path: string, now: number): string {
  const free = existsSync(path) ? `${path}-${now}` : path;
  // What breaks off is not to be taken for a copy.
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

// What tables some version has, as SQLite tells it of a database that is made for the question. Postgres has the same.

export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key, in its order; empty: it has none, and few rows. */
  readonly key: readonly string[];
  /** Rows that are there in a new database. */
  readonly rowsAtFirst: number;
}

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

function readShape(connection: DatabaseSync, name: string): TableShape {
  const columns = connection.prepare('SELECT name, pk FROM pragma_table_info(?) ORDER BY cid').all(name);
  const ofKey = columns.filter(({ pk }) => Number(pk) > 0).toSorted((a, b) => Number(a['pk']) - Number(b['pk']));
  return {
    name,
    columns: columns.map((column) => String(column['name'])),
    key: ofKey.map((column) => String(column['name'])),
    rowsAtFirst: Number(connection.prepare(`SELECT COUNT(*) AS count FROM ${name}`).get()?.['count']),
  };
}
