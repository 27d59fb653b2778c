/**
 * Removes public links to pages that are no longer public, before anything else happens. Changes links only and renders
 * nothing.
 */

import { z } from 'zod';
import type { Disk } from './disk.ts';
import { publishedSlugs, type ReleaseFolders, SITE_SLUG, servedRelease } from './folders.ts';
import { readData } from './manifest.ts';
import { closeFolder } from './modes.ts';
import { hideFromPublic } from './switch.ts';

const SiteDataSchema = z.object({
  /** Slugs of the pages that its files mention: in the index, sitemap and llms.txt. Versions before 2026-11-22 don't say. */
  listed: z.array(z.string()).readonly(),
});
/** Contents of `data.json` in the site's own release. */
export type SiteReleaseData = z.output<typeof SiteDataSchema>;

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
  const open = publishedSlugs(folders).filter((slug) => servedRelease(folders, slug)?.isPublic === true);
  const closing = open.filter((slug) => (slug === SITE_SLUG ? !listedSlugs(folders).every(isOpen) : !isOpen(slug)));
  for (const slug of closing) {
    await hideFromPublic(place, slug);
    if (slug !== SITE_SLUG) closeFolder(place, slug);
  }
  return closing;
}

/**
 * Returns the pages that the site's own files mention. If that can't be read, they are treated as if they mentioned a page that
 * isn't public.
 */
function listedSlugs(folders: ReleaseFolders): readonly string[] {
  const served = servedRelease(folders, SITE_SLUG);
  if (served === null) return [];
  try {
    return SiteDataSchema.parse(readData(folders, SITE_SLUG, served.number)).listed;
  } catch {
    return [SITE_SLUG];
  }
}
