/** Per upstream: its requests of the last hour, its rate limits, and its failures, so that we never overload it. */

import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import type { EpochMs } from '../model/time.ts';
import type { Database, Reader, Row, Writer } from './database.ts';

export interface UpstreamControl {
  /** Asked to wait: no request before this. */
  readonly holdUntil: EpochMs | null;
  /** Answers in a row that said "too many requests". */
  readonly limitedCount: number;
  /** Failed requests in a row. */
  readonly failures: number;
  /** Circuit open: no request before this. */
  readonly openUntil: EpochMs | null;
  /** Times the circuit opened without an answer in between. */
  readonly openings: number;
  /** Key refused: no request before this, unless the options change. */
  readonly refusedUntil: EpochMs | null;
  /** Fingerprint of the refused options. */
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
 * The effective interval between passes: the schedule's, or the smallest multiple of it that the rate limit allows.
 *
 * @param neededMs the time between two passes that the limit requires; 0: none
 */
export function askedEveryMs(intervalMs: number, neededMs: number): number {
  return Math.max(1, Math.ceil(neededMs / intervalMs)) * intervalMs;
}

/** Requests of one upstream within one write transaction, so nobody else adds to them. */
export interface RequestLedger {
  /** When the `n`th newest request was sent (1: the newest); null: there are fewer. */
  readonly nthNewest: (n: number, isLowPriorityOnly: boolean) => Promise<EpochMs | null>;
  readonly add: (at: EpochMs, isLowPriority: boolean) => Promise<void>;
  /** Requests with a time after `now` were made before a clock was set back: they count as made now. */
  readonly clamp: (now: EpochMs) => Promise<void>;
  readonly forgetBefore: (at: EpochMs) => Promise<void>;
  readonly control: () => Promise<UpstreamControl>;
  readonly setControl: (control: UpstreamControl) => Promise<void>;
}

/** Runs `task` over an upstream's ledger in one write transaction; if it throws, nothing changes. */
export function withLedger<T>(
  database: Database,
  upstreamId: string,
  task: (ledger: RequestLedger) => Promise<T>,
): Promise<T> {
  return database.transaction((tx) => task(createLedger(tx, upstreamId)));
}

/** The stored record of an upstream, or an empty one. */
export async function readControl(reader: Reader, upstreamId: string): Promise<UpstreamControl> {
  const [row] = await reader.all('SELECT * FROM upstream_control WHERE upstream = ?', [upstreamId]);
  return row === undefined ? CONTROL_AT_FIRST : toControl(row);
}

/** An optional request that failed. */
export interface FailedQuestion {
  /** Failures in a row. */
  readonly failures: number;
  /** The last attempt. */
  readonly at: EpochMs;
  readonly code: ErrorCode;
  /** HTTP status; null: not an HTTP error. */
  readonly status: number | null;
  readonly message: string;
}

/** Optional requests that failed, by digest. */
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

/** @param changes null: it succeeded */
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

/** Number of requests sent to an upstream after an instant. */
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
