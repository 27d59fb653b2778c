/** Finds pages on disk that can be served while the database can't be read. */

import type { Config } from '../../config/load.ts';
import { statedAccess } from '../../model/access.ts';
import { publishedSlugs, type ReleaseFolders, servedRelease } from './folders.ts';
import { readManifest } from './manifest.ts';

export interface LastPublished {
  readonly slug: string;
  readonly customDomain: string | null;
}

/** Returns the pages that were public when last published, unless the configuration makes them private or unpublished. */
export function lastPublicPages(folders: ReleaseFolders, pages: Config['pages']): readonly LastPublished[] {
  return publishedSlugs(folders).flatMap((slug) => {
    const served = servedRelease(folders, slug);
    const manifest = served?.isPublic === true ? readManifest(folders, slug, served.number) : null;
    if (manifest?.access !== 'public') return [];
    const configured = pages.find((page) => page.slug === slug);
    return configured === undefined || isOpenAsConfigured(configured)
      ? [{ slug, customDomain: manifest.customDomain }]
      : [];
  });
}

/** Whether the configuration alone, without any upstream, leaves a page public. */
export function isOpenAsConfigured({
  access_type: type,
  password,
  auth_email_domains: domains,
  published,
}: Config['pages'][number]): boolean {
  const stated = statedAccess({
    type: type ?? null,
    hasPassword: password !== undefined,
    hasEmailDomains: domains !== undefined,
  });
  return (stated ?? 'public') === 'public' && published !== false;
}
