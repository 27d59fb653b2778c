/** What a static host needs beside the files of releases: badges that no server draws, and pages sealed by their password. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { sealPage } from '../../access/sealed/seal.ts';
import { BADGE_HEADERS } from '../../badges/files.ts';
import { sealWords } from '../../views/login/seal-words.ts';
import type { BadgeData } from '../files/badge-data.ts';
import { badgeFilesOfSubjects } from '../files/badge-files.ts';
import { keyOf, type VersionOf } from '../files/file-entry.ts';
import type { PageRenderer } from '../files/file-kind.ts';
import { filesFolder, type ReleaseFolders } from '../releases/folders.ts';
import { type Manifest, readData } from '../releases/manifest.ts';
import type { StaticFile } from './static-file.ts';

/** What seals a page, and the language of what stands before it is open. */
export interface PageLock {
  readonly password: { readonly reveal: () => string };
  readonly locale: string;
}

export const BADGE_CACHE = BADGE_HEADERS['Cache-Control'] ?? '';

const NO_RENDERER: PageRenderer = {
  render: () => Promise.reject(new Error('badges are drawn without the renderer')),
};

/** Every badge of a published page, from what its release keeps; drawn when it is read. Paths are below the page. */
export function badgesOf(
  folders: ReleaseFolders,
  { slug, number }: Manifest,
  versionOf: VersionOf,
): readonly StaticFile[] {
  const { onDemand } = readData(folders, slug, number) as { readonly onDemand: BadgeData | null };
  if (onDemand === null) return [];
  return badgeFilesOfSubjects(onDemand.subjects, onDemand).map((entry) => ({
    path: entry.path,
    identity: keyOf(entry, versionOf),
    contentType: entry.kind.contentType,
    cacheControl: BADGE_CACHE,
    stage: 'data',
    read: async () => {
      // Pictures take milliseconds each; visitors are answered between them.
      await turn();
      const { body } = await entry.draw(NO_RENDERER);
      return typeof body === 'string' ? Buffer.from(body) : body;
    },
  }));
}

/** The page itself as one document that its password opens in the visitor's browser; nothing else of it leaves. */
export async function sealedPage(folders: ReleaseFolders, manifest: Manifest, lock: PageLock): Promise<Uint8Array> {
  const html = readFileSync(join(filesFolder(folders, manifest.slug, manifest.number), 'index.html'), 'utf8');
  return Buffer.from(await sealPage(html, lock.password.reveal(), { words: sealWords(lock.locale) }));
}
