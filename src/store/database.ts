/** The little of a database that the stores need; SQLite and Postgres both give it. */

export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

export interface Reader {
  /** Rows of one statement; `?` marks a parameter. */
  readonly all: (sql: string, params?: readonly SqlValue[]) => Promise<readonly Row[]>;
}

export interface Writer extends Reader {
  /** Runs one statement and returns how many rows it touched. */
  readonly run: (sql: string, params?: readonly SqlValue[]) => Promise<number>;
  /** Runs one statement once per row of parameters. */
  readonly runMany: (sql: string, rows: readonly (readonly SqlValue[])[]) => Promise<void>;
}

/**
 * One database file or server.
 *
 * Transactions are serialised: nothing else writes between the first and the last statement of one, in this process or
 * in another. A task that throws changes nothing.
 */
export interface Database extends Reader {
  readonly transaction: <T>(task: (tx: Writer) => Promise<T>) => Promise<T>;
  /** A consistent copy in `file` while others read and write. */
  readonly backup: (file: string) => Promise<void>;
  readonly close: () => Promise<void>;
}
