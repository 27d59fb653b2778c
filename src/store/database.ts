/**
 * The small part of a database that the stores need, which SQLite and Postgres both provide, and tables as data: types and
 * statements follow from the fields of their rows.
 */

import type { EpochMs } from '../model/time.ts';

export type SqlValue = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, unknown>>;
/** A row as its values, in the order of the columns. */
export type Values = readonly unknown[];

export interface Reader {
  /** Rows of one statement; `?` marks a parameter. */
  readonly all: (sql: string, params?: readonly SqlValue[]) => Promise<readonly Row[]>;
  /** The same without column names, in half the time: for statements that return thousands of rows. */
  readonly lists: (sql: string, params?: readonly SqlValue[]) => Promise<readonly Values[]>;
  /** The time by the clock of the database, which is the same for all processes that use it. */
  readonly time: () => Promise<EpochMs>;
}

export interface Writer extends Reader {
  /** Runs one statement and returns how many rows it touched. */
  readonly run: (sql: string, params?: readonly SqlValue[]) => Promise<number>;
  /** Runs one statement once per row of parameters. */
  readonly runMany: (sql: string, rows: readonly (readonly SqlValue[])[]) => Promise<void>;
  /** Announces a change to all processes that listen, once this transaction is committed. */
  readonly announce: () => Promise<void>;
}

export interface TransactionOptions {
  /**
   * False: survives a crash of the process, but the last moments may be lost in a power failure. Ten times as fast; for changes
   * that can safely happen twice. `flushed`: durable once a `flush` after it resolves. Default: durable.
   */
  readonly isDurable?: boolean | 'flushed';
}

/**
 * One database file or server.
 *
 * Transactions are serialised: nobody else, in this process or another, writes while one is open. If its task throws,
 * nothing changes.
 */
export interface Database extends Reader {
  /** True: every write fails with STORE_UNAVAILABLE. Default: false. */
  readonly isReadOnly?: boolean;
  readonly transaction: <T>(task: (tx: Writer) => Promise<T>, options?: TransactionOptions) => Promise<T>;
  /** Resolves once everything that was committed is durable. Meanwhile, its thread does other work. */
  readonly flush: () => Promise<void>;
  /**
   * Calls `listener` when any process announced a change, and when an announcement may have been missed. This only saves
   * waiting: SQLite announces nothing, and a connection can be lost unnoticed.
   *
   * @returns a function that stops listening
   */
  readonly listen: (listener: () => void) => () => Promise<void>;
  /**
   * Removes deleted data from the write-ahead log too, if there is one. False: it has to be tried again, because others are
   * reading.
   */
  readonly truncateLog: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Parameters of one statement; SQLite and Postgres both take far more. */
const VALUES_PER_STATEMENT = 512;

/** Rows of a statement with `IN (…)` over any number of values, asked in parts. `before`: parameters ahead of the list. */
export async function readIn(
  reader: Reader,
  values: readonly SqlValue[],
  statement: (list: string) => { readonly sql: string; readonly before?: readonly SqlValue[] },
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const some of inParts(values)) {
    const { sql, before = [] } = statement(some.map(() => '?').join(', '));
    for (const row of await reader.all(sql, [...before, ...some])) rows.push(row);
  }
  return rows;
}

/**
 * The list in parts that fit into a statement. The last one's last value is repeated up to the next power of two, so that few
 * different statements are prepared.
 */
export function* inParts<Value>(values: readonly Value[]): Generator<readonly Value[]> {
  for (let start = 0; start < values.length; start += VALUES_PER_STATEMENT) {
    const some = values.slice(start, start + VALUES_PER_STATEMENT);
    const length = 2 ** Math.ceil(Math.log2(some.length));
    yield [...some, ...new Array<Value>(length - some.length).fill(some.at(-1) as Value)];
  }
}

interface Column<T> {
  /** Methods, so that columns of different types fit into one record. */
  toSql(value: T): SqlValue;
  fromSql(stored: unknown): T;
  readonly name?: string;
}

export const text = <T extends string = string>(): Column<T> => ({
  toSql: (value) => value,
  fromSql: (stored) => String(stored) as T,
});

/** One of a closed set of words. A newer version may have stored another: that reads as `other`. */
export const word = <T extends string>(words: readonly T[], other: T): Column<T> => ({
  toSql: (value) => value,
  fromSql: (stored) => words.find((known) => known === stored) ?? other,
});

export const number = <T extends number = number>(): Column<T> => ({
  toSql: (value) => value,
  fromSql: (stored) => Number(stored) as T,
});

export const instant = number<EpochMs>;

/** 1 or 0. */
export const flag = (): Column<boolean> => ({ toSql: Number, fromSql: (stored) => Number(stored) === 1 });

export const json = <T>(parse: (text: string) => T): Column<T> => ({
  toSql: (value) => JSON.stringify(value),
  fromSql: (stored) => parse(String(stored)),
});

export const orNull = <T>({ toSql, fromSql }: Column<T>): Column<T | null> => ({
  toSql: (value) => (value === null ? null : toSql(value)),
  fromSql: (stored) => (stored === null || stored === undefined ? null : fromSql(stored)),
});

/** Keeps a field in a column that isn't named like it in snake case. */
export const named = <T>(name: string, column: Column<T>): Column<T> => ({ ...column, name });

type Fields = Readonly<Record<string, Column<unknown>>>;
type ExtraValues = Readonly<Record<string, SqlValue>>;

/** What a table's rows are read as. */
export type RowOf<T extends { readonly read: (row: Row) => unknown }> = ReturnType<T['read']>;

export function table<F extends Fields>(name: string, fields: F) {
  type Read = { readonly [K in keyof F]: F[K] extends Column<infer T> ? T : never };
  const own = Object.entries(fields).map(([field, { toSql, fromSql, name: column = inSnakeCase(field) }]) => ({
    field,
    column,
    toSql,
    fromSql,
  }));
  const columnsWith = (more: ExtraValues): readonly string[] => [
    ...own.map(({ column }) => column),
    ...Object.keys(more),
  ];
  const insertion = (more: ExtraValues): string => {
    const names = columnsWith(more);
    return `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  };
  const values = (row: Read, more: ExtraValues): SqlValue[] => [
    ...own.map(({ field, toSql }) => toSql(row[field])),
    ...Object.values(more),
  ];
  return {
    read: (row: Row) => {
      const fields: Record<string, unknown> = {};
      for (const { field, fromSql, column } of own) fields[field] = fromSql(row[column]);
      return fields as Read;
    },
    /** Stores new rows. `more`: values of columns that aren't read again. */
    insert: (tx: Writer, rows: readonly Read[], more: ExtraValues = {}): Promise<void> =>
      tx.runMany(
        insertion(more),
        rows.map((row) => values(row, more)),
      ),
    /**
     * Stores rows, or updates those that have the same in the columns `key`; then the columns `kept` stay as they are.
     */
    save: (
      tx: Writer,
      rows: readonly Read[],
      { key, kept = [] }: { readonly key: readonly string[]; readonly kept?: readonly string[] },
      more: ExtraValues = {},
    ): Promise<void> => {
      const updated = columnsWith(more).filter((column) => !key.includes(column) && !kept.includes(column));
      const changes = updated.map((column) => `${column} = excluded.${column}`).join(', ');
      const sql = `${insertion(more)} ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${changes}`;
      return tx.runMany(
        sql,
        rows.map((row) => values(row, more)),
      );
    },
  };
}

function inSnakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
