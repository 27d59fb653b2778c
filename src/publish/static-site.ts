/** The public part of what is published, as a folder that any static file server serves. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { filesFolder, publishedSlugs, type ReleaseFolders } from './releases/folders.ts';
import { currentManifest, type Manifest } from './releases/manifest.ts';
import { SITE_SLUG } from './site-release.ts';
import { badgesOf, type PageLock, sealedPage } from './static-extras.ts';

/** What an earlier build wrote here, so that only that is ever removed. */
const LEDGER = '.pharos.json';
const LedgerSchema = z.object({ files: z.record(z.string(), z.string()) });

export interface WrittenSite {
  readonly filesWritten: number;
  readonly filesKept: number;
  readonly filesRemoved: number;
}

export interface StaticTarget {
  readonly folder: string;
  /** What seals pages, by slug; other gated pages are left out. */
  readonly sealed: ReadonlyMap<string, PageLock>;
}

/**
 * Writes changed files only, pages before what points at them, and removes files of earlier builds that are gone.
 * Files that somebody else put there are left alone. Nothing of a gated page is among them but what is sealed.
 */
export async function writeStaticSite(folders: ReleaseFolders, target: StaticTarget): Promise<WrittenSite> {
  mkdirSync(target.folder, { recursive: true });
  const before = readLedger(target.folder);
  const files: Record<string, string> = {};
  let filesWritten = 0;
  let filesKept = 0;
  const put = (path: string, sha256: string, read: () => Uint8Array): void => {
    files[path] = sha256;
    if (before[path] === sha256 && existsSync(join(target.folder, path))) {
      filesKept += 1;
      return;
    }
    writeWhole(join(target.folder, path), read());
    filesWritten += 1;
  };
  const putBody = (path: string, body: Uint8Array): void =>
    put(path, createHash('sha256').update(body).digest('hex'), () => body);
  const manifests = publishedSlugs(folders)
    .map((slug) => currentManifest(folders, slug))
    .filter((manifest) => manifest !== null && manifest.access === 'public') as Manifest[];
  // The site's own index last: it links to everything else.
  const ordered = manifests.toSorted((a, b) => Number(a.slug === SITE_SLUG) - Number(b.slug === SITE_SLUG));
  for (const manifest of ordered) {
    const source = filesFolder(folders, manifest.slug, manifest.number);
    const prefix = manifest.slug === SITE_SLUG ? '' : `${manifest.slug}/`;
    const paths = Object.keys(manifest.files).toSorted(
      (a, b) => Number(a === 'index.html') - Number(b === 'index.html'),
    );
    for (const path of paths) {
      const record = manifest.files[path];
      if (record !== undefined) put(prefix + path, record.sha256, () => readFileSync(join(source, path)));
    }
  }
  for (const manifest of ordered) {
    if (manifest.slug === SITE_SLUG) continue;
    for (const { path, body } of await badgesOf(folders, manifest)) putBody(`${manifest.slug}/${path}`, body);
  }
  for (const [slug, lock] of target.sealed) {
    const manifest = currentManifest(folders, slug);
    if (manifest?.access !== 'password') continue;
    const { path, body } = await sealedPage(folders, manifest, lock);
    putBody(`${slug}/${path}`, body);
  }
  const headers = headersFile(ordered);
  putBody('_headers', Buffer.from(headers));
  let filesRemoved = 0;
  for (const path of Object.keys(before)) {
    if (path in files || !isInside(path)) continue;
    rmSync(join(target.folder, path), { force: true });
    filesRemoved += 1;
  }
  writeWhole(join(target.folder, LEDGER), Buffer.from(JSON.stringify({ files })));
  return { filesWritten, filesKept, filesRemoved };
}

/** What hosts that read `_headers` (Netlify, Cloudflare Pages) need to serve the files as our own server does. */
function headersFile(manifests: readonly Manifest[]): string {
  const rules = [
    '/*',
    '  X-Content-Type-Options: nosniff',
    '  Referrer-Policy: no-referrer',
    '  Cache-Control: public, max-age=30, stale-while-revalidate=60',
  ];
  for (const { slug } of manifests) {
    if (slug === SITE_SLUG) continue;
    rules.push(
      `/${slug}/api/*`,
      '  Access-Control-Allow-Origin: *',
      `/${slug}/badges/*`,
      '  Access-Control-Allow-Origin: *',
      '  Cache-Control: public, max-age=60, s-maxage=60',
    );
    for (const feed of ['feed.atom', 'feed.rss', 'feed.json', 'maintenance.ics'])
      rules.push(`/${slug}/${feed}`, '  Access-Control-Allow-Origin: *');
  }
  return `${rules.join('\n')}\n`;
}

function readLedger(folder: string): Readonly<Record<string, string>> {
  try {
    return LedgerSchema.parse(JSON.parse(readFileSync(join(folder, LEDGER), 'utf8'))).files;
  } catch {
    // No earlier build, or a ledger that says nothing: every file is written and none is removed.
    return {};
  }
}

function isInside(path: string): boolean {
  return !path.startsWith('/') && !path.split('/').includes('..');
}

/** A reader sees the old file or the new one. */
function writeWhole(path: string, body: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const next = `${path}.pharos-next`;
  writeFileSync(next, body);
  renameSync(next, path);
}
