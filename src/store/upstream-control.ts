/** Per upstream: its requests of the last hour, its rate limits, and its failures, so that we never overload it. */

import { ERROR_CODES } from '../errors.ts';
import type { EpochMs } from '../model/time.ts';
import {
  type Database,
  instant,
  number,
  orNull,
  type Reader,
  type RowOf,
  type SqlValue,
  table,
  text,
  type Writer,
  word,
} from './database.ts';
import { parseInstant } from './rows.ts';

const CONTROLS = table('upstream_control', {
  /** Asked to wait: no request before this. */
  holdUntil: orNull(instant()),
  /** Answers in a row that said "too many requests". */
  limitedCount: number(),
  /** Failed requests in a row. */
  failures: number(),
  /** Circuit open: no request before this. */
  openUntil: orNull(instant()),
  /** Times the circuit opened without an answer in between. */
  openings: number(),
  /** Key refused: no request before this, unless the options change. */
  refusedUntil: orNull(instant()),
  /** Fingerprint of the refused options. */
  refusedFingerprint: orNull(text()),
  /** List and incident requests of the last pass. */
  listCalls: number(),
});
export type UpstreamControl = RowOf<typeof CONTROLS>;

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
export type RequestLedger = ReturnType<typeof createLedger>;

/** Runs `task` over an upstream's ledger in one write transaction; if it throws, nothing changes. */
export function withLedger<T>(database: Database, upstreamId: string, task: (ledger: RequestLedger) => Promise<T>) {
  return database.transaction((tx) => task(createLedger(tx, upstreamId)));
}

/** The stored record of an upstream, or an empty one. */
export async function readControl(reader: Reader, upstreamId: string): Promise<UpstreamControl> {
  const [row] = await reader.all('SELECT * FROM upstream_control WHERE upstream = ?', [upstreamId]);
  return row === undefined ? CONTROL_AT_FIRST : CONTROLS.read(row);
}

const FAILED = table('failed_question', {
  /** Failures in a row. */
  failures: number(),
  /** The last attempt. */
  at: instant(),
  code: word(ERROR_CODES, 'UPSTREAM_FAILED'),
  /** HTTP status; null: not an HTTP error. */
  status: orNull(number()),
  message: text(),
});
/** An optional request that failed. */
export type FailedQuestion = RowOf<typeof FAILED>;

/** Optional requests that failed, by digest. */
export async function readFailedQuestions(reader: Reader, upstreamId: string) {
  const rows = await reader.all('SELECT * FROM failed_question WHERE upstream = ?', [upstreamId]);
  return new Map(rows.map((row) => [String(row['question']), FAILED.read(row)]));
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
    for (const [question, failed] of changes)
      if (failed !== null) await FAILED.insert(tx, [failed], { upstream: upstreamId, question });
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

function createLedger(tx: Writer, upstream: string) {
  const run = async (sql: string, params: readonly SqlValue[]): Promise<void> => void (await tx.run(sql, params));
  return {
    /** When the `n`th newest request was sent (1: the newest); null: there are fewer. */
    nthNewest: async (n: number, isLowPriorityOnly: boolean): Promise<EpochMs | null> => {
      const [row] = await tx.all(
        `SELECT at FROM upstream_request WHERE upstream = ? ${isLowPriorityOnly ? 'AND is_spare = 1' : ''} ORDER BY at DESC LIMIT 1 OFFSET ?`,
        [upstream, n - 1],
      );
      return parseInstant(row?.['at']);
    },
    add: (at: EpochMs, isLowPriority: boolean) =>
      run('INSERT INTO upstream_request (upstream, at, is_spare) VALUES (?, ?, ?)', [
        upstream,
        at,
        Number(isLowPriority),
      ]),
    /** Requests with a time after `now` were made before a clock was set back: they count as made now. */
    clamp: (now: EpochMs) =>
      run('UPDATE upstream_request SET at = ? WHERE upstream = ? AND at > ?', [now, upstream, now]),
    forgetBefore: (at: EpochMs) => run('DELETE FROM upstream_request WHERE upstream = ? AND at < ?', [upstream, at]),
    control: () => readControl(tx, upstream),
    setControl: (control: UpstreamControl) => CONTROLS.save(tx, [control], { key: ['upstream'] }, { upstream }),
  };
}
