/** What is on disk to be served while nobody can be asked what pages there are. */

import type { Config } from '../../config/load.ts';
import { publishedSlugs, type ReleaseFolders, servedRelease } from './folders.ts';
import { readManifest } from './manifest.ts';

/**
 * Slugs of the pages that were public when they were last published, and that the configuration does not put behind a
 * gate or take back.
 */
export function lastPublicPages(folders: ReleaseFolders, pages: Config['pages']): readonly string[] {
  return publishedSlugs(folders).filter((slug) => {
    const served = servedRelease(folders, slug);
    if (served === null || !served.isPublic) return false;
    if (readManifest(folders, slug, served.number)?.access !== 'public') return false;
    const configured = pages.find((page) => page.slug === slug);
    return configured === undefined || (isPublic(configured) && configured.published !== false);
  });
}

function isPublic({ access_type: access }: Config['pages'][number]): boolean {
  return access === undefined || access === 'public';
}
