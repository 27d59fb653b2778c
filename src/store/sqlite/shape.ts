/** What tables some version has, as SQLite tells it of a database that is made for the question. Postgres has the same. */

import { DatabaseSync } from 'node:sqlite';
import { makeTables } from './migrate.ts';

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
    return tables.map(({ name }) => shapeOf(connection, String(name)));
  } finally {
    connection.close();
  }
}

function shapeOf(connection: DatabaseSync, name: string): TableShape {
  const columns = connection.prepare('SELECT name, pk FROM pragma_table_info(?) ORDER BY cid').all(name);
  const ofKey = columns.filter(({ pk }) => Number(pk) > 0).toSorted((a, b) => Number(a['pk']) - Number(b['pk']));
  return {
    name,
    columns: columns.map((column) => String(column['name'])),
    key: ofKey.map((column) => String(column['name'])),
    rowsAtFirst: Number(connection.prepare(`SELECT COUNT(*) AS count FROM ${name}`).get()?.['count']),
  };
}
