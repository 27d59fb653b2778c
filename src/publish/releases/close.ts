/** Takes what is public and must not be any more out of reach, before anything else is done: links only, nothing is drawn. */

import type { Disk } from './disk.ts';
import { publishedSlugs, type ReleaseFolders, SITE_SLUG, servedRelease } from './folders.ts';
import { readData } from './manifest.ts';
import { closeFolder } from './modes.ts';
import { hideFromPublic } from './switch.ts';

/** What the site's own release keeps beside its files. */
export interface SiteReleaseData {
  /** Slugs of the pages that its files tell of: its index, sitemap and llms.txt. */
  readonly listed: readonly string[];
}

/**
 * Removes the public link of every page that is not open, and that of the site's own files where they tell of one: they
 * are published again without it. Costs a look at each link, whatever the pages hold.
 *
 * @returns slugs that were public until now, the site's own among them
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

/** What the site's own files tell of; what cannot be read is taken to tell of what is nobody's. */
function listedSlugs(folders: ReleaseFolders): readonly string[] {
  const served = servedRelease(folders, SITE_SLUG);
  if (served === null) return [];
  try {
    return (readData(folders, SITE_SLUG, served.number) as SiteReleaseData).listed;
  } catch {
    return [SITE_SLUG];
  }
}
