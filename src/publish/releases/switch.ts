/** Switches the served release of a page by renaming one link, and holds a page on a release. */

import { randomUUID } from 'node:crypto';
import { chmodSync, linkSync, lstatSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { StatusError } from '../../errors.ts';
import { type EpochMs, SECOND_MS } from '../../model/time.ts';
import type { Database } from '../../store/database.ts';
import { makeFolder } from '../../store/make-folder.ts';
import { createLeases, type Lease, type Leases, underLease } from '../../store/nodes/leases.ts';
import type { Disk } from './disk.ts';
import { currentNumber, filesFolder, type Place, type ReleaseFolders } from './folders.ts';
import type { Manifest } from './manifest.ts';
import { chooseModes } from './modes.ts';

/**
 * Serves a release. When a page becomes private, the public link is removed first, so that nothing stays reachable. When it
 * becomes public, the private link is removed last.
 */
export async function switchTo(
  { disk, folders }: Place,
  { slug, number, isPublic }: Pick<Manifest, 'slug' | 'number'> & { readonly isPublic: boolean },
): Promise<void> {
  const [site, otherSite] = isPublic
    ? [folders.publicSite, folders.privateSite]
    : [folders.privateSite, folders.publicSite];
  disk.makeFolder(dirname(site), chooseModes(true).folder);
  disk.makeFolder(site, chooseModes(isPublic).folder);
  if (!isPublic) await removeLink(disk, otherSite, slug);
  const next = join(site, `.${slug}.next`);
  disk.remove(next);
  disk.symlink(relative(site, filesFolder(folders, slug, number)), next);
  disk.rename(next, join(site, slug));
  await disk.syncFolder(site);
  if (isPublic) await removeLink(disk, otherSite, slug);
}

/** Removes the public link of a page. Its files stay on disk, unreachable. */
export async function hideFromPublic({ disk, folders }: Place, slug: string): Promise<void> {
  await removeLink(disk, folders.publicSite, slug);
}

/** Removes both links of a page. Its files stay on disk, unreachable. */
export async function unlinkPage({ disk, folders }: Place, slug: string): Promise<void> {
  for (const site of [folders.publicSite, folders.privateSite]) await removeLink(disk, site, slug);
}

/** Removes a page and its releases. */
export async function withdraw(place: Place, slug: string): Promise<void> {
  await unlinkPage(place, slug);
  place.disk.remove(join(place.folders.releases, slug));
}

async function removeLink(disk: Disk, site: string, slug: string): Promise<void> {
  const link = join(site, slug);
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  disk.unlink(link);
  await disk.syncFolder(site);
}

/**
 * Lets only one process publish into a data folder. It holds a lease, and switches releases inside a transaction that checks
 * the lease. A publisher that was paused and wakes up late therefore changes nothing.
 */
const WAIT_MAX_MS = 20 * SECOND_MS;
const WAIT_STEP_MS = 50;
const OWN_MODE = 0o600;

export interface PublishLeaseDeps {
  readonly database: Database;
  readonly folders: ReleaseFolders;
  readonly now: () => EpochMs;
  readonly sleep: (ms: number) => Promise<void>;
  /** The leases of this process; default: new ones for each task. */
  readonly leases?: Leases;
}

/** The right to switch releases. */
export interface Fence {
  /**
   * Runs `task` if this process still holds the lease.
   * @throws PUBLISH_FAILED when another publisher has taken over
   */
  readonly pass: (task: () => Promise<void>) => Promise<void>;
}

/**
 * Runs `task` while holding the lease of the data folder. Waits for another process to finish first.
 *
 * @throws PUBLISH_FAILED when the other one does not finish
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
  const name = `publish/${FOLDER_IDS.getOrInsertComputed(folders.releases, () => folderId(folders))}`;
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

/** Read once, by place, so that nothing later waits for a disk that hangs. */
const FOLDER_IDS = new Map<string, string>();

/** Id of this data folder. Nodes that share a database have different folders, and each needs a lease of its own. */
function folderId(folders: ReleaseFolders): string {
  const file = join(dirname(folders.releases), 'folder-id');
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) {
    const id = randomUUID();
    const draft = `${file}.${id}`;
    makeFolder(dirname(file), 0o711);
    writeFileSync(draft, id, { mode: OWN_MODE });
    try {
      linkSync(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      unlinkSync(draft);
    }
  }
  // Earlier versions left it to the umask, and who can change the id can publish beside another process.
  else if ((mode & 0o777) !== OWN_MODE) chmodSync(file, OWN_MODE);
  return readFileSync(file, 'utf8');
}

/**
 * An operator can hold a page: it stays on its release, whatever news there is, until the hold is released. The hold is stored
 * next to the releases, so it survives a restart and is removed with the page.
 */
const heldFile = (folders: ReleaseFolders, slug: string): string => join(folders.releases, slug, 'held');

/** Holds a page on the release being served. The caller holds the publishing lease. */
export async function hold({ disk, folders }: Place, slug: string, number: number): Promise<void> {
  const file = heldFile(folders, slug);
  const batch = disk.batch();
  disk.remove(file);
  try {
    batch.write(file, Buffer.from(String(number)));
    await batch.flush();
  } finally {
    batch.close();
  }
}

/**
 * Ends the hold of a page.
 * @returns whether there was one
 */
export function letGo({ disk, folders }: Place, slug: string): boolean {
  const wasHeld = heldRelease(folders, slug) !== null;
  disk.remove(heldFile(folders, slug));
  return wasHeld;
}

/**
 * Returns the release that a page is held on; null: none. A hold ends when the page is removed or gets another kind of access
 * rule, because the release was made for other visitors.
 */
export function heldRelease(folders: ReleaseFolders, slug: string): number | null {
  try {
    const number = Number(readFileSync(heldFile(folders, slug), 'utf8'));
    return number === currentNumber(folders, slug) ? number : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
