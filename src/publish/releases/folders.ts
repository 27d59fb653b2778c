/**
 * Where releases are.
 *
 *   releases/<slug>/<number>/files/…        the root folder of a release: what is served, pre-compressed variants beside it
 *   releases/<slug>/<number>/manifest.json  what is in it, and what each file was made from
 *   releases/<slug>/<number>/data.json      what the server draws on demand from; never served as it is
 *   releases/<slug>/folders/<id>/…          folders below the root, each made once and linked to by every release that
 *                                           has it unchanged
 *   site/public/<slug>  -> the files of the release being served; site/private/<slug> for gated pages
 */

import { readdirSync, readlinkSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Disk } from './disk.ts';

export type ReleaseFolders = Readonly<ReturnType<typeof releaseFolders>>;

/** A data folder, and how it is written to. */
export interface Place {
  readonly disk: Disk;
  readonly folders: ReleaseFolders;
}

/** The release that holds the site's own files. */
export const SITE_SLUG = '_site';

/** The folders of a data folder. */
export function releaseFolders(data: string) {
  return {
    releases: join(data, 'releases'),
    publicSite: join(data, 'site', 'public'),
    privateSite: join(data, 'site', 'private'),
    // File with the record of what the last process published.
    published: join(data, 'published.json'),
  };
}

/** Where one release is. */
export function releaseFolder(folders: ReleaseFolders, slug: string, number: number): string {
  return join(folders.releases, slug, String(number));
}

/** Where the files of a release are. */
export function filesFolder(folders: ReleaseFolders, slug: string, number: number): string {
  return join(releaseFolder(folders, slug, number), 'files');
}

/** Where the folders are that releases of a page share. */
export function poolFolder(folders: ReleaseFolders, slug: string): string {
  return join(folders.releases, slug, 'folders');
}

/** Folder within a release that holds new variants until they are moved next to its files. */
export const NEXT_FOLDER = 'next';

/** What a page's link tells: which release is served, and whether it is public. */
export type ServedRelease = Readonly<NonNullable<ReturnType<typeof servedRelease>>>;

/**
 * Reads the served release from the link itself; null: none. Both sides have a link only while a page becomes public; when it
 * becomes private, the public link is removed first.
 */
export function servedRelease(folders: ReleaseFolders, slug: string) {
  for (const { place, isPublic } of listLinks(folders, slug)) {
    try {
      const number = numberIn(readlinkSync(place));
      if (Number.isInteger(number)) return { number, isPublic };
    } catch {
      // No link: the page isn't published on this side.
    }
  }
  return null;
}

/** The same of many pages, by slug, for answers that must not wait for a disk that hangs. */
export async function readServed(folders: ReleaseFolders, slugs: readonly string[]) {
  const served = new Map<string, ServedRelease>();
  for (const slug of slugs)
    for (const { place, isPublic } of listLinks(folders, slug)) {
      const number = numberIn(await readlink(place).catch(() => ''));
      if (Number.isInteger(number)) served.getOrInsert(slug, { number, isPublic });
    }
  return served;
}

function listLinks(folders: ReleaseFolders, slug: string) {
  return [
    { place: join(folders.publicSite, slug), isPublic: true },
    { place: join(folders.privateSite, slug), isPublic: false },
  ];
}

/** NaN: it leads to no release. */
function numberIn(link: string): number {
  return Number(dirname(link).split('/').at(-1));
}

/** The number of the release that is being served; null when none is. */
export function currentNumber(folders: ReleaseFolders, slug: string): number | null {
  return servedRelease(folders, slug)?.number ?? null;
}

/** Returns the pages without a served release, in the given order. */
export function unpublishedPaths(folders: ReleaseFolders, slugs: readonly string[]): readonly string[] {
  return slugs.filter((slug) => currentNumber(folders, slug) === null);
}

/** Numbers of the releases of a page that are on disk, oldest first. */
export function releaseNumbers(folders: ReleaseFolders, slug: string): number[] {
  return namesIn(join(folders.releases, slug))
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b);
}

/** Slugs that have releases on disk. */
export function publishedSlugs(folders: ReleaseFolders): string[] {
  return namesIn(folders.releases).toSorted();
}

/** Names in a folder; none when there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
