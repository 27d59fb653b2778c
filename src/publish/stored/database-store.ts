/**
 * Keeps releases in the Postgres database that all nodes share. It contains private pages unencrypted. Objects that are
 * requested at about the same time are read with one statement.
 */

import pLimit from 'p-limit';
import { StatusError } from '../../errors.ts';
import { type Database, type Row, readIn, type SqlValue, type Writer } from '../../store/database.ts';
import { digestOf, type ReleaseStore } from './release-store.ts';

/** The same text on every node, because leases are named after it. */
const PLACE = 'the database';
/** The same limit as for a bucket's answer. */
const BYTES_MAX = 32 * 1024 * 1024;
/** Leaves connections of the pool free for gates and passes. */
const STATEMENTS_MAX = 3;
const OBJECTS_PER_STATEMENT = 32;

const INSERT = 'INSERT INTO release_object (key, version, bytes) VALUES (?, ?, ?) ON CONFLICT (key)';
const PUT = `${INSERT} DO UPDATE SET version = excluded.version, bytes = excluded.bytes`;
const UPDATE = 'UPDATE release_object SET version = ?, bytes = ? WHERE key = ? AND version = ?';
/** Objects that are too large aren't read. */
const BYTES = `CASE WHEN length(bytes) <= ${BYTES_MAX} THEN bytes END AS bytes`;
const BYTES_IF_OTHER = `CASE WHEN version <> ? AND length(bytes) <= ${BYTES_MAX} THEN bytes END AS bytes`;

/** @param database  stays open when the store is closed */
export function createDatabaseStore(database: Database): ReleaseStore {
  const limit = pLimit(STATEMENTS_MAX);
  let isClosed = false;
  const run: Run = (task) =>
    limit(() => {
      if (isClosed) throw new Error(`${PLACE} is closed`);
      return task();
    });
  // No other transaction depends on these rows, so passes and this one don't wait for each other.
  const change = <T>(task: (tx: Writer) => Promise<T>): Promise<T> => database.transaction(task, { isAlone: false });
  // In a fixed order, so that two writers of the same rows can't deadlock.
  const changeMany = (sql: string) =>
    together(run, async (rows: readonly Values[]) => {
      await change((tx) => tx.runMany(sql, rows.toSorted(byKey)));
      return rows.map(() => undefined);
    });

  const read = together(run, async (keys: readonly string[]) => {
    const rows = await readIn(database, keys, (list) => ({
      sql: `SELECT key, ${BYTES} FROM release_object WHERE key IN (${list})`,
    }));
    const found = new Map(rows.map((row) => [row['key'], row]));
    return keys.map((key) => found.get(key) ?? null);
  });
  const put = changeMany(PUT);
  const remove = changeMany('DELETE FROM release_object WHERE key = ?');

  return {
    place: PLACE,
    get: async (key) => {
      const row = await read(key);
      return row === null ? null : bytesOf(row);
    },
    getIfOther: async (key, version) => {
      const sql = `SELECT key, version, ${BYTES_IF_OTHER} FROM release_object WHERE key = ?`;
      const [row] = await run(() => database.all(sql, [version ?? '', key]));
      if (row === undefined) return { bytes: null, version: null };
      const found = String(row['version']);
      return found === version ? null : { bytes: bytesOf(row), version: found };
    },
    put: async (key, bytes) => put([key, digestOf(bytes), bounded(key, bytes)]),
    replace: async (key, bytes, version) => {
      const next = digestOf(bounded(key, bytes));
      const count = await run(() =>
        change((tx) =>
          version === null
            ? tx.run(`${INSERT} DO NOTHING`, [key, next, bytes])
            : tx.run(UPDATE, [next, bytes, key, version]),
        ),
      );
      if (count > 0) return next;
      const message = `${PLACE}: another node has changed ${key} in the meantime. Pharos reads it again.`;
      throw new StatusError({ code: 'TARGET_BUSY', message });
    },
    remove: (key) => remove([key]),
    keys: async () => {
      const rows = await run(() => database.all('SELECT key FROM release_object'));
      return rows.map((row) => String(row['key']));
    },
    close: async () => {
      isClosed = true;
    },
  };
}

/** The key first, in statements of many rows. */
type Values = readonly [key: string, ...SqlValue[]];
type Run = <T>(task: () => Promise<T>) => Promise<T>;

const byKey = ([one]: Values, [other]: Values): number => (one < other ? -1 : 1);

function bounded(key: string, bytes: Uint8Array): Uint8Array {
  if (bytes.length > BYTES_MAX) throw tooLarge(key);
  return bytes;
}

function bytesOf(row: Row): Buffer {
  const bytes = row['bytes'];
  if (!(bytes instanceof Uint8Array)) throw tooLarge(String(row['key']));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function tooLarge(key: string): StatusError {
  return new StatusError({
    code: 'TARGET_REFUSED',
    message: `${PLACE}: ${key} is larger than ${BYTES_MAX} bytes, which no release needs.`,
  });
}

/** Batches calls that arrive while others are running. `work` returns a result for each item, in order. */
function together<Item, Result>(run: Run, work: (items: readonly Item[]) => Promise<readonly Result[]>) {
  const waiting: { readonly item: Item; readonly done: PromiseWithResolvers<Result> }[] = [];
  async function next(): Promise<void> {
    const some = waiting.splice(0, OBJECTS_PER_STATEMENT);
    if (some.length === 0) return;
    try {
      const results = await work(some.map(({ item }) => item));
      for (const [index, { done }] of some.entries()) done.resolve(results[index] as Result);
    } catch (error) {
      for (const { done } of some) done.reject(error);
    }
  }
  return (item: Item): Promise<Result> => {
    const done = Promise.withResolvers<Result>();
    waiting.push({ item, done });
    run(next).catch(done.reject);
    return done.promise;
  };
}
