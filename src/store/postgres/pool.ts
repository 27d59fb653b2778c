/** Connections to a Postgres server. */

import { createRequire } from 'node:module';
import type pg from 'pg';
import { isDisconnection } from './faults.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Past the server's own limits: only for a server that is silent. */
const SILENCE_MAX_MS = 60_000;

const INT8 = 20;
const NUMERIC = 1_700;

/** Loaded with the first pool: who has SQLite needs none of it. */
function library(): typeof pg {
  return createRequire(import.meta.url)('pg');
}

const typesOf = ({ types }: typeof pg): pg.CustomTypesConfig => ({
  getTypeParser: (oid, format) =>
    oid === INT8 || oid === NUMERIC ? (text: string) => Number(text) : types.getTypeParser(oid, format),
});

/** Connections to a server; nothing is opened before it is needed, and none that dies ends the process. */
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
  // A connection that dies takes its statements with it, and they tell; a process does not end for that.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** One connection that is nobody else's; a question without an answer is given up soon. */
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
 * Does `task` on a connection, which the caller then has and gives back. Again on another one when that of the pool turns
 * out to be dead: after the server was restarted all of them are. One on which something failed is closed.
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
