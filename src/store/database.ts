/** The little of a database that the stores need; SQLite and Postgres both give it. */

import type { EpochMs } from '../model/time.ts';

export type SqlValue = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, unknown>>;
/** A row as its values, in the order of the columns. */
export type Values = readonly unknown[];

export interface Reader {
  /** Rows of one statement; `?` marks a parameter. */
  readonly all: (sql: string, params?: readonly SqlValue[]) => Promise<readonly Row[]>;
  /** The same without names, in half the time: for statements that have a thousand rows. */
  readonly lists: (sql: string, params?: readonly SqlValue[]) => Promise<readonly Values[]>;
  /** What the clock of the database says: the same for every process that uses it, whatever their machines' clocks say. */
  readonly time: () => Promise<EpochMs>;
}

export interface Writer extends Reader {
  /** Runs one statement and returns how many rows it touched. */
  readonly run: (sql: string, params?: readonly SqlValue[]) => Promise<number>;
  /** Runs one statement once per row of parameters. */
  readonly runMany: (sql: string, rows: readonly (readonly SqlValue[])[]) => Promise<void>;
  /** Has every process that listens told, once this is committed. */
  readonly announce: () => Promise<void>;
}

export interface TransactionOptions {
  /**
   * False: it holds when the process ends in whatever way, and may be lost with the last moments before the machine loses
   * power. An order of magnitude quicker; for what may happen twice. Default: it holds whatever happens.
   */
  readonly isDurable?: boolean;
  /**
   * False: others may write meanwhile, and it keeps nobody waiting, where the database can do that. For rows that no other
   * transaction goes by. Default: it is alone.
   */
  readonly isAlone?: boolean;
}

/**
 * One database file or server.
 *
 * Transactions are serialised unless they say otherwise: nothing else writes between the first and the last statement of
 * one, in this process or in another. A task that throws changes nothing.
 */
export interface Database extends Reader {
  /** True: nothing can be stored, and whatever would be is refused with STORE_UNAVAILABLE. Default: false. */
  readonly isReadOnly?: boolean;
  readonly transaction: <T>(task: (tx: Writer) => Promise<T>, options?: TransactionOptions) => Promise<T>;
  /**
   * Calls `listener` when any process announced something, and when it may have been missed. No more than a hint that
   * saves waiting: a file tells nobody, and a connection may be lost without a word.
   *
   * @returns what ends it
   */
  readonly listen: (listener: () => void) => () => Promise<void>;
  /** A consistent copy in `file` while others read and write. */
  readonly backup: (file: string) => Promise<void>;
  /**
   * Takes what was deleted out of the log of changes, too, where there is one that we can reach. False: others are reading,
   * so that it has to be tried again.
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
  for (let start = 0; start < values.length; start += VALUES_PER_STATEMENT) {
    const some = padded(values.slice(start, start + VALUES_PER_STATEMENT));
    const { sql, before = [] } = statement(some.map(() => '?').join(', '));
    for (const row of await reader.all(sql, [...before, ...some])) rows.push(row);
  }
  return rows;
}

/** The list with its last value repeated up to the next power of two, so that few different statements are prepared. */
export function padded<Value>(values: readonly Value[]): readonly Value[] {
  const last = values.at(-1);
  if (last === undefined) return values;
  const length = 2 ** Math.ceil(Math.log2(values.length));
  return [...values, ...Array.from({ length: length - values.length }, () => last)];
}
