/**
 * Removes public links to pages that are no longer public, before anything else happens. Changes links only and renders
 * nothing.
 */

import type { PageConfig } from '../../config/schema.ts';
import { statedAccess } from '../../model/access.ts';
import type { AccessType } from '../../model/observation.ts';
import type { Disk } from './disk.ts';
import { publishedSlugs, type ReleaseFolders, SITE_SLUG, servedRelease } from './folders.ts';
import { type createReleasePages, type PageAtSlug, readManifest } from './manifest.ts';
import { closeFolder } from './modes.ts';
import { readReleaseData } from './release-data.ts';
import { hideFromPublic, unlinkPage } from './switch.ts';

/** What the definitions say of pages on disk. */
export interface Standing {
  readonly isOpen: (page: PageAtSlug) => boolean;
  /** Whether another page has the slug now. */
  readonly isReplaced: (page: PageAtSlug) => boolean;
}

/**
 * Removes the public link of every page that isn't public, and of the site's own files if they mention one; these are then
 * published again without it. A page whose slug another page has by now loses its link on either side. Checks each link once,
 * whatever the size of the pages.
 *
 * @returns slugs that were served until now, possibly including the site's own
 */
export async function closePages(
  place: { readonly disk: Disk; readonly folders: ReleaseFolders },
  { isOpen, isReplaced }: Standing,
  pageOf: ReturnType<typeof createReleasePages>,
): Promise<readonly string[]> {
  const { folders } = place;
  const closing = publishedSlugs(folders).flatMap((slug) => {
    const served = servedRelease(folders, slug);
    if (served === null) return [];
    if (slug === SITE_SLUG) return listedPages(folders, served.number).every(isOpen) ? [] : [{ slug, isGone: false }];
    const page = { slug, page: pageOf(slug, served.number) };
    const isGone = isReplaced(page);
    return isGone || (served.isPublic && !isOpen(page)) ? [{ slug, isGone }] : [];
  });
  for (const { slug, isGone } of closing) {
    await (isGone ? unlinkPage : hideFromPublic)(place, slug);
    if (slug !== SITE_SLUG) closeFolder(place, slug);
  }
  return closing.map(({ slug }) => slug);
}

/**
 * Returns the pages that a release of the site's own files mentions. If it doesn't say, as in versions before 2026-11-22, it is
 * treated as if it mentioned a page that isn't public.
 */
export function listedPages(folders: ReleaseFolders, number: number): readonly PageAtSlug[] {
  return readReleaseData(folders, SITE_SLUG, number)?.listed ?? [{ slug: SITE_SLUG, page: null }];
}

/** Finds pages on disk that can be served while the database can't be read. */
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
