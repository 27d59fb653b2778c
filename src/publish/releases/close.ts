/**
 * Removes public links to pages that are no longer public, before anything else happens. Changes links only and renders
 * nothing.
 */

import type { Disk } from './disk.ts';
import { publishedSlugs, type ReleaseFolders, SITE_SLUG, servedRelease } from './folders.ts';
import { closeFolder } from './modes.ts';
import { readReleaseData } from './release-data.ts';
import { hideFromPublic } from './switch.ts';

/**
 * Removes the public link of every page that isn't public, and of the site's own files if they mention one; these are then
 * published again without it. Checks each link once, whatever the size of the pages.
 *
 * @returns slugs that were public until now, possibly including the site's own
 */
export async function closePages(
  place: { readonly disk: Disk; readonly folders: ReleaseFolders },
  isOpen: (slug: string) => boolean,
): Promise<readonly string[]> {
  const { folders } = place;
  const closing = publishedSlugs(folders).filter((slug) => {
    const served = servedRelease(folders, slug);
    if (served?.isPublic !== true) return false;
    return slug === SITE_SLUG ? !listedPages(folders, served.number).every(isOpen) : !isOpen(slug);
  });
  for (const slug of closing) {
    await hideFromPublic(place, slug);
    if (slug !== SITE_SLUG) closeFolder(place, slug);
  }
  return closing;
}

/**
 * Returns the pages that a release of the site's own files mentions. If it doesn't say, as in versions before 2026-11-22, it is
 * treated as if it mentioned a page that isn't public.
 */
export function listedPages(folders: ReleaseFolders, number: number): readonly string[] {
  return readReleaseData(folders, SITE_SLUG, number)?.listed ?? [SITE_SLUG];
}
