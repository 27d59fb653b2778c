/** New databases by the hundred: what `openSqlite` makes of nothing is made once for each process, and copied. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type OpenedSqlite, openSqlite } from '../../src/store/sqlite/sqlite.ts';

/** The bytes of a database with all its tables and nothing in them. */
async function make(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-empty-'));
  const file = join(folder, 'pharos.db');
  await openSqlite(file, 0).database.close();
  const bytes = readFileSync(file);
  rmSync(folder, { recursive: true });
  return bytes;
}

const EMPTY = await make();

/** `openSqlite` of a file that is there, or of a new one. */
export function openEmptySqlite(file: string, now: number): OpenedSqlite {
  mkdirSync(dirname(file), { recursive: true });
  if (!existsSync(file)) writeFileSync(file, EMPTY, { mode: 0o600 });
  return openSqlite(file, now);
}
