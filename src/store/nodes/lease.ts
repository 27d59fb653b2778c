/**
 * Leases: of all processes that share a database, only one does a task at a time. The holder is a random id and the database's
 * clock decides when a lease ends, so machines' clocks and names don't matter. An expired lease still belongs to its holder
 * until another process takes it, which the fence shows.
 */

import type { EpochMs } from '../../model/time.ts';
import { type Database, type Reader, readIn, type Writer } from '../database.ts';

export interface Lease {
  /** Name of the task: `pass/edge`. */
  readonly name: string;
  /** A random id of the process. */
  readonly holder: string;
  /** Grows each time the lease is taken. If two processes believe that they hold it, the larger fence is right. */
  readonly fence: number;
}

interface LeaseRequest {
  readonly name: string;
  readonly holder: string;
  /** Duration, unless it is renewed. */
  readonly ttlMs: number;
  /** Another lease that must still be held; default: none. */
  readonly under?: Lease | undefined;
}

/** Instead of an end time: returned, and free. */
const RELEASED = 0;

/**
 * Not durable: processes that share a file lose power together, and a lease lost in a server's crash only ends a little sooner.
 */
const QUICKLY = { isDurable: false } as const;

/** Takes a lease that is free or expired; null: another process or task holds it. */
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

/** Returns the leases that seem to be free, without locking. */
export async function freeLeases(reader: Reader, names: readonly string[], ttlMs: number): Promise<readonly string[]> {
  const now = await reader.time();
  const rows = await reader.all('SELECT name, until_at FROM lease WHERE until_at <> ?', [RELEASED]);
  const running = new Set(
    rows.filter((row) => isRunning(Number(row['until_at']), now, ttlMs)).map((row) => String(row['name'])),
  );
  return names.filter((name) => !running.has(name));
}

/** A time further ahead than a lease can last was written before the database's clock was set back. */
function isRunning(until: number, now: EpochMs, ttlMs: number): boolean {
  return until > now && until <= now + 2 * ttlMs;
}

/**
 * Renews the leases of one holder, in few statements. A returned lease isn't renewed.
 *
 * @returns the fences of those that it still holds, by name
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

/** Whether no other process has taken it. Inside a transaction, this stays true until its end. */
export async function isHeld(reader: Reader, { name, holder, fence }: Lease): Promise<boolean> {
  const [row] = await reader.all('SELECT holder, fence, until_at FROM lease WHERE name = ?', [name]);
  return row?.['holder'] === holder && Number(row['fence']) === fence && Number(row['until_at']) !== RELEASED;
}

/**
 * Runs `task` in a transaction in which no other process can take the lease.
 * @returns false if another process has taken it; then nothing was done
 */
export function underLease(database: Database, lease: Lease, task: (tx: Writer) => Promise<void>): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await isHeld(tx, lease))) return false;
    await task(tx);
    return true;
  });
}

/** Returns a lease, unless another process has taken it. */
export async function releaseLease(database: Database, { name, holder, fence }: Lease): Promise<void> {
  const sql = 'UPDATE lease SET until_at = ? WHERE name = ? AND holder = ? AND fence = ?';
  await database.transaction((tx) => tx.run(sql, [RELEASED, name, holder, fence]), QUICKLY);
}
