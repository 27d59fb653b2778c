/**
 * An operator can hold a page: it stays on its release, whatever news there is, until the hold is released. The hold is stored
 * next to the releases, so it survives a restart and is removed with the page.
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

/** Holds a page on the release being served. The caller holds the publishing lease. */
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

/**
 * Ends the hold of a page.
 * @returns whether there was one
 */
export function letGo({ disk, folders }: Place, slug: string): boolean {
  const wasHeld = heldRelease(folders, slug) !== null;
  disk.remove(fileOf(folders, slug));
  return wasHeld;
}

/**
 * Returns the release that a page is held on; null: none. A hold ends when the page becomes private or public or is removed,
 * because the release was made for other visitors.
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
