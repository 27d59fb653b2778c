/**
 * A page that is held stays on the release that it is served from, whatever news there is, until an operator lets it go.
 * Kept beside its releases, so that it goes with the page and outlives a restart.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { currentNumber, type ReleaseFolders } from './folders.ts';

interface Place {
  readonly disk: Disk;
  readonly folders: ReleaseFolders;
}

const fileOf = (folders: ReleaseFolders, slug: string): string => join(folders.releases, slug, 'held');

/** Holds a page on a release that it is being served from. Under the publishing lease. */
export async function hold({ disk, folders }: Place, slug: string, number: number): Promise<void> {
  const file = fileOf(folders, slug);
  const batch = disk.batch();
  disk.remove(file);
  try {
    batch.write(file, Buffer.from(String(number)));
    await batch.flush();
  } finally {
    batch.close();
  }
}

/** Ends the hold of a page; whether there was one. */
export function letGo({ disk, folders }: Place, slug: string): boolean {
  const wasHeld = heldRelease(folders, slug) !== null;
  disk.remove(fileOf(folders, slug));
  return wasHeld;
}

/**
 * The release that a page is held on; null: it is not held. A hold ends with its release: when the page went behind a
 * gate, came out from behind one or was taken down meanwhile, that release is not what may be shown.
 */
export function heldRelease(folders: ReleaseFolders, slug: string): number | null {
  try {
    const number = Number(readFileSync(fileOf(folders, slug), 'utf8'));
    return number === currentNumber(folders, slug) ? number : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
