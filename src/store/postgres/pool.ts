/** Connections to a Postgres server. */

import { createRequire } from 'node:module';
import type pg from 'pg';
import { isDisconnection } from './faults.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than the server's own limits: only for a server that doesn't answer. */
const SILENCE_MAX_MS = 60_000;

const INT8 = 20;
const NUMERIC = 1_700;

/** Loaded with the first pool, because SQLite users don't need it. */
function library(): typeof pg {
  return createRequire(import.meta.url)('pg');
}

const typesOf = ({ types }: typeof pg): pg.CustomTypesConfig => ({
  getTypeParser: (oid, format) =>
    oid === INT8 || oid === NUMERIC ? (text: string) => Number(text) : types.getTypeParser(oid, format),
});

/** Creates a pool, which connects when needed. A lost connection doesn't end the process. */
export function createPool(url: string, size: number): pg.Pool {
  const loaded = library();
  const pool = new loaded.Pool({
    connectionString: withSslWordsOfLibpq(url),
    application_name: 'pharos',
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: SILENCE_MAX_MS,
    keepAlive: true,
    pipeline: true,
    types: typesOf(loaded),
  });
  // The statements on a lost connection fail and report it; without these handlers, the process would end.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Creates a single connection outside the pool, with a short time limit for queries. */
export function createClient(url: string): pg.Client {
  const { Client } = library();
  return new Client({
    connectionString: withSslWordsOfLibpq(url),
    application_name: 'pharos',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
}

/** `sslmode=require` asks for encryption and `verify-full` for a certificate too, as in every other tool. */
function withSslWordsOfLibpq(url: string): string {
  const parsed = new URL(url);
  if (parsed.searchParams.has('sslmode')) parsed.searchParams.set('uselibpqcompat', 'true');
  return parsed.href;
}

/**
 * Runs `task` on a connection, which the caller then has to return. If a connection of the pool turns out to be dead, tries
 * another: after a restart of the server, all of them are. After other errors, the connection is closed.
 */
export async function connected<T>(
  pool: pg.Pool,
  task: (client: pg.PoolClient) => Promise<T>,
): Promise<{ readonly client: pg.PoolClient; readonly result: T }> {
  for (let left = pool.options.max; ; left -= 1) {
    const client = await pool.connect();
    try {
      return { client, result: await task(client) };
    } catch (error) {
      client.release(true);
      if (left === 0 || !isDisconnection(error)) throw error;
    }
  }
}
