/** Files that a static host needs in addition to those of releases: what the server creates on demand, and sealed pages. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { sealPage } from '../../access/sealed/seal.ts';
import { BADGE_HEADERS } from '../../badges/files.ts';
import type { SourceFreshness } from '../../model/page.ts';
import { type NowFacts, nowDocument } from '../../views/json/state-json.ts';
import { sealWords } from '../../views/login/login.ts';
import { NOW_JSON_PATH } from '../../views/text/addresses.ts';
import { singleDocuments } from '../../views/v2/documents.ts';
import { badgeFilesOfSubjects } from '../files/badge-files.ts';
import { fileKeys, inFolder } from '../files/file-entry.ts';
import { JSON_FILE, type PageRenderer } from '../files/kinds.ts';
import { jsonText } from '../files/serialise.ts';
import { fingerprintOf } from '../fingerprint.ts';
import { NOW_CACHE, PUBLIC_CACHE } from '../releases/answer-headers.ts';
import { filesFolder, type ReleaseFolders } from '../releases/folders.ts';
import type { Manifest } from '../releases/manifest.ts';
import { readReleaseData } from '../releases/release-data.ts';
import { fileOfRelease, type StaticFile } from './static-file.ts';

/** The password that seals a page, and the language of its password form. */
export interface PageLock {
  readonly password: { readonly reveal: () => string };
  readonly locale: string;
}

export const BADGE_CACHE = BADGE_HEADERS['Cache-Control'] ?? '';

const NO_RENDERER: PageRenderer = {
  render: () => Promise.reject(new Error('badges are drawn without the renderer')),
};

/** What the server creates on demand: badges, and single components and incidents. Paths are relative to the page. */
export function listExtras(folders: ReleaseFolders, manifest: Manifest, version: string): readonly StaticFile[] {
  return [...listBadges(folders, manifest, version), ...listSingles(folders, manifest)];
}

/** Every badge, from the release's data. Rendered when it is read. */
function listBadges(
  folders: ReleaseFolders,
  { slug, number, locales = [] }: Manifest,
  version: string,
): readonly StaticFile[] {
  const onDemand = readReleaseData(folders, slug, number)?.onDemand ?? null;
  if (onDemand === null) return [];
  const keyOf = fileKeys(version);
  const entries = [
    ...badgeFilesOfSubjects(onDemand.subjects, onDemand),
    ...locales.slice(1).flatMap((locale) => {
      const spoken = { ...onDemand, options: { ...onDemand.options, locale } };
      return badgeFilesOfSubjects(onDemand.subjects, spoken).map((entry) => inFolder(`${locale}/`, entry));
    }),
  ];
  return entries.map((entry) => ({
    path: entry.path,
    identity: keyOf(entry),
    contentType: entry.kind.contentType,
    cacheControl: BADGE_CACHE,
    stage: 'data',
    read: async () => {
      // Images take milliseconds each. Requests of visitors are answered in between.
      await turn();
      const { body } = await entry.draw(NO_RENDERER);
      return typeof body === 'string' ? Buffer.from(body) : body;
    },
  }));
}

/** Single components and incidents of the v2 API, taken from its lists. */
function listSingles(folders: ReleaseFolders, { slug, number, files }: Manifest): readonly StaticFile[] {
  const read = (path: string): unknown =>
    Object.hasOwn(files, path)
      ? JSON.parse(fileOfRelease(join(filesFolder(folders, slug, number), path), slug).toString('utf8'))
      : null;
  return [...singleDocuments(read)].map(([path, document]) => {
    const text = jsonText(document);
    return {
      path,
      identity: hash('sha256', text, 'hex'),
      contentType: JSON_FILE.contentType,
      cacheControl: PUBLIC_CACHE,
      stage: 'data',
      read: async () => Buffer.from(text),
    };
  });
}

/** Null: the release has none, or can't be read. */
export function readNowFacts(folders: ReleaseFolders, { slug, number }: Manifest): NowFacts | null {
  return readReleaseData(folders, slug, number)?.now ?? null;
}

/** `api/now.json` of a page, with the times at the moment when it is read. */
export function nowFile(
  facts: NowFacts,
  { number, sources }: { readonly number: number; readonly sources: () => readonly SourceFreshness[] },
): StaticFile {
  return {
    path: NOW_JSON_PATH,
    identity: fingerprintOf([NOW_JSON_PATH, number, facts]),
    contentType: JSON_FILE.contentType,
    cacheControl: NOW_CACHE,
    stage: 'data',
    read: async () => Buffer.from(`${JSON.stringify(nowDocument(facts, { release: number, sources: sources() }))}\n`),
  };
}

/**
 * The page in one of its languages (null: the default) as one encrypted document, which its password opens in the browser. Nothing
 * else of the page is written.
 */
export async function sealedPage(
  folders: ReleaseFolders,
  manifest: Manifest,
  lock: PageLock,
  locale: string | null,
): Promise<Uint8Array> {
  const folder = join(filesFolder(folders, manifest.slug, manifest.number), locale ?? '');
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  return Buffer.from(await sealPage(html, lock.password.reveal(), { words: sealWords(locale ?? lock.locale) }));
}
