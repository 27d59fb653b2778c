/** Removes releases and folders that are no longer needed, and what a crash left half written. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { PageConfig } from '../../config/schema.ts';
import { statedAccess } from '../../model/access.ts';
import type { AccessType } from '../../model/observation.ts';
import {
  currentNumber,
  NEXT_FOLDER,
  namesIn,
  type Place,
  poolFolder,
  publishedSlugs,
  type ReleaseFolders,
  releaseFolder,
  releaseNumbers,
  SITE_SLUG,
  servedRelease,
} from './folders.ts';
import { type createReleasePages, outlineOf, type PageAtSlug, type ReleaseOutline, readManifest } from './manifest.ts';
import { closeFolder } from './modes.ts';
import { readReleaseData } from './release-data.ts';
import { hideFromPublic, unlinkPage } from './switch.ts';

/**
 * Visitors who loaded the previous release must still be able to follow its links, and `rollback` needs releases to go back to.
 */
export const RELEASES_KEPT = 5;

/**
 * Keeps the last releases of a page, including the one being served, and the folders that they share.
 *
 * @param outline  of a release, which may be known already; null: it can't be read. Default: it is read
 */
export function prune(
  { disk, folders }: Place,
  slug: string,
  outline: (number: number) => ReleaseOutline | null = (number) => {
    const manifest = readManifest(folders, slug, number);
    return manifest === null ? null : outlineOf(manifest);
  },
): void {
  const pool = poolFolder(folders, slug);
  // Listed first: a writer that starts in the meantime claims its number before it creates folders.
  const pooled = namesIn(pool);
  const current = currentNumber(folders, slug);
  const numbers = releaseNumbers(folders, slug);
  const outlines = new Map(numbers.map((number) => [number, outline(number)]));
  const old = new Set(outdated(outlines, current));
  for (const number of old) disk.remove(releaseFolder(folders, slug, number));
  const kept = [...outlines].filter(([number]) => !old.has(number)).map(([, release]) => release);
  // If a kept release can't be read, it is unknown which folders it links to.
  if (kept.includes(null)) return;
  const needed = new Set(kept.flatMap((release) => release?.folders ?? []));
  for (const id of pooled) if (!needed.has(id)) disk.remove(join(pool, id));
}

/**
 * Returns the releases to remove. A release that a later one only completed isn't worth going back to. The one right before the
 * served release stays, because visitors may still be reading it.
 */
function outdated(outlines: ReadonlyMap<number, ReleaseOutline | null>, current: number | null): number[] {
  const numbers = [...outlines.keys()];
  const completedBy = new Map([...outlines].map(([number, release]) => [release?.completes ?? null, number]));
  const completed = numbers.filter(
    (number) => number !== current && completedBy.has(number) && completedBy.get(number) !== current,
  );
  const others = numbers.filter((number) => number !== current && !completed.includes(number));
  return [...completed, ...others.slice(0, Math.max(0, others.length - (RELEASES_KEPT - 1)))];
}

/**
 * Removes what a crash left half written: releases without a manifest, everything of a page that was never switched to, and
 * links that were never renamed. Only the process that holds the publishing lease may call this.
 */
export function removeOrphans({ disk, folders }: Place): void {
  for (const site of [folders.publicSite, folders.privateSite])
    for (const name of namesIn(site)) if (name.startsWith('.') && name.endsWith('.next')) disk.remove(join(site, name));
  for (const slug of publishedSlugs(folders)) {
    const current = currentNumber(folders, slug);
    if (current === null) disk.remove(join(folders.releases, slug));
    else {
      disk.remove(join(releaseFolder(folders, slug, current), NEXT_FOLDER));
      for (const number of releaseNumbers(folders, slug))
        if (number !== current && !hasManifest(folders, slug, number))
          disk.remove(releaseFolder(folders, slug, number));
    }
  }
}

function hasManifest(folders: ReleaseFolders, slug: string, number: number): boolean {
  const manifest = statSync(join(releaseFolder(folders, slug, number), 'manifest.json'), { throwIfNoEntry: false });
  return manifest !== undefined && manifest.size > 0;
}

// Removes public links to pages that are no longer public, before anything else happens. Changes links only and
// renders nothing.

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
  place: Place,
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

export type LastPublished = ReturnType<typeof lastPublicPages>[number];

/**
 * Returns the pages that can be served while the database can't be read: those that were public when last published, unless the
 * configuration makes them private or unpublished.
 */
export function lastPublicPages(folders: ReleaseFolders, pages: readonly PageConfig[]) {
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
export function configuredAccess(page: Partial<PageConfig>): AccessType | null {
  return statedAccess({
    type: page.access_type ?? null,
    hasPassword: page.password !== undefined,
    hasEmailDomains: page.auth_email_domains !== undefined,
    hasOidc: page.oidc !== undefined,
    hasAddresses: page.allow_ips !== undefined,
  });
}
