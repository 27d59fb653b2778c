/**
 * File permissions. Private files, and the data that the server renders from, are readable by the owner only, whatever the
 * umask. Web servers can read public files as far as the umask allows.
 */

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import {
  filesFolder,
  type Place,
  poolFolder,
  publishedSlugs,
  type ReleaseFolders,
  releaseFolder,
  servedRelease,
} from './folders.ts';
import { filePlaces, type Manifest, VARIANT_SUFFIXES } from './manifest.ts';

const PRIVATE = { folder: 0o700, file: 0o600 };
const PUBLIC = { folder: 0o755, file: 0o644 };
/** Permissions of folders and files. */
export type Modes = Readonly<typeof PRIVATE>;
/** Others can enter this folder but not list it, because it would reveal the names of private pages. */
const UNLISTED = 0o711;
const OF_OTHERS = 0o077;

/** Modes for new files and folders; existing ones are changed to them. */
export function chooseModes(isPublic: boolean): Modes {
  if (!isPublic) return PRIVATE;
  const mask = process.umask();
  return { folder: PUBLIC.folder & ~mask, file: PUBLIC.file & ~mask };
}

/** Creates the folders that contain a page's releases; existing ones get the modes too. */
export function makePageFolders({ disk, folders }: Place, slug: string, modes: Modes): void {
  disk.makeFolder(folders.releases, UNLISTED);
  for (const folder of [join(folders.releases, slug), poolFolder(folders, slug)]) {
    disk.makeFolder(folder, modes.folder);
    disk.setMode(folder, modes.folder);
  }
}

/** Closes the outermost folder of a page to others. The modes inside follow with its next release. */
export function closeFolder({ disk, folders }: Place, slug: string): void {
  disk.setMode(join(folders.releases, slug), PRIVATE.folder);
}

/** Sets the modes of everything that a release shares with earlier ones. Needed when a page becomes private or public. */
export function setModes({ disk, folders }: Place, manifest: Manifest): void {
  const { slug, number, access } = manifest;
  if (access !== 'public') {
    closeTree(disk, join(folders.releases, slug));
    return;
  }
  const modes = chooseModes(true);
  const pool = poolFolder(folders, slug);
  const own = [join(folders.releases, slug), releaseFolder(folders, slug, number), filesFolder(folders, slug, number)];
  for (const folder of [...own, pool, ...Object.values(manifest.folders).map((id) => join(pool, id))])
    disk.setMode(folder, modes.folder);
  const placeOf = filePlaces(folders, manifest);
  for (const [path, { variants }] of Object.entries(manifest.files))
    for (const suffix of ['', ...(variants ?? []).map((encoding) => VARIANT_SUFFIXES[encoding])])
      disk.setMode(placeOf(path) + suffix, modes.file);
}

/** Tightens permissions that an earlier version, another umask or a restored copy left open. */
export function closeGated({ disk, folders }: Place): void {
  if (isOpen(folders.releases)) disk.setMode(folders.releases, UNLISTED);
  if (isOpen(folders.privateSite)) disk.setMode(folders.privateSite, PRIVATE.folder);
  for (const folder of openGated(folders)) closeTree(disk, folder);
}

/** Returns folders of private pages that other users of this machine can enter. */
export function openGated(folders: ReleaseFolders): string[] {
  return publishedSlugs(folders)
    .filter((slug) => servedRelease(folders, slug)?.isPublic === false)
    .map((slug) => join(folders.releases, slug))
    .filter(isOpen);
}

/** The outermost folder comes first, because it closes everything in it. */
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
