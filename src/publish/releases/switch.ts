/** Switches the served release of a page by renaming one link. */

import { lstatSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Disk } from './disk.ts';
import { filesFolder, type ReleaseFolders } from './folders.ts';
import { chooseModes } from './modes.ts';

/** What a link should point to. */
interface Switch {
  readonly slug: string;
  readonly number: number;
  readonly isPublic: boolean;
}

/**
 * Serves a release. When a page becomes private, the public link is removed first, so that nothing stays reachable. When it
 * becomes public, the private link is removed last.
 */
export async function switchTo(
  { disk, folders }: { readonly disk: Disk; readonly folders: ReleaseFolders },
  { slug, number, isPublic }: Switch,
): Promise<void> {
  const [site, otherSite] = isPublic
    ? [folders.publicSite, folders.privateSite]
    : [folders.privateSite, folders.publicSite];
  disk.makeFolder(dirname(site), chooseModes(true).folder);
  disk.makeFolder(site, chooseModes(isPublic).folder);
  if (!isPublic) await removeLink(disk, otherSite, slug);
  const next = join(site, nextLinkName(slug));
  disk.remove(next);
  disk.symlink(relative(site, filesFolder(folders, slug, number)), next);
  disk.rename(next, join(site, slug));
  await disk.syncFolder(site);
  if (isPublic) await removeLink(disk, otherSite, slug);
}

/** Removes the public link of a page. Its files stay on disk, unreachable. */
export async function hideFromPublic(
  { disk, folders }: { readonly disk: Disk; readonly folders: ReleaseFolders },
  slug: string,
): Promise<void> {
  await removeLink(disk, folders.publicSite, slug);
}

/** Removes both links of a page. Its files stay on disk, unreachable. */
export async function unlinkPage(
  { disk, folders }: { readonly disk: Disk; readonly folders: ReleaseFolders },
  slug: string,
): Promise<void> {
  for (const site of [folders.publicSite, folders.privateSite]) await removeLink(disk, site, slug);
}

/** Removes a page and its releases. */
export async function withdraw(
  place: { readonly disk: Disk; readonly folders: ReleaseFolders },
  slug: string,
): Promise<void> {
  await unlinkPage(place, slug);
  place.disk.remove(join(place.folders.releases, slug));
}

/** Temporary name of a link until it is renamed. */
function nextLinkName(slug: string): string {
  return `.${slug}.next`;
}

async function removeLink(disk: Disk, site: string, slug: string): Promise<void> {
  const link = join(site, slug);
  if (!isLink(link)) return;
  disk.unlink(link);
  await disk.syncFolder(site);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
