/** Postgres through pg: transactions are serialised over all nodes; reads run in parallel on the same pool. */

import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import type pg from 'pg';
import { StatusError } from '../../errors.ts';
import { type EpochMs, toEpochMs } from '../../model/time.ts';
import type { Database, Reader, SqlValue, Writer } from '../database.ts';
import type { OnOlder } from '../migrations.ts';
import { migratePostgres, numbered, schemaVersion } from './migrate.ts';
import { connected, createClient, createPool, serverPlace, unavailable } from './pool.ts';

/** Enough for a pass, its readers and the gates. By default, a server allows 100 connections. */
const POOL_SIZE = 5;
/** An unreachable server is tried again only after this time, not with every request. */
const RETRY_AFTER_MS = 1_000;
/** Rows sent ahead of their answers. */
const ROWS_AHEAD = 1_000;
/** Only from this number of rows on, a prepared statement is worthwhile. */
const KEPT_FROM_ROWS = 16;
/** `pharos` in letters: the advisory lock that writers of one database share. */
const WRITE_LOCK = 0x70_68_61_72_6f_73;

/**
 * A writer waits as long as the largest pass of another may take. A node that hangs between two statements, was paused, or has
 * crashed loses its transaction before its leases expire, because until then no other node can write.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
  SET LOCAL lock_timeout = '15s'; SET LOCAL statement_timeout = '30s'; SET LOCAL idle_in_transaction_session_timeout = '5s';
  SELECT pg_advisory_xact_lock(${WRITE_LOCK})`;

interface PostgresOptions {
  /** Connections that are open at most. Default: 5. */
  readonly poolSize?: number;
  /** Default: `migrate`. */
  readonly onOlder?: OnOlder;
  /**
   * Makes a copy before tables of an older version are changed; no other node writes in the meantime. Default: none.
   *
   * @param version of these tables
   */
  readonly copyBefore?: (tables: Reader, version: number) => Promise<void>;
}

export interface PostgresDatabase extends Database {
  /**
   * Resolves when the server was reached and has our schema version. Calling it is optional.
   *
   * @throws STORE_UNAVAILABLE with the reason and the remedy; if its context has `schema`, trying again doesn't help
   */
  readonly ready: () => Promise<void>;
}

/**
 * Opens a database of a Postgres server. It connects at the first use, which also upgrades the tables, and fails with
 * STORE_UNAVAILABLE while the server can't be reached. It recovers by itself.
 *
 * @param url `postgres://user:password@host:port/database?sslmode=…`, with sslmode as in libpq
 */
export function openPostgres(
  url: string,
  { poolSize = POOL_SIZE, onOlder = 'migrate', copyBefore = async () => undefined }: PostgresOptions = {},
): PostgresDatabase {
  const place = serverPlace(url);
  const pool = createPool(url, poolSize);
  const inTurn = pLimit(1);
  let prepared: Promise<void> | null = null;
  let failed: { readonly fault: StatusError; readonly at: number } | null = null;

  async function prepare(): Promise<void> {
    try {
      const { client } = await connected(pool, async (fresh) =>
        migratePostgres(fresh, BEGIN, onOlder, (version) => copyBefore(createWriter(fresh, place), version)),
      );
      client.release();
      failed = null;
    } catch (error) {
      prepared = null;
      const fault = unavailable(place, error);
      failed = { fault, at: performance.now() };
      throw fault;
    }
  }

  async function ready(): Promise<void> {
    if (prepared === null && failed !== null && performance.now() - failed.at < RETRY_AFTER_MS) throw failed.fault;
    prepared ??= prepare();
    await prepared;
  }

  async function transact<T>(task: (tx: Writer) => Promise<T>, isDurable: boolean): Promise<T> {
    await ready();
    const { client } = await guard(place, () => connected(pool, (fresh) => fresh.query(BEGIN)));
    try {
      if (!isDurable) await client.query('SET LOCAL synchronous_commit TO OFF');
      const result = await task(createWriter(client, place));
      await commit(client, place);
      client.release();
      return result;
    } catch (error) {
      const isOver = await client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
      client.release(!isOver);
      throw error;
    }
  }

  async function answer<Result>(task: (fresh: pg.PoolClient) => Promise<Result>): Promise<Result> {
    await ready();
    return guard(place, async () => {
      const { client, result } = await connected(pool, task);
      client.release();
      return result;
    });
  }

  return {
    ready,
    ...createReader(answer),
    listen: (listener) => listenTo(url, listener),
    // The next transaction waits for this one, even if it fails.
    transaction: (task, { isDurable = true } = {}) => inTurn(() => transact(task, isDurable !== false)),
    // It has no cheaper way.
    flush: async () => undefined,
    // Its log is the server's own.
    truncateLog: async () => true,
    close: () => inTurn(() => pool.end()),
  };
}

/** If a statement failed, the server rolls back at COMMIT without an error, so the result is checked. */
async function commit(client: pg.PoolClient, place: string): Promise<void> {
  const { command } = await guard(place, () => client.query('COMMIT'));
  if (command === 'COMMIT') return;
  throw new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `A transaction on ${place} was rolled back because a statement failed.`,
  });
}

/**
 * Reads tables of any version while no other node writes.
 * @throws STORE_UNAVAILABLE
 */
export async function readPostgres<T>(url: string, task: (tables: Reader, version: number) => Promise<T>): Promise<T> {
  const place = serverPlace(url);
  const pool = createPool(url, 1);
  try {
    return await guard(place, async () => {
      const { client } = await connected(pool, async (fresh) => fresh.query(BEGIN));
      try {
        return await task(createWriter(client, place), await schemaVersion(client));
      } finally {
        await client.query('ROLLBACK');
        client.release();
      }
    });
  } finally {
    await pool.end();
  }
}

/** @param ask runs a task on a connection */
function createReader(ask: <Result>(task: (client: pg.ClientBase) => Promise<Result>) => Promise<Result>): Reader {
  return {
    all: async (sql, params = []) => (await ask((client) => client.query(toQuery(sql, params)))).rows,
    lists: (sql, params = []) =>
      ask(async (client) => (await client.query({ ...toQuery(sql, params), rowMode: 'array' })).rows),
    time: () => ask(readTime),
  };
}

function createWriter(client: pg.PoolClient, place: string): Writer {
  return {
    ...createReader((task) => guard(place, () => task(client))),
    run: (sql, params = []) => guard(place, async () => (await client.query(toQuery(sql, params))).rowCount ?? 0),
    runMany: (sql, rows) => guard(place, () => runMany(client, sql, rows)),
    announce: () => guard(place, async () => void (await client.query(`NOTIFY ${CHANNEL}`))),
  };
}

/** The current time, not the start of the transaction, which may have waited. */
async function readTime(client: pg.ClientBase): Promise<EpochMs> {
  const { rows } = await client.query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now');
  return toEpochMs(Number(rows[0]?.now));
}

/** Runs one statement for many rows. It is parsed once, and rows are sent without waiting for each response. */
async function runMany(client: pg.PoolClient, sql: string, rows: readonly (readonly SqlValue[])[]): Promise<void> {
  const text = numbered(sql);
  const kept =
    rows.length < KEPT_FROM_ROWS ? {} : { name: createHash('sha256').update(text).digest('hex').slice(0, 32) };
  for (let start = 0; start < rows.length; start += ROWS_AHEAD) {
    const some = rows.slice(start, start + ROWS_AHEAD);
    const answers = await Promise.allSettled(
      some.map((values) => client.query({ ...kept, text, values: values.map(storable) })),
    );
    // The first error is the cause; the others follow from it.
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

function toQuery(sql: string, params: readonly SqlValue[]): pg.QueryConfig {
  return { text: numbered(sql), values: params.map(storable) };
}

/** Postgres can't store NUL. Upstream text never contains it; this is for input of visitors. */
function storable(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}

async function guard<T>(place: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw unavailable(place, error);
  }
}

/** The notification channel. Its messages are empty, because the tables have the details. */
const CHANNEL = 'pharos';

const RECONNECT_MS = 1_000;
/** A query at this interval detects a server that has disappeared silently. */
const QUESTION_EVERY_MS = 5_000;

/**
 * Calls `listener` for every announcement and after each reconnection.
 * @returns a function that stops listening
 */
function listenTo(url: string, listener: () => void): () => Promise<void> {
  let client: pg.Client | null = null;
  let isEnded = false;
  let timer: NodeJS.Timeout | null = null;

  function later(task: () => void, ms: number): void {
    if (isEnded) return;
    timer = setTimeout(task, ms);
    timer.unref();
  }

  async function connect(): Promise<void> {
    const mine = createClient(url);
    client = mine;
    const lose = (): void => {
      if (client !== mine) return;
      client = null;
      if (timer !== null) clearTimeout(timer);
      void mine.end().catch(() => undefined);
      // Until then, polling finds changes.
      later(() => void connect(), RECONNECT_MS);
    };
    mine.on('error', lose);
    mine.on('end', lose);
    mine.on('notification', listener);
    const ask = async (): Promise<void> => {
      await mine.query('SELECT 1');
      if (client === mine) later(() => void ask().catch(lose), QUESTION_EVERY_MS);
    };
    try {
      await mine.connect();
      await mine.query(`LISTEN ${CHANNEL}`);
      listener();
      await ask();
    } catch {
      lose();
    }
  }

  void connect();
  return async () => {
    isEnded = true;
    if (timer !== null) clearTimeout(timer);
    const last = client;
    client = null;
    await last?.end().catch(() => undefined);
  };
}
