/** What a static host needs beside the files of releases: badges that no server draws, and pages sealed by their password. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sealPage } from '../access/seal.ts';
import { sealWords } from '../views/seal-words.ts';
import type { BadgeData } from './badge-data.ts';
import { badgeFilesOfSubjects } from './badge-files.ts';
import type { PageRenderer } from './file-entry.ts';
import { filesFolder, type ReleaseFolders } from './releases/folders.ts';
import { type Manifest, readData } from './releases/manifest.ts';

/** What seals a page, and the language of what stands before it is open. */
export interface PageLock {
  readonly password: { readonly reveal: () => string };
  readonly locale: string;
}

export interface StaticFile {
  /** Below the page. */
  readonly path: string;
  readonly body: Uint8Array;
}

const NO_RENDERER: PageRenderer = {
  render: () => Promise.reject(new Error('badges are drawn without the renderer')),
};

/** Every badge of a published page as files, drawn from what its release keeps. */
export async function badgesOf(folders: ReleaseFolders, { slug, number }: Manifest): Promise<readonly StaticFile[]> {
  const { onDemand } = readData(folders, slug, number) as { onDemand: BadgeData };
  const files: StaticFile[] = [];
  for (const entry of badgeFilesOfSubjects(onDemand.subjects, onDemand)) {
    const { body } = await entry.draw(NO_RENDERER);
    files.push({ path: entry.path, body: typeof body === 'string' ? Buffer.from(body) : body });
  }
  return files;
}

/** The page itself as one file that its password opens in the visitor's browser; nothing else of it leaves. */
export async function sealedPage(folders: ReleaseFolders, manifest: Manifest, lock: PageLock): Promise<StaticFile> {
  const html = readFileSync(join(filesFolder(folders, manifest.slug, manifest.number), 'index.html'), 'utf8');
  return {
    path: 'index.html',
    body: Buffer.from(await sealPage(html, lock.password.reveal(), { words: sealWords(lock.locale) })),
  };
}
