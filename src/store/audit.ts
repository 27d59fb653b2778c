/** The audit log: who made Pharos do what, when, from where, and the result. Sign-ins are only counted. */

import { randomUUID } from 'node:crypto';
import { DAY_MS, type EpochMs, toEpochMs, toIso } from '../model/time.ts';
import { type Database, instant, number, orNull, type RowOf, table, text, type Writer, word } from './database.ts';

const AUDIT = table('audit', {
  at: instant(),
  /** `operator`, `hook:svc`, `upstream:svc`, `command:alice`, `signal`; never an address or a secret. */
  actor: text(),
  /** `rebuild`, `pull`, `rollback`, `reload`, `withdraw`, `sign-in` … */
  action: text(),
  /** The page or upstream concerned; null: all of them. */
  subject: orNull(text()),
  /** Keyed hash of the client's address; null: this machine. */
  client: orNull(text()),
  /** The run that it started or joined. */
  run: orNull(text()),
  /** In words; null while the run is in progress. */
  outcome: orNull(text()),
});
export type AuditEntry = RowOf<typeof AUDIT>;

const SIGN_IN_RESULTS = ['signed_in', 'refused', 'limited'] as const;
/** Result of an attempt to sign in to a page. `limited`: too many attempts. */
export type SignInResult = (typeof SIGN_IN_RESULTS)[number];

const SIGN_INS = table('sign_in_count', {
  /** `YYYY-MM-DD`, UTC. */
  day: text(),
  /** Slug; empty if there is no such page. */
  page: text(),
  result: word(SIGN_IN_RESULTS, 'refused'),
  count: number(),
});
export type SignInCount = RowOf<typeof SIGN_INS>;

export type Audit = ReturnType<typeof createAudit>;

export function createAudit(database: Database) {
  return {
    record: (entry: AuditEntry) => database.transaction((tx) => insertAudit(tx, entry)),
    /** Records the result of a run in every entry that started or joined it. */
    settle: async (run: string, outcome: string): Promise<void> => {
      await database.transaction((tx) =>
        tx.run('UPDATE audit SET outcome = ? WHERE run = ? AND outcome IS NULL', [outcome, run]),
      );
    },
    countSignIns: (counts: readonly SignInCount[]) =>
      database.transaction((tx) =>
        tx.runMany(
          `INSERT INTO sign_in_count (day, page, result, count) VALUES (?, ?, ?, ?)
           ON CONFLICT (day, page, result) DO UPDATE SET count = sign_in_count.count + excluded.count`,
          counts.map(({ day, page, result, count }) => [day, page, result, count]),
        ),
      ),
    /** Newest first. */
    entries: async (limit: number) =>
      (await database.all('SELECT * FROM audit ORDER BY at DESC, id DESC LIMIT ?', [limit])).map(AUDIT.read),
    /** Counts of the days since `from`, newest first. */
    signIns: async (from: EpochMs) => {
      const sql = 'SELECT * FROM sign_in_count WHERE day >= ? ORDER BY day DESC, page, result';
      return (await database.all(sql, [utcDay(from)])).map(SIGN_INS.read);
    },
    /** Deletes older entries. */
    forgetBefore: (before: EpochMs) =>
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
export function insertAudit(tx: Writer, entry: AuditEntry): Promise<void> {
  return AUDIT.insert(tx, [entry], { id: randomUUID() });
}
