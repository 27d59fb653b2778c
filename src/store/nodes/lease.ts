/**
 * Leases: of several processes over one database, one does a thing at a time. Whoever holds one is named by a random id,
 * and the clock of the database says when it ends, so that neither clocks nor names of machines matter. A lease that ran
 * out stays its holder's until somebody else takes it, which its fence tells.
 */

import type { EpochMs } from '../../model/time.ts';
import { type Database, type Reader, readIn, type Writer } from '../database.ts';

export interface Lease {
  /** What is done by one alone: `pass/edge`. */
  readonly name: string;
  /** A random id of the process. */
  readonly holder: string;
  /** Grows each time the lease is taken: of two who believe they hold it, the larger does. */
  readonly fence: number;
}

export interface LeaseRequest {
  readonly name: string;
  readonly holder: string;
  /** How long it lasts unless it is renewed. */
  readonly ttlMs: number;
  /** Another lease, which has to be held still; default: none. */
  readonly under?: Lease | undefined;
}

/** In place of the instant until which it lasts: given back, and nobody's until it is taken again. */
const RELEASED = 0;

/**
 * Whoever shares a file loses power together, and what is held is told from what was held before by its holder; one that
 * is lost with the machine of a server ends a little sooner.
 */
const QUICKLY = { isDurable: false } as const;

/** Takes a lease that is free or has run out; null when somebody holds it, be it another task of this process. */
export function takeLease(database: Database, { name, holder, ttlMs, under }: LeaseRequest): Promise<Lease | null> {
  return database.transaction(async (tx) => {
    if (under !== undefined && !(await isHeld(tx, under))) return null;
    const now = await tx.time();
    const [row] = await tx.all('SELECT until_at, fence FROM lease WHERE name = ?', [name]);
    if (row !== undefined && isRunning(Number(row['until_at']), now, ttlMs)) return null;
    const fence = row === undefined ? 1 : Number(row['fence']) + 1;
    await tx.run(
      `INSERT INTO lease (name, holder, until_at, fence) VALUES (?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at, fence = excluded.fence`,
      [name, holder, now + ttlMs, fence],
    );
    return { name, holder, fence };
  }, QUICKLY);
}

/** Of these leases those that can be taken at this moment, as far as a look without a lock can tell. */
export async function freeLeases(reader: Reader, names: readonly string[], ttlMs: number): Promise<readonly string[]> {
  const now = await reader.time();
  const rows = await reader.all('SELECT name, until_at FROM lease WHERE until_at <> ?', [RELEASED]);
  const running = new Set(
    rows.filter((row) => isRunning(Number(row['until_at']), now, ttlMs)).map((row) => String(row['name'])),
  );
  return names.filter((name) => !running.has(name));
}

/** Further ahead than a lease can last was written before the clock of the database was set back. */
function isRunning(until: number, now: EpochMs, ttlMs: number): boolean {
  return until > now && until <= now + 2 * ttlMs;
}

/**
 * Makes leases of one holder last `ttlMs` from now, in as many statements as there are hundreds. One that could not be given
 * back is none of them, and so runs out.
 *
 * @returns the fences of those that are still theirs, by name
 */
export function renewLeases(
  database: Database,
  { holder, names, ttlMs }: { readonly holder: string; readonly names: readonly string[]; readonly ttlMs: number },
): Promise<ReadonlyMap<string, number>> {
  return database.transaction(async (tx) => {
    const until = (await tx.time()) + ttlMs;
    const rows = await readIn(tx, names, (list) => ({
      sql: `UPDATE lease SET until_at = ? WHERE holder = ? AND until_at <> ${RELEASED} AND name IN (${list}) RETURNING name, fence`,
      before: [until, holder],
    }));
    return new Map(rows.map((row) => [String(row['name']), Number(row['fence'])]));
  }, QUICKLY);
}

/** Whether nobody else has taken it. Inside a transaction this holds until its end. */
export async function isHeld(reader: Reader, { name, holder, fence }: Lease): Promise<boolean> {
  const [row] = await reader.all('SELECT holder, fence, until_at FROM lease WHERE name = ?', [name]);
  return row?.['holder'] === holder && Number(row['fence']) === fence && Number(row['until_at']) !== RELEASED;
}

/** Does `task` while nobody else can take the lease; false, with nothing done, when somebody else has it by now. */
export function underLease(database: Database, lease: Lease, task: (tx: Writer) => Promise<void>): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await isHeld(tx, lease))) return false;
    await task(tx);
    return true;
  });
}

/** Gives a lease back; one that somebody else has by now stays theirs. */
export async function releaseLease(database: Database, { name, holder, fence }: Lease): Promise<void> {
  const sql = 'UPDATE lease SET until_at = ? WHERE name = ? AND holder = ? AND fence = ?';
  await database.transaction((tx) => tx.run(sql, [RELEASED, name, holder, fence]), QUICKLY);
}
