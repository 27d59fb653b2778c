/** Renews the leases of one process as long as it lives and reaches the database. */

import { randomUUID } from 'node:crypto';
import { StatusError } from '../../errors.ts';
import type { Database } from '../database.ts';
import { freeLeases, type Lease, releaseLease, renewLeases, takeLease } from './lease.ts';

export interface Leases {
  /** A random id, new with each process. */
  readonly holder: string;
  readonly ttlMs: number;
  /** Null: another process or task holds it, or `under` is no longer held. */
  readonly take: (name: string, under?: Lease) => Promise<Lease | null>;
  /** Takes those that are free. */
  readonly takeFree: (names: readonly string[]) => Promise<readonly Lease[]>;
  readonly release: (lease: Lease) => Promise<void>;
  /**
   * Whether it is still held. Trusts a recent renewal; after a pause of this process, asks the database. Throws if that can't
   * be reached.
   */
  readonly confirm: (lease: Lease) => Promise<boolean>;
  /** Whether it was held when it was last renewed. */
  readonly seemsHeld: (lease: Lease) => boolean;
  /** Returns all leases. */
  readonly close: () => Promise<void>;
}

/** Processes that share a file are on one machine, where a killed process is noticed quickly. */
export const FILE_LEASE_MS = 3_000;
/** Longer than a slow server takes to answer, and longer than a busy process hangs. */
export const SERVER_LEASE_MS = 10_000;

const RENEWALS_PER_LEASE = 4;

/** @param elapsed  a clock that nobody sets; it stands for how long this process was paused */
export function createLeases(
  database: Database,
  ttlMs: number = FILE_LEASE_MS,
  elapsed: () => number = () => performance.now(),
): Leases {
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
    const fences = await renewLeases(database, { holder, names, ttlMs });
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

  async function take(name: string, under?: Lease): Promise<Lease | null> {
    const at = elapsed();
    const lease = await takeLease(database, { name, holder, ttlMs, under });
    if (lease === null) return null;
    held.set(name, { lease, confirmedAt: at });
    keepRenewing();
    return lease;
  }

  return {
    holder,
    ttlMs,
    take,
    takeFree: async (names) => {
      const taken: Lease[] = [];
      for (const name of await freeLeases(database, names, ttlMs)) {
        const lease = await take(name);
        if (lease !== null) taken.push(lease);
      }
      return taken;
    },
    release: async (lease) => {
      if (find(lease) !== null) held.delete(lease.name);
      await releaseLease(database, lease);
    },
    confirm: async (lease) => {
      const known = find(lease);
      if (known !== null && elapsed() - known.confirmedAt < ttlMs / 2) return true;
      await renew();
      return find(lease) !== null;
    },
    seemsHeld: (lease) => find(lease) !== null,
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
