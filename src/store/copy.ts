/** Copies all tables from one database into another, new one, and compares the number of rows. */

import { StatusError } from '../errors.ts';
import type { Database, Reader, Row, SqlValue } from './database.ts';
import { type TableShape, tableShapes } from './sqlite/file.ts';

/** Rows read at once. */
const ROWS_AT_ONCE = 5_000;

/**
 * Copies every row, or nothing; returns the number of rows of each table.
 *
 * @param from a transaction on the source, because rows written during the copy could be missed
 * @param to a database with the tables of that version and without rows
 * @param version schema version of both
 * @param onTable called before each table with how many are copied
 * @throws STORE_UNAVAILABLE when the target isn't empty, or the counts differ
 */
export function copyTables(
  from: Reader,
  to: Database,
  version: number,
  onTable?: (done: number, total: number) => void,
) {
  return to.transaction(async (tx) => {
    const copied: { readonly table: string; readonly rows: number }[] = [];
    const shapes = tableShapes(version);
    for (const shape of shapes) {
      onTable?.(copied.length, shapes.length);
      if ((await countRows(tx, shape)) > shape.rowsAtFirst)
        throw failure(`${shape.name} already has rows; copy into a new database`);
      await tx.run(`DELETE FROM ${shape.name}`);
      const list = shape.columns.join(', ');
      const marks = shape.columns.map(() => '?').join(', ');
      for await (const rows of readTable(from, shape))
        await tx.runMany(
          `INSERT INTO ${shape.name} (${list}) VALUES (${marks})`,
          rows.map((row) => shape.columns.map((column) => row[column] as SqlValue)),
        );
      const [before, after] = [await countRows(from, shape), await countRows(tx, shape)];
      if (before !== after) throw failure(`${shape.name} has ${before} rows, but ${after} were copied`);
      copied.push({ table: shape.name, rows: after });
    }
    return copied;
  });
}

/** Reads the rows of a table by its key, in batches. */
async function* readTable(from: Reader, { name, columns, key }: TableShape): AsyncGenerator<readonly Row[]> {
  const list = columns.join(', ');
  if (key.length === 0) {
    yield await from.all(`SELECT ${list} FROM ${name}`);
    return;
  }
  const order = key.join(', ');
  const after = `WHERE (${order}) > (${key.map(() => '?').join(', ')})`;
  for (let last: Row | undefined; ; ) {
    const values = last === undefined ? [] : key.map((column) => last?.[column] as SqlValue);
    const rows = await from.all(
      `SELECT ${list} FROM ${name} ${last === undefined ? '' : after} ORDER BY ${order} LIMIT ${ROWS_AT_ONCE}`,
      values,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) return;
    last = rows.at(-1);
  }
}

async function countRows(reader: Reader, { name }: TableShape): Promise<number> {
  const [row] = await reader.all(`SELECT COUNT(*) AS count FROM ${name}`);
  return Number(row?.['count']);
}

function failure(reason: string): StatusError {
  return new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `The database was not copied: ${reason}. Nothing was changed.`,
  });
}
