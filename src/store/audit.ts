/** The audit log: who made Pharos do what, when, from where, and the result. Sign-ins are only counted. */

import { randomUUID } from 'node:crypto';
import { DAY_MS, type EpochMs, toEpochMs, toIso } from '../model/time.ts';
import type { Database, Row, Writer } from './database.ts';

export interface AuditEntry {
  readonly at: EpochMs;
  /** `operator`, `hook:svc`, `upstream:svc`, `command:alice`, `signal`; never an address or a secret. */
  readonly actor: string;
  /** `rebuild`, `pull`, `rollback`, `reload`, `withdraw`, `sign-in` … */
  readonly action: string;
  /** The page or upstream concerned; null: all of them. */
  readonly subject: string | null;
  /** Keyed hash of the client's address; null: this machine. */
  readonly client: string | null;
  /** The run that it started or joined. */
  readonly run: string | null;
  /** In words; null while the run is in progress. */
  readonly outcome: string | null;
}

/** Result of an attempt to sign in to a page. `limited`: too many attempts. */
const SIGN_IN_RESULTS = ['signed_in', 'refused', 'limited'] as const;
export type SignInResult = (typeof SIGN_IN_RESULTS)[number];

export interface SignInCount {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  /** Slug; empty if there is no such page. */
  readonly page: string;
  readonly result: SignInResult;
  readonly count: number;
}

export interface Audit {
  readonly record: (entry: AuditEntry) => Promise<void>;
  /** Records the result of a run in every entry that started or joined it. */
  readonly settle: (run: string, outcome: string) => Promise<void>;
  readonly countSignIns: (counts: readonly SignInCount[]) => Promise<void>;
  /** Newest first. */
  readonly entries: (limit: number) => Promise<readonly AuditEntry[]>;
  /** Counts of the days since `from`, newest first. */
  readonly signIns: (from: EpochMs) => Promise<readonly SignInCount[]>;
  /** Deletes older entries. */
  readonly forgetBefore: (before: EpochMs) => Promise<void>;
}

export function createAudit(database: Database): Audit {
  return {
    record: async (entry) => {
      await database.transaction((tx) => insertAudit(tx, entry));
    },
    settle: async (run, outcome) => {
      await database.transaction((tx) =>
        tx.run('UPDATE audit SET outcome = ? WHERE run = ? AND outcome IS NULL', [outcome, run]),
      );
    },
    countSignIns: (counts) =>
      database.transaction((tx) =>
        tx.runMany(
          `INSERT INTO sign_in_count (day, page, result, count) VALUES (?, ?, ?, ?)
           ON CONFLICT (day, page, result) DO UPDATE SET count = sign_in_count.count + excluded.count`,
          counts.map(({ day, page, result, count }) => [day, page, result, count]),
        ),
      ),
    entries: async (limit) => {
      const rows = await database.all('SELECT * FROM audit ORDER BY at DESC, id DESC LIMIT ?', [limit]);
      return rows.map(toEntry);
    },
    signIns: async (from) => {
      const rows = await database.all('SELECT * FROM sign_in_count WHERE day >= ? ORDER BY day DESC, page, result', [
        utcDay(from),
      ]);
      return rows.map(toCount);
    },
    forgetBefore: (before) =>
      database.transaction(async (tx) => {
        await tx.run('DELETE FROM audit WHERE at < ?', [before]);
        await tx.run('DELETE FROM sign_in_count WHERE day < ?', [utcDay(before)]);
      }),
  };
}

/** The day that a sign-in at `at` is counted under. */
export function utcDay(at: EpochMs): string {
  return toIso(toEpochMs(Math.floor(at / DAY_MS) * DAY_MS)).slice(0, 'YYYY-MM-DD'.length);
}

/** Writes an entry inside the caller's transaction. */
export async function insertAudit(tx: Writer, entry: AuditEntry): Promise<void> {
  const { at, actor, action, subject, client, run, outcome } = entry;
  await tx.run(
    'INSERT INTO audit (id, at, actor, action, subject, client, run, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    [randomUUID(), at, actor, action, subject, client, run, outcome],
  );
}

function toEntry(row: Row): AuditEntry {
  const text = (name: string): string | null => (row[name] === null ? null : String(row[name]));
  return {
    at: Number(row['at']) as EpochMs,
    actor: String(row['actor']),
    action: String(row['action']),
    subject: text('subject'),
    client: text('client'),
    run: text('run'),
    outcome: text('outcome'),
  };
}

function toCount(row: Row): SignInCount {
  const result = SIGN_IN_RESULTS.find((known) => known === row['result']) ?? 'refused';
  return { day: String(row['day']), page: String(row['page']), result, count: Number(row['count']) };
}
