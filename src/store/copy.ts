/** Copies everything that is remembered from one database into another that is new. */

import type { Database, Reader, SqlValue } from './database.ts';

/** Rows read at once. */
const ROWS_AT_ONCE = 5_000;

/**
 * @param to a SQLite database, which says what tables there are; they hold the same afterwards as those of `from`, as of
 *   about now: what is written meanwhile may be in it or not
 */
export async function copyTables(from: Reader, to: Database): Promise<void> {
  const tables = await to.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  for (const { name } of tables) await copyTable(from, to, String(name));
}

async function copyTable(from: Reader, to: Database, table: string): Promise<void> {
  const columns = (await to.all(`SELECT name, pk FROM pragma_table_info('${table}') ORDER BY cid`)).map(({ name }) =>
    String(name),
  );
  const list = columns.join(', ');
  const marks = columns.map(() => '?').join(', ');
  await to.transaction(async (tx) => {
    await tx.run(`DELETE FROM ${table}`);
    for (let offset = 0; ; offset += ROWS_AT_ONCE) {
      const rows = await from.all(
        `SELECT ${list} FROM ${table} ORDER BY ${list} LIMIT ${ROWS_AT_ONCE} OFFSET ${offset}`,
      );
      await tx.runMany(
        `INSERT INTO ${table} (${list}) VALUES (${marks}) ON CONFLICT DO NOTHING`,
        rows.map((row) => columns.map((column) => row[column] as SqlValue)),
      );
      if (rows.length < ROWS_AT_ONCE) return;
    }
  });
}
