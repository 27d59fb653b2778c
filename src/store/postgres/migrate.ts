/** Upgrades a Postgres database to the latest version, once, even if several nodes start together. */

import type pg from 'pg';
import { StatusError } from '../../errors.ts';
import { migrationsAfter, type OnOlder, outdated } from '../migrations.ts';
import { connected, createPool, serverPlace, unavailable } from './pool.ts';

/** Pharos uses features of this version; older servers no longer get fixes. */
const POSTGRES_VERSION_MIN = 13;

/** Creating an index over years of history takes time. */
const STATEMENT_MAX_MS = 600_000;

/**
 * @param begin starts a transaction in which no other node writes
 * @param beforeMigrating called in that transaction with the current version, before any table changes
 * @throws STORE_UNAVAILABLE if a newer Pharos made it, or if it is older and must be left alone
 */
export async function migratePostgres(
  client: pg.ClientBase,
  begin: string,
  onOlder: OnOlder,
  beforeMigrating: (version: number) => Promise<void>,
): Promise<void> {
  await requireServer(client);
  const seen = await schemaVersion(client);
  if (migrationsAfter(seen).length === 0) return;
  if (seen > 0 && onOlder === 'refuse') throw outdated(seen);
  await client.query(begin);
  await client.query(`SET LOCAL statement_timeout = ${STATEMENT_MAX_MS}`);
  await client.query('CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)');
  // Another node may have migrated while this one waited.
  const current = await schemaVersion(client);
  const missing = migrationsAfter(current);
  if (current > 0 && missing.length > 0) await beforeMigrating(current);
  for (const { version, sql } of missing) {
    await client.query({ text: inPostgresTypes(sql()), query_timeout: STATEMENT_MAX_MS } as pg.QueryConfig);
    await client.query('DELETE FROM schema_version');
    await client.query('INSERT INTO schema_version (version) VALUES ($1)', [version]);
  }
  await client.query('COMMIT');
}

/** Schema version of the tables; 0: there are none. */
export async function schemaVersion(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query("SELECT to_regclass('schema_version') IS NOT NULL AS known");
  if (rows[0]?.known !== true) return 0;
  const { rows: versions } = await client.query('SELECT MAX(version) AS version FROM schema_version');
  return Number(versions[0]?.version ?? 0);
}

/** @throws STORE_UNAVAILABLE if the server is too old, or has an unsuitable text encoding */
async function requireServer(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding",
  );
  const major = Math.floor(Number(rows[0]?.version) / 10_000);
  const encoding = String(rows[0]?.encoding);
  if (major < POSTGRES_VERSION_MIN) {
    throw new StatusError({
      code: 'STORE_UNAVAILABLE',
      message: `PostgreSQL ${major} is too old; Pharos needs ${POSTGRES_VERSION_MIN} or newer.`,
    });
  }
  if (encoding !== 'UTF8') {
    throw new StatusError({
      code: 'STORE_UNAVAILABLE',
      message: `The Postgres database uses the encoding ${encoding}. Create one with ENCODING 'UTF8' (docs/postgres.md).`,
    });
  }
}

/** Replaces `?` with `$1`, `$2` …, except in literals, quoted names and comments. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g, (part) => {
    if (part !== '?') return part;
    count += 1;
    return `$${count}`;
  });
}

/**
 * Changes a migration's types to those that behave as in SQLite: text ordered by bytes whatever the server's locale,
 * 64-bit integers, double precision, and bytes.
 */
export function inPostgresTypes(sql: string): string {
  return sql
    .replace(/--[^\n]*/g, '')
    .replace(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replace(/\bINTEGER\b/g, 'BIGINT')
    .replace(/\bREAL\b/g, 'DOUBLE PRECISION')
    .replace(/\bBLOB\b/g, 'BYTEA');
}

// Inspects a Postgres server without changing anything.

/** @throws STORE_UNAVAILABLE if it cannot be reached or used */
export async function probePostgres(url: string) {
  const pool = createPool(url, 1);
  try {
    const { client, result } = await connected(pool, async (fresh) => {
      await requireServer(fresh);
      const { rows } = await fresh.query(
        "SELECT current_setting('server_version') AS version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock",
      );
      const schema = await schemaVersion(fresh);
      return {
        /** As the server says it: `15.18`. */
        version: String(rows[0]?.version),
        /** The server's clock when queried, epoch ms. */
        clockMs: Number(rows[0]?.clock),
        /** Schema version of its tables; 0: there are none. */
        schema,
        /** Whether `schema` is this Pharos' version. */
        isCurrent: migrationsAfter(schema).length === 0,
      };
    });
    client.release();
    return result;
  } catch (error) {
    throw unavailable(serverPlace(url), error);
  } finally {
    await pool.end();
  }
}
