/**
 * Who else on this machine may read what is published. What is behind a gate, and what the server draws from, is its
 * owner's only, whatever the umask; public files are for a web server, as far as the umask lets it.
 */

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suffixOf } from './compressions.ts';
import type { Disk } from './disk.ts';
import {
  filesFolder,
  poolFolder,
  publishedSlugs,
  type ReleaseFolders,
  releaseFolder,
  servedRelease,
} from './folders.ts';
import { filePlaces, type Manifest } from './manifest.ts';

/** Permissions of folders and files. */
export interface Modes {
  readonly folder: number;
  readonly file: number;
}

const PRIVATE: Modes = { folder: 0o700, file: 0o600 };
const PUBLIC: Modes = { folder: 0o755, file: 0o644 };
/** Names in it can be gone through and not listed: those of gated pages are nobody's business. */
const UNLISTED = 0o711;
const OF_OTHERS = 0o077;

interface Place {
  readonly disk: Disk;
  readonly folders: ReleaseFolders;
}

/** What files and folders are made with, and what they get where they are there already. */
export function modesOf(isPublic: boolean): Modes {
  if (!isPublic) return PRIVATE;
  const mask = process.umask();
  return { folder: PUBLIC.folder & ~mask, file: PUBLIC.file & ~mask };
}

/** Makes the folders of a page that its releases are in; those that are there get the modes too. */
export function makePageFolders({ disk, folders }: Place, slug: string, modes: Modes): void {
  disk.makeFolder(folders.releases, UNLISTED);
  for (const folder of [join(folders.releases, slug), poolFolder(folders, slug)]) {
    disk.makeFolder(folder, modes.folder);
    disk.setMode(folder, modes.folder);
  }
}

/** Lets nobody else into anything of a page, by its outermost folder: what is in it follows with its next release. */
export function closeFolder({ disk, folders }: Place, slug: string): void {
  disk.setMode(join(folders.releases, slug), PRIVATE.folder);
}

/** Sets what a release shares with those before it to the modes it needs. For one that changes sides. */
export function setModes({ disk, folders }: Place, manifest: Manifest): void {
  const { slug, number, access } = manifest;
  if (access !== 'public') {
    closeTree(disk, join(folders.releases, slug));
    return;
  }
  const modes = modesOf(true);
  const pool = poolFolder(folders, slug);
  const own = [join(folders.releases, slug), releaseFolder(folders, slug, number), filesFolder(folders, slug, number)];
  for (const folder of [...own, pool, ...Object.values(manifest.folders).map((id) => join(pool, id))])
    disk.setMode(folder, modes.folder);
  const placeOf = filePlaces(folders, manifest);
  for (const [path, { variants }] of Object.entries(manifest.files))
    for (const suffix of ['', ...(variants ?? []).map(suffixOf)]) disk.setMode(placeOf(path) + suffix, modes.file);
}

/** Takes away what versions before this one, another umask or a restored copy left open. */
export function closeGated(place: Place): void {
  const { disk, folders } = place;
  if (isOpen(folders.releases)) disk.setMode(folders.releases, UNLISTED);
  if (isOpen(folders.privateSite)) disk.setMode(folders.privateSite, PRIVATE.folder);
  for (const slug of publishedSlugs(folders)) {
    const folder = join(folders.releases, slug);
    if (servedRelease(folders, slug)?.isPublic === false && isOpen(folder)) closeTree(disk, folder);
  }
}

/** Folders of gated pages that other users of this machine can enter. */
export function openGated(folders: ReleaseFolders): string[] {
  return publishedSlugs(folders)
    .filter((slug) => servedRelease(folders, slug)?.isPublic === false)
    .map((slug) => join(folders.releases, slug))
    .filter(isOpen);
}

/** The outermost folder first, since it closes all that is in it. */
function closeTree(disk: Disk, folder: string): void {
  disk.setMode(folder, PRIVATE.folder);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) closeTree(disk, path);
    else if (entry.isFile()) disk.setMode(path, PRIVATE.file);
  }
}

function isOpen(path: string): boolean {
  return ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OF_OTHERS) !== 0;
}
