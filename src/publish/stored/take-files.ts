/** Copies the manifest and the files of a release out of a store. What doesn't match its digest is never written where it could be served. */

import { existsSync, linkSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import pLimit from 'p-limit';
import { DISK } from '../releases/disk.ts';
import { poolFolder, type ReleaseFolders, releaseFolder } from '../releases/folders.ts';
import { type FileRecord, filePlaces, type Manifest, parseManifest } from '../releases/manifest.ts';
import { chooseModes, makePageFolders } from '../releases/modes.ts';
import { isInside } from './ledger.ts';
import { digestOf, type ObjectStore } from './object-store.ts';
import { fileKey, isStoredCompressed, objectKey, type ReleaseEntry } from './release-index.ts';

interface FileTaker {
  /** An object that isn't a file of a page. */
  readonly takeObject: (digest: string) => Promise<Buffer>;
  /** Copies the manifest and the data for badges, but no files. */
  readonly takeManifest: (slug: string, entry: ReleaseEntry) => Promise<Manifest>;
  /** Copies files that aren't here, or links to those of the release before. */
  readonly takeFiles: (manifest: Manifest, paths: readonly string[], before: Manifest | null) => Promise<unknown>;
}

/** Parallel requests. */
export const CONCURRENCY = 24;
/** File with the digest of the manifest in the store. The local manifest differs: it lists only the copied variants. */
export const TAKEN = 'taken';
const OWN = 0o600;
const unpack = promisify(brotliDecompress);

interface Missing {
  readonly manifest: Manifest;
  readonly path: string;
  readonly record: FileRecord;
  readonly target: string;
  readonly before: Manifest | null;
}

export function createFileTaker(store: ObjectStore, folders: ReleaseFolders): FileTaker {
  const fetching = new Map<string, Promise<void>>();

  async function takeObject(digest: string): Promise<Buffer> {
    const bytes = await store.get(objectKey(digest));
    if (bytes === null) throw new Error(`${store.place} is missing the object ${digest}`);
    if (digestOf(bytes) !== digest)
      throw new Error(`the object ${digest} in ${store.place} is damaged: it does not match its name`);
    return bytes;
  }

  async function takeManifest(slug: string, entry: ReleaseEntry): Promise<Manifest> {
    const manifest = parseManifest(await takeObject(entry.manifest));
    const isNamed = manifest?.slug === slug && manifest.number === entry.number && manifest.access === entry.access;
    if (!isNamed || !hasOwnPlaces(manifest))
      throw new Error(`release ${entry.number} of ${slug} does not match the index`);
    const data = await takeObject(manifest.dataSha256);
    const modes = chooseModes(manifest.access === 'public');
    makePageFolders({ disk: DISK, folders }, slug, modes);
    const folder = releaseFolder(folders, slug, manifest.number);
    mkdirSync(join(folder, 'files'), { recursive: true, mode: modes.folder });
    // One that has folders and no files of its own would not be made with a file.
    for (const id of Object.values(manifest.folders))
      mkdirSync(join(poolFolder(folders, slug), id), { recursive: true, mode: modes.folder });
    const files = Object.entries(manifest.files).map(([path, record]) => [
      path,
      { ...record, variants: isStoredCompressed(record) ? ['br'] : [] },
    ]);
    const own: Manifest = { ...manifest, files: Object.fromEntries(files) };
    writeWhole(join(folder, 'data.json'), data, OWN);
    writeWhole(join(folder, TAKEN), Buffer.from(entry.manifest), OWN);
    writeWhole(join(folder, 'manifest.json'), Buffer.from(JSON.stringify(own)), OWN);
    return own;
  }

  function takeFile(manifest: Manifest, path: string, before: Manifest | null): Promise<void> {
    const record = manifest.files[path];
    const target = filePlaces(folders, manifest)(path);
    if (record === undefined || isThere(target, record)) return Promise.resolve();
    return fetching.getOrInsertComputed(target, () =>
      fetchFile({ manifest, path, record, target, before }).finally(() => {
        fetching.delete(target);
      }),
    );
  }

  async function fetchFile({ manifest, path, record, target, before }: Missing): Promise<void> {
    const modes = chooseModes(manifest.access === 'public');
    mkdirSync(dirname(target), { recursive: true, mode: modes.folder });
    if (before?.files[path]?.sha256 === record.sha256 && isLinked(filePlaces(folders, before)(path), target, record))
      return;
    const isCompressed = isStoredCompressed(record);
    const stored = await store.get(fileKey(record));
    if (stored === null) throw new Error(`${store.place} is missing ${path} of ${manifest.slug}`);
    const body = isCompressed ? await unpack(stored, { maxOutputLength: Math.max(1, record.bytes) }) : stored;
    if (digestOf(body) !== record.sha256)
      throw new Error(`${path} of ${manifest.slug} in ${store.place} does not match its release`);
    if (isCompressed) writeWhole(`${target}.br`, stored, modes.file);
    writeWhole(target, body, modes.file);
  }

  return {
    takeObject,
    takeManifest,
    takeFiles: (manifest, paths, before) => pLimit(CONCURRENCY).map(paths, (path) => takeFile(manifest, path, before)),
  };
}

/** Whether all paths in a manifest are inside the page's folder. */
function hasOwnPlaces({ files, folders }: Manifest): boolean {
  return (
    Object.keys(files).every(isInside) &&
    Object.keys(folders).every(isInside) &&
    Object.values(folders).every((id) => /^\d+-\d+$/.test(id))
  );
}

function isThere(target: string, record: FileRecord): boolean {
  const isWhole = statSync(target, { throwIfNoEntry: false })?.size === record.bytes;
  return isWhole && (!isStoredCompressed(record) || existsSync(`${target}.br`));
}

/** Links to the same file of the previous release. */
function isLinked(from: string, to: string, record: FileRecord): boolean {
  if (!isThere(from, record)) return false;
  for (const suffix of ['.br', ''])
    if ((suffix === '' || isStoredCompressed(record)) && !existsSync(to + suffix)) linkSync(from + suffix, to + suffix);
  return true;
}

/** Writes a file under a temporary name first, so that it is never incomplete. */
function writeWhole(file: string, bytes: Uint8Array, mode: number): void {
  const draft = `${file}.part`;
  writeFileSync(draft, bytes, { mode });
  renameSync(draft, file);
}
