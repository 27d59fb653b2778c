/** Leases: of several processes over one database, one does a thing at a time. */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { EpochMs } from '../model/time.ts';
import type { Database } from './database.ts';

export interface LeaseRequest {
  /** What is to be done by one alone: `pass/edge`. */
  readonly name: string;
  readonly now: EpochMs;
  /** How long it lasts unless it is renewed. */
  readonly ttlMs: number;
}

export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** Grows each time the lease changes hands: of two who believe they hold it, the larger does. */
  readonly fence: number;
}

const BOOT_ID = randomUUID();
/** In place of the instant until which it lasts: given back, and nobody's until it is taken again. */
const RELEASED = 0;

/**
 * Takes a lease that is free, has run out, or belongs to a process of this machine that is no more; null when somebody
 * holds it, be it another task of this process.
 */
export function takeLease(database: Database, { name, now, ttlMs }: LeaseRequest): Promise<Lease | null> {
  return database.transaction(async (tx) => {
    const [row] = await tx.all('SELECT holder, until_at, fence FROM lease WHERE name = ?', [name]);
    if (row !== undefined) {
      const until = Number(row['until_at']);
      // Clocks may differ by as much as a lease lasts; what is further ahead was written by one that ran ahead.
      const isRunning = until > now && until <= now + 2 * ttlMs;
      if (isRunning && !isGone(String(row['holder']))) return null;
    }
    const holder = [hostname(), process.pid, BOOT_ID, randomUUID()].join('/');
    const fence = row === undefined ? 1 : Number(row['fence']) + 1;
    await tx.run(
      `INSERT INTO lease (name, holder, until_at, fence) VALUES (?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at, fence = excluded.fence`,
      [name, holder, now + ttlMs, fence],
    );
    return { name, holder, fence };
  });
}

/** Makes a held lease last `ttlMs` from now; false when somebody else has it by now. */
export function renewLease(
  database: Database,
  lease: Lease,
  { now, ttlMs }: Omit<LeaseRequest, 'name'>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const touched = await tx.run('UPDATE lease SET until_at = ? WHERE name = ? AND holder = ?', [
      now + ttlMs,
      lease.name,
      lease.holder,
    ]);
    return touched === 1;
  });
}

/**
 * Does `task` while nobody else can take the lease, and makes it last `ttlMs` from now; false, with nothing done, when
 * somebody else has it by now. Nothing is written unless half of its time is over.
 */
export function underLease(
  database: Database,
  lease: Lease,
  { now, ttlMs, task }: Omit<LeaseRequest, 'name'> & { readonly task: () => Promise<void> },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [row] = await tx.all('SELECT holder, fence, until_at FROM lease WHERE name = ?', [lease.name]);
    const isOurs = row?.['holder'] === lease.holder && Number(row['fence']) === lease.fence;
    if (!isOurs || Number(row['until_at']) === RELEASED) return false;
    if (Number(row['until_at']) - now < ttlMs / 2)
      await tx.run('UPDATE lease SET until_at = ? WHERE name = ?', [now + ttlMs, lease.name]);
    await task();
    return true;
  });
}

/** Gives a lease back; one that somebody else has by now stays theirs. */
export async function releaseLease(database: Database, lease: Lease): Promise<void> {
  await database.transaction((tx) =>
    tx.run('UPDATE lease SET until_at = ? WHERE name = ? AND holder = ?', [RELEASED, lease.name, lease.holder]),
  );
}

/** Whether the holder was a process here that runs no more; false when that cannot be told. */
function isGone(holder: string): boolean {
  const [host, pid, boot] = holder.split('/');
  if (host !== hostname()) return false;
  // In a container every start may have the same number.
  if (pid === String(process.pid)) return boot !== BOOT_ID;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
