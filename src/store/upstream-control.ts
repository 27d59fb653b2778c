/** What is remembered of an upstream to be polite to it: its requests of the last hour, what it asked of us, and what it failed to answer. */

import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import type { EpochMs } from '../model/time.ts';
import type { Database, Reader, Row, Writer } from './database.ts';

export interface UpstreamControl {
  /** Told to wait: nothing leaves before. */
  readonly holdUntil: EpochMs | null;
  /** Answers in a row that said "too many requests". */
  readonly limitedCount: number;
  /** Failed requests in a row. */
  readonly failures: number;
  /** Circuit open: nothing is tried before. */
  readonly openUntil: EpochMs | null;
  /** Openings in a row, without an answer between. */
  readonly openings: number;
  /** Key refused: nothing is tried before, unless the options change. */
  readonly refusedUntil: EpochMs | null;
  /** Fingerprint of the options that were refused. */
  readonly refusedFingerprint: string | null;
  /** List and incident requests of the last pass. */
  readonly listCalls: number;
}

export const CONTROL_AT_FIRST: UpstreamControl = Object.freeze({
  holdUntil: null,
  limitedCount: 0,
  failures: 0,
  openUntil: null,
  openings: 0,
  refusedUntil: null,
  refusedFingerprint: null,
  listCalls: 0,
});

/**
 * The interval at which an upstream is really asked: its schedule, or the first of its ticks that its rate limit allows.
 *
 * @param neededMs the time that the limit asks for between two passes; 0: it asks for none
 */
export function askedEveryMs(intervalMs: number, neededMs: number): number {
  return Math.max(1, Math.ceil(neededMs / intervalMs)) * intervalMs;
}

/** Requests of one upstream, as one write transaction sees them. Nobody else adds to them meanwhile. */
export interface RequestLedger {
  /** When the `n`th newest request left (1: the newest); null: there are fewer. */
  readonly nthNewest: (n: number, isLowPriorityOnly: boolean) => Promise<EpochMs | null>;
  readonly add: (at: EpochMs, isLowPriority: boolean) => Promise<void>;
  /** Requests said to leave later than `now` were made before a clock was set back: they count as made now. */
  readonly clamp: (now: EpochMs) => Promise<void>;
  readonly forgetBefore: (at: EpochMs) => Promise<void>;
  readonly control: () => Promise<UpstreamControl>;
  readonly setControl: (control: UpstreamControl) => Promise<void>;
}

/** Runs `task` over the ledger of one upstream in one write transaction; a task that throws changes nothing. */
export function withLedger<T>(
  database: Database,
  upstreamId: string,
  task: (ledger: RequestLedger) => Promise<T>,
): Promise<T> {
  return database.transaction((tx) => task(createLedger(tx, upstreamId)));
}

/** What is remembered of an upstream; at first nothing. */
export async function readControl(reader: Reader, upstreamId: string): Promise<UpstreamControl> {
  const [row] = await reader.all('SELECT * FROM upstream_control WHERE upstream = ?', [upstreamId]);
  return row === undefined ? CONTROL_AT_FIRST : toControl(row);
}

/** An optional question that failed. */
export interface FailedQuestion {
  /** In a row. */
  readonly failures: number;
  /** When it was asked last. */
  readonly at: EpochMs;
  readonly code: ErrorCode;
  /** Of HTTP; null: it is not about one. */
  readonly status: number | null;
  readonly message: string;
}

/** Optional questions that an upstream failed to answer, by digest. */
export async function readFailedQuestions(
  reader: Reader,
  upstreamId: string,
): Promise<ReadonlyMap<string, FailedQuestion>> {
  const rows = await reader.all('SELECT * FROM failed_question WHERE upstream = ?', [upstreamId]);
  return new Map(
    rows.map((row) => [
      String(row['question']),
      {
        failures: Number(row['failures']),
        at: Number(row['at']) as EpochMs,
        code: ERROR_CODES.find((code) => code === row['code']) ?? 'UPSTREAM_FAILED',
        status: row['status'] === null ? null : Number(row['status']),
        message: String(row['message']),
      },
    ]),
  );
}

/** @param changes null: it was answered */
export async function writeFailedQuestions(
  database: Database,
  upstreamId: string,
  changes: ReadonlyMap<string, FailedQuestion | null>,
): Promise<void> {
  if (changes.size === 0) return;
  await database.transaction(async (tx) => {
    await tx.runMany(
      'DELETE FROM failed_question WHERE upstream = ? AND question = ?',
      [...changes.keys()].map((question) => [upstreamId, question]),
    );
    await tx.runMany(
      'INSERT INTO failed_question (upstream, question, failures, at, code, status, message) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [...changes].flatMap(([question, failed]) =>
        failed === null
          ? []
          : [[upstreamId, question, failed.failures, failed.at, failed.code, failed.status, failed.message]],
      ),
    );
  });
}

/** How many requests to an upstream left after an instant. */
export async function requestsSince(reader: Reader, upstreamId: string, since: EpochMs): Promise<number> {
  const [row] = await reader.all('SELECT COUNT(*) AS n FROM upstream_request WHERE upstream = ? AND at > ?', [
    upstreamId,
    since,
  ]);
  return Number(row?.['n'] ?? 0);
}

function createLedger(tx: Writer, upstream: string): RequestLedger {
  return {
    nthNewest: async (n, isLowPriorityOnly) => {
      const [row] = await tx.all(
        `SELECT at FROM upstream_request WHERE upstream = ? ${isLowPriorityOnly ? 'AND is_spare = 1' : ''} ORDER BY at DESC LIMIT 1 OFFSET ?`,
        [upstream, n - 1],
      );
      return row === undefined ? null : (Number(row['at']) as EpochMs);
    },
    add: async (at, isLowPriority) => {
      await tx.run('INSERT INTO upstream_request (upstream, at, is_spare) VALUES (?, ?, ?)', [
        upstream,
        at,
        isLowPriority ? 1 : 0,
      ]);
    },
    clamp: async (now) => {
      await tx.run('UPDATE upstream_request SET at = ? WHERE upstream = ? AND at > ?', [now, upstream, now]);
    },
    forgetBefore: async (at) => {
      await tx.run('DELETE FROM upstream_request WHERE upstream = ? AND at < ?', [upstream, at]);
    },
    control: () => readControl(tx, upstream),
    setControl: (control) => writeControl(tx, upstream, control),
  };
}

async function writeControl(tx: Writer, upstream: string, control: UpstreamControl): Promise<void> {
  await tx.run(
    `INSERT INTO upstream_control
       (upstream, hold_until, limited_count, failures, open_until, openings, refused_until, refused_fingerprint, list_calls)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (upstream) DO UPDATE SET hold_until = excluded.hold_until, limited_count = excluded.limited_count,
       failures = excluded.failures, open_until = excluded.open_until, openings = excluded.openings,
       refused_until = excluded.refused_until, refused_fingerprint = excluded.refused_fingerprint, list_calls = excluded.list_calls`,
    [
      upstream,
      control.holdUntil,
      control.limitedCount,
      control.failures,
      control.openUntil,
      control.openings,
      control.refusedUntil,
      control.refusedFingerprint,
      control.listCalls,
    ],
  );
}

function toControl(row: Row): UpstreamControl {
  const instant = (name: string): EpochMs | null => (row[name] === null ? null : (Number(row[name]) as EpochMs));
  return {
    holdUntil: instant('hold_until'),
    limitedCount: Number(row['limited_count']),
    failures: Number(row['failures']),
    openUntil: instant('open_until'),
    openings: Number(row['openings']),
    refusedUntil: instant('refused_until'),
    refusedFingerprint: row['refused_fingerprint'] === null ? null : String(row['refused_fingerprint']),
    listCalls: Number(row['list_calls']),
  };
}
