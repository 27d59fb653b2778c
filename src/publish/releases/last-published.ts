/** Finds pages on disk that can be served while the database can't be read. */

import type { PageConfig } from '../../config/schema.ts';
import { statedAccess } from '../../model/access.ts';
import type { AccessType } from '../../model/observation.ts';
import { publishedSlugs, type ReleaseFolders, servedRelease } from './folders.ts';
import { readManifest } from './manifest.ts';

export interface LastPublished {
  readonly slug: string;
  readonly customDomain: string | null;
}

/** Returns the pages that were public when last published, unless the configuration makes them private or unpublished. */
export function lastPublicPages(folders: ReleaseFolders, pages: readonly PageConfig[]): readonly LastPublished[] {
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
export function isOpenAsConfigured(page: PageConfig): boolean {
  return (configuredAccess(page) ?? 'public') === 'public' && page.published !== false;
}

/** What the configuration alone states of who may see a page; null: nothing. */
export function configuredAccess(page: PageConfig): AccessType | null {
  return statedAccess({
    type: page.access_type ?? null,
    hasPassword: page.password !== undefined,
    hasEmailDomains: page.auth_email_domains !== undefined,
    hasOidc: page.oidc !== undefined,
    hasAddresses: page.allow_ips !== undefined,
  });
}
