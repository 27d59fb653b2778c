/**
 * One publisher at a time for one data folder. Whoever publishes holds a lease; a switch is made inside a transaction
 * that sees that it is still held, so that a publisher which was paused and wakes up late changes nothing.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StatusError } from '../../errors.ts';
import { type EpochMs, SECOND_MS } from '../../model/time.ts';
import type { Database } from '../../store/database.ts';
import { type Lease, underLease } from '../../store/nodes/lease.ts';
import { createLeases, type Leases } from '../../store/nodes/leases.ts';
import type { ReleaseFolders } from './folders.ts';

const WAIT_MAX_MS = 20 * SECOND_MS;
const WAIT_STEP_MS = 50;

export interface PublishLeaseDeps {
  readonly database: Database;
  readonly folders: ReleaseFolders;
  readonly now: () => EpochMs;
  readonly sleep: (ms: number) => Promise<void>;
  /** Of this process; default: its own for each task. */
  readonly leases?: Leases;
}

/** The right to switch releases. */
export interface Fence {
  /** Does `task` if the lease is still ours. @throws PUBLISH_FAILED when another publisher has taken over */
  readonly pass: (task: () => Promise<void>) => Promise<void>;
}

/**
 * Runs `task` while this process alone publishes into the data folder; waits for another to end first.
 *
 * @throws PUBLISH_FAILED when the other one does not end
 */
export async function withPublishLease<Result>(
  deps: PublishLeaseDeps,
  task: (fence: Fence) => Promise<Result>,
): Promise<Result> {
  const { database, leases = createLeases(database) } = deps;
  const lease = await waitForLease(deps, leases);
  const fence: Fence = {
    pass: async (switching) => {
      if (!(await underLease(database, lease, switching)))
        throw new StatusError({
          code: 'PUBLISH_FAILED',
          message: 'Another process has taken over publishing. Discarding this release.',
        });
    },
  };
  try {
    return await task(fence);
  } finally {
    await leases.release(lease);
  }
}

async function waitForLease({ folders, now, sleep }: PublishLeaseDeps, leases: Leases): Promise<Lease> {
  const name = `publish/${folderId(folders)}`;
  const deadline = now() + WAIT_MAX_MS;
  for (;;) {
    const lease = await leases.take(name);
    if (lease !== null) return lease;
    if (now() >= deadline)
      throw new StatusError({
        code: 'PUBLISH_FAILED',
        message: 'Another process is publishing to this data folder and didn’t finish in time. Try again later.',
      });
    await sleep(WAIT_STEP_MS);
  }
}

/** What tells this data folder from others that share the database: one node's is not another's. */
function folderId(folders: ReleaseFolders): string {
  const file = join(dirname(folders.releases), 'folder-id');
  if (!existsSync(file)) {
    const id = randomUUID();
    const draft = `${file}.${id}`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, id);
    try {
      linkSync(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      unlinkSync(draft);
    }
  }
  return readFileSync(file, 'utf8');
}
