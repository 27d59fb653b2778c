/** Connections to a Postgres server. */

import { createRequire } from 'node:module';
import type pg from 'pg';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than the server's own limits: only for a server that doesn't answer. */
const SILENCE_MAX_MS = 60_000;

const INT8 = 20;
const NUMERIC = 1_700;

/** Loaded with the first pool, because SQLite users don't need it. */
function library(): typeof pg {
  return createRequire(import.meta.url)('pg');
}

const parseTypes = ({ types }: typeof pg): pg.CustomTypesConfig => ({
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
    types: parseTypes(loaded),
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
export async function connected<T>(pool: pg.Pool, task: (client: pg.PoolClient) => Promise<T>) {
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

// Explains errors of a Postgres server or of the connection to it, without secrets.

/** Codes of PostgreSQL (its documentation, appendix A) and of the system, and what helps. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'Check user and password in store.url.',
  '28000': 'Check user and password in store.url, and the server’s pg_hba.conf.',
  '3D000': 'Create the database (docs/postgres.md), or check its name in store.url.',
  '42501':
    'Make the role the owner of the database (docs/postgres.md), or grant what a web node needs (docs/nodes.md).',
  '53300': 'The server has no connections left. Raise max_connections, or run fewer nodes.',
  '53100': 'The server’s disk is full. Free some space.',
  '55P03': 'Another node has been writing for too long. Check that node.',
  '57014': 'The server is too slow, or a statement waited for a lock.',
  '57P03': 'The server is starting or stopping. Pharos retries.',
  '25006': 'This server is read-only. Put the primary in store.url.',
  ECONNREFUSED: 'Nothing listens there: start the server, or check host and port in store.url.',
  ENOTFOUND: 'Check the host in store.url.',
  EAI_AGAIN: 'The host in store.url can’t be resolved. Pharos retries.',
  ETIMEDOUT: 'Check host and port in store.url, and any firewalls in between.',
};
const OTHER_REMEDY = 'Check store.url and that the server runs. Pharos retries.';

const DISCONNECTIONS: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', '57P01', '57P02']);
/** As pg words it; it gives no code. */
const DISCONNECTED = /connection terminated|connection error and is not queryable|closed and is not queryable/i;

/** `host:port/database` of an address, for messages. */
export function serverPlace(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `Postgres at ${hostname === '' ? 'localhost' : hostname}:${port === '' ? 5_432 : port}${pathname}`;
}

/** Whether an open connection was lost, so that another one may work. */
function isDisconnection(error: unknown): boolean {
  return DISCONNECTIONS.has(sqlState(error) ?? '') || DISCONNECTED.test(messageOf(error));
}

/** Wraps an error for the user; one of ours stays unchanged. */
export function unavailable(place: string, error: unknown): StatusError {
  if (isStatusError(error)) return error;
  const code = sqlState(error);
  const words = faultText(error);
  return new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `Can’t use ${place}: ${words}. ${REMEDIES[code ?? ''] ?? OTHER_REMEDY}`,
    cause: error,
    context: code === null ? {} : { reason: code },
  });
}

function sqlState(error: unknown): string | null {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}

/** A host with several addresses fails with one error per address. */
function faultText(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return messageOf(first).replace(/\.$/, '') || 'it does not respond';
}
