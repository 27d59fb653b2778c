/**
 * Leases: of all processes that share a database, only one does a task at a time. The holder is a random id and the database's
 * clock decides when a lease ends, so machines' clocks and names don't matter. An expired lease still belongs to its holder
 * until another process takes it, which the fence shows. A process renews its leases as long as it lives and reaches the
 * database.
 */

import { randomUUID } from 'node:crypto';
import { StatusError } from '../../errors.ts';
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

/** Instead of an end time: returned, and free. */
const RELEASED = 0;

/**
 * Not durable: processes that share a file lose power together, and a lease lost in a server's crash only ends a little sooner.
 */
const QUICKLY = { isDurable: false } as const;

/**
 * Takes a lease that is free or expired; null: another process or task holds it.
 *
 * @param under another lease that must still be held
 */
function takeLease(database: Database, { name, holder }: Pick<Lease, 'name' | 'holder'>, ttlMs: number, under?: Lease) {
  return database.transaction(async (tx) => {
    if (under !== undefined && !(await isHeld(tx, under))) return null;
    const now = await tx.time();
    const [row] = await tx.all('SELECT until_at, fence FROM lease WHERE name = ?', [name]);
    if (row !== undefined && isRunning(Number(row['until_at']), now, ttlMs)) return null;
    const fence = Number(row?.['fence'] ?? 0) + 1;
    await tx.run(
      `INSERT INTO lease (name, holder, until_at, fence) VALUES (?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at, fence = excluded.fence`,
      [name, holder, now + ttlMs, fence],
    );
    return { name, holder, fence };
  }, QUICKLY);
}

/** Returns the leases that seem to be free, without locking. */
async function freeLeases(reader: Reader, names: readonly string[], ttlMs: number): Promise<readonly string[]> {
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
function renewLeases(database: Database, holder: string, names: readonly string[], ttlMs: number) {
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
async function releaseLease(database: Database, { name, holder, fence }: Lease): Promise<void> {
  const sql = 'UPDATE lease SET until_at = ? WHERE name = ? AND holder = ? AND fence = ?';
  await database.transaction((tx) => tx.run(sql, [RELEASED, name, holder, fence]), QUICKLY);
}

export type Leases = ReturnType<typeof createLeases>;

/** Processes that share a file are on one machine, where a killed process is noticed quickly. */
export const FILE_LEASE_MS = 3_000;
/** Longer than a slow server takes to answer, and longer than a busy process hangs. */
export const SERVER_LEASE_MS = 10_000;

const RENEWALS_PER_LEASE = 4;

/** @param elapsed  a clock that nobody sets; it stands for how long this process was paused */
export function createLeases(database: Database, ttlMs: number = FILE_LEASE_MS, elapsed = () => performance.now()) {
  const holder = randomUUID();
  /** By name. */
  const held = new Map<string, { readonly lease: Lease; confirmedAt: number }>();
  let timer: NodeJS.Timeout | null = null;

  const find = ({ name, fence }: Lease) => {
    const found = held.get(name);
    return found?.lease.fence === fence ? found : null;
  };

  async function renew(): Promise<void> {
    const at = elapsed();
    const before = [...held.values()];
    const names = before.map(({ lease }) => lease.name);
    const fences = await renewLeases(database, holder, names, ttlMs);
    for (const one of before) {
      const { name, fence } = one.lease;
      if (fences.get(name) === fence) one.confirmedAt = at;
      else if (find(one.lease) !== null) held.delete(name);
    }
  }

  function keepRenewing(): void {
    if (timer !== null) return;
    timer = setInterval(() => {
      if (held.size === 0) stop();
      // Errors surface when someone relies on a lease.
      else renew().catch(() => undefined);
    }, ttlMs / RENEWALS_PER_LEASE);
    timer.unref();
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  /** Null: another process or task holds it, or `under` is no longer held. */
  async function take(name: string, under?: Lease): Promise<Lease | null> {
    const at = elapsed();
    const lease = await takeLease(database, { name, holder }, ttlMs, under);
    if (lease === null) return null;
    held.set(name, { lease, confirmedAt: at });
    keepRenewing();
    return lease;
  }

  return {
    /** A random id, new with each process. */
    holder,
    ttlMs,
    take,
    /** Takes those that are free. */
    takeFree: async (names: readonly string[]): Promise<readonly Lease[]> => {
      const taken: Lease[] = [];
      for (const name of await freeLeases(database, names, ttlMs)) {
        const lease = await take(name);
        if (lease !== null) taken.push(lease);
      }
      return taken;
    },
    release: async (lease: Lease) => {
      if (find(lease) !== null) held.delete(lease.name);
      await releaseLease(database, lease);
    },
    /**
     * Whether it is still held. Trusts a recent renewal; after a pause of this process, asks the database. Throws if that
     * can't be reached.
     */
    confirm: async (lease: Lease) => {
      const known = find(lease);
      if (known !== null && elapsed() - known.confirmedAt < ttlMs / 2) return true;
      await renew();
      return find(lease) !== null;
    },
    /** Whether it was held when it was last renewed. */
    seemsHeld: (lease: Lease) => find(lease) !== null,
    /** Returns all leases. */
    close: async () => {
      stop();
      const leases = [...held.values()];
      held.clear();
      for (const { lease } of leases) await releaseLease(database, lease);
    },
  };
}

/** The error for a process that lost its lease in the meantime. Nothing that it did was stored. */
export function superseded({ name }: Lease): StatusError {
  return new StatusError({
    code: 'STORE_UNAVAILABLE',
    message: `Another process has taken over ${name}. The changes of this one were discarded.`,
    context: { superseded: true },
  });
}
