/** Removes what no release needs any more, and what a crash left half written. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import {
  currentNumber,
  NEXT_FOLDER,
  namesIn,
  poolFolder,
  publishedSlugs,
  type ReleaseFolders,
  releaseFolder,
  releaseNumbers,
} from './folders.ts';
import { type Manifest, readManifest } from './manifest.ts';

/** A page whose links would be a mixture must stay reachable for whoever loaded the last one, and for `rollback`. */
export const RELEASES_KEPT = 5;

interface Place {
  readonly disk: Disk;
  readonly folders: ReleaseFolders;
}

/**
 * Keeps the last releases of a page, the one being served among them, and the folders that they share.
 *
 * @param manifestOf gives manifests that are known already; others are read
 */
export function prune(
  { disk, folders }: Place,
  slug: string,
  manifestOf: (number: number) => Manifest | null = (number) => readManifest(folders, slug, number),
): void {
  const pool = poolFolder(folders, slug);
  // Looked at first: a writer that begins meanwhile claims its number before it makes folders.
  const pooled = namesIn(pool);
  const current = currentNumber(folders, slug);
  const numbers = releaseNumbers(folders, slug);
  const manifests = new Map(numbers.map((number) => [number, manifestOf(number)]));
  const old = new Set(outdated(manifests, current));
  for (const number of old) disk.remove(releaseFolder(folders, slug, number));
  const kept = [...manifests].filter(([number]) => !old.has(number)).map(([, manifest]) => manifest);
  // Of a kept release that cannot be read nobody knows which folders it links to.
  if (kept.includes(null)) return;
  const needed = new Set(kept.flatMap((manifest) => Object.values(manifest?.folders ?? {})));
  for (const id of pooled) if (!needed.has(id)) disk.remove(join(pool, id));
}

/**
 * Those beyond the number that is kept. A release that a later one only completed, with the figures and pictures that the
 * news had left, is nothing to go back to; but the one before the one being served stays, for whoever is just reading it.
 */
function outdated(manifests: ReadonlyMap<number, Manifest | null>, current: number | null): number[] {
  const numbers = [...manifests.keys()];
  const completedBy = new Map([...manifests].map(([number, manifest]) => [manifest?.completes ?? null, number]));
  const completed = numbers.filter(
    (number) => number !== current && completedBy.has(number) && completedBy.get(number) !== current,
  );
  const others = numbers.filter((number) => number !== current && !completed.includes(number));
  return [...completed, ...others.slice(0, Math.max(0, others.length - (RELEASES_KEPT - 1)))];
}

/** Removes a release that was never switched to; folders that only it links to go at the next `prune`. */
export function discardRelease({ disk, folders }: Place, { slug, number }: Pick<Manifest, 'slug' | 'number'>): void {
  disk.remove(releaseFolder(folders, slug, number));
}

/**
 * Removes what a crash left half written: releases without a manifest, everything of a page that was never switched to,
 * links never renamed. To be called by whoever alone publishes.
 */
export function removeOrphans({ disk, folders }: Place): void {
  for (const site of [folders.publicSite, folders.privateSite])
    for (const name of namesIn(site)) if (name.startsWith('.') && name.endsWith('.next')) disk.remove(join(site, name));
  for (const slug of publishedSlugs(folders)) {
    const current = currentNumber(folders, slug);
    if (current === null) disk.remove(join(folders.releases, slug));
    else {
      disk.remove(join(releaseFolder(folders, slug, current), NEXT_FOLDER));
      for (const number of releaseNumbers(folders, slug))
        if (number !== current && !hasManifest(folders, slug, number))
          disk.remove(releaseFolder(folders, slug, number));
    }
  }
}

function hasManifest(folders: ReleaseFolders, slug: string, number: number): boolean {
  const manifest = statSync(join(releaseFolder(folders, slug, number), 'manifest.json'), { throwIfNoEntry: false });
  return manifest !== undefined && manifest.size > 0;
}
