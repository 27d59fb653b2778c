/** Tables as data: which fields their rows have, and how each is stored. Types and statements follow from it. */

import type { EpochMs } from '../model/time.ts';
import type { Row, SqlValue, Writer } from './database.ts';

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
type Values = Readonly<Record<string, SqlValue>>;

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
  const columnsWith = (more: Values): readonly string[] => [...own.map(({ column }) => column), ...Object.keys(more)];
  const insertion = (more: Values): string => {
    const names = columnsWith(more);
    return `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  };
  const values = (row: Read, more: Values): SqlValue[] => [
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
    insert: (tx: Writer, rows: readonly Read[], more: Values = {}): Promise<void> =>
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
      more: Values = {},
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
