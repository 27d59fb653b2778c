/**
 * Which of several nodes does what only one is to do: ask an upstream on schedule, upload to a bucket. Each such thing is
 * a lease; who holds one keeps it for as long as it lives, and all others look whether it came free.
 */

import type { Lease } from '../../store/nodes/lease.ts';
import type { Leases } from '../../store/nodes/leases.ts';

export interface Elections {
  /** The lease of a thing as far as this node knows; null: another node has it. What is done under it is fenced by it. */
  readonly leaseOf: (name: string) => Lease | null;
  /** Whether this node does it at this moment, by what the database says in case of doubt. False when it cannot be reached. */
  readonly confirm: (name: string) => Promise<boolean>;
  /** Takes what is free, now and from now on; called again, once more. Resolves after the first look, whether or not the database can be reached. */
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface ElectionsDeps {
  readonly leases: Leases;
  /** What there is to be done by this node or another, by the configuration in force. */
  readonly names: () => readonly string[];
  /** Told what this node does from now on, but for what it took with the first look. */
  readonly onTaken: (names: readonly string[]) => void;
}

const LOOKS_PER_LEASE = 4;

export function createElections({ leases, names, onTaken }: ElectionsDeps): Elections {
  const taken = new Map<string, Lease>();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let last: Promise<void> = Promise.resolve();

  async function look(): Promise<readonly string[]> {
    const wanted = names();
    for (const [name, lease] of taken) {
      if (!leases.seemsHeld(lease)) taken.delete(name);
      else if (!wanted.includes(name)) {
        taken.delete(name);
        await leases.release(lease);
      }
    }
    const missing = wanted.filter((name) => !taken.has(name));
    const got = missing.length === 0 ? [] : await leases.takeFree(missing);
    for (const lease of got) taken.set(lease.name, lease);
    return got.map(({ name }) => name);
  }

  function next(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      last = look()
        .then((got) => {
          if (got.length > 0 && !isClosed) onTaken(got);
        })
        // Followed by the next look; what cannot be asked is told by whoever follows the store.
        .catch(() => undefined)
        .finally(next);
    }, leases.ttlMs / LOOKS_PER_LEASE);
    timer.unref();
  }

  const leaseOf = (name: string): Lease | null => {
    const lease = taken.get(name);
    return lease !== undefined && leases.seemsHeld(lease) ? lease : null;
  };

  return {
    leaseOf,
    confirm: async (name) => {
      const lease = leaseOf(name);
      return lease !== null && (await leases.confirm(lease).catch(() => false));
    },
    open: async () => {
      await look().catch(() => undefined);
      if (timer === null) next();
    },
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await last;
    },
  };
}
