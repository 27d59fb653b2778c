/** Reads files of the releases being served. The link on disk decides, so a switch by any process is seen at once. */

import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { COMPRESSIONS, type Compression, suffixOf } from '../../publish/releases/compressions.ts';
import {
  type ReleaseFolders,
  releaseNumbers,
  type ServedRelease,
  servedRelease,
} from '../../publish/releases/folders.ts';
import { type FileRecord, filePlaces, type Manifest, readData, readManifest } from '../../publish/releases/manifest.ts';

/** Bytes of file contents kept in memory. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;

export interface OpenRelease {
  readonly slug: string;
  readonly manifest: Manifest;
  /** The bytes of a file in an encoding that its record lists, or as it is. */
  readonly read: (path: string, encoding: Compression | null) => Buffer;
  /** What is drawn on demand from. Throws when it cannot be read. */
  readonly data: () => unknown;
}

export interface ReleaseReader {
  /** The release of a page that is being served; null when there is none. */
  readonly open: (slug: string) => OpenRelease | null;
}

/** Makes the reader over a data folder; files that are asked for often stay in memory, least recently used go first. */
export function createReleaseReader(folders: ReleaseFolders, cacheBytesMax: number = CACHE_BYTES_MAX): ReleaseReader {
  const releases = new Map<string, { readonly target: string; readonly release: OpenRelease }>();
  const cached = createMemoryCache(cacheBytesMax);
  return { open: oncePerTurn(openNow) };

  function targetOf(slug: string): string | null {
    for (const site of [folders.publicSite, folders.privateSite]) {
      try {
        return readlinkSync(join(site, slug));
      } catch {
        // Not published on this side.
      }
    }
    return null;
  }

  function openNow(slug: string): OpenRelease | null {
    const target = targetOf(slug);
    if (target === null) {
      releases.delete(slug);
      return null;
    }
    const known = releases.get(slug);
    if (known?.target === target) return known.release;
    const manifest = readableManifest(folders, slug);
    if (manifest === null) return null;
    const filePlace = filePlaces(folders, manifest);
    const release: OpenRelease = {
      slug,
      manifest,
      read: (path, encoding) => cached(filePlace(path) + (encoding === null ? '' : suffixOf(encoding))),
      data: () => readData(folders, slug, manifest.number),
    };
    releases.set(slug, { target, release });
    return release;
  }
}

/** Requests that came together, in one turn of the event loop, share one look at the disk; the next turn looks again. */
function oncePerTurn<Value>(look: (key: string) => Value): (key: string) => Value {
  const seen = new Map<string, { readonly value: Value }>();
  return (key) => {
    const known = seen.get(key);
    if (known !== undefined) return known.value;
    if (seen.size === 0) setImmediate(() => seen.clear());
    const value = look(key);
    seen.set(key, { value });
    return value;
  };
}

/** The manifest of the release being served. Should it be damaged: of the newest one before it on the same side of the gate. */
function readableManifest(folders: ReleaseFolders, slug: string): Manifest | null {
  const served = servedRelease(folders, slug);
  if (served === null) return null;
  const older = releaseNumbers(folders, slug).filter((number) => number < served.number);
  for (const number of [served.number, ...older.toReversed()]) {
    const manifest = readManifest(folders, slug, number);
    if (manifest !== null && isOnSide(manifest, served)) return manifest;
  }
  return null;
}

function isOnSide({ access }: Manifest, { isPublic }: ServedRelease): boolean {
  return (access === 'public') === isPublic;
}

function createMemoryCache(bytesMax: number): (path: string) => Buffer {
  const files = new LRUCache<string, Buffer>({
    maxSize: bytesMax,
    maxEntrySize: Math.ceil(bytesMax / 8),
    // An empty file is kept too.
    sizeCalculation: (body) => Math.max(1, body.length),
    memoMethod: (path) => readFileSync(path),
  });
  return (path) => files.memo(path);
}

/** The best variant of a file for an Accept-Encoding header; null: as it is. */
export function negotiate(record: FileRecord, acceptEncoding: string | undefined): Compression | null {
  if (acceptEncoding === undefined || record.variants.length === 0) return null;
  for (const encoding of preferences.memo(acceptEncoding)) {
    if (encoding === 'identity') return null;
    if (record.variants.includes(encoding)) return encoding;
  }
  return null;
}

/** What is accepted, liked best first; of what is liked alike, ours first. Kept, since browsers send a handful of headers. */
const preferences = new LRUCache<string, readonly (Compression | 'identity')[]>({
  max: 64,
  memoMethod: (acceptEncoding) =>
    new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([...COMPRESSIONS, 'identity'], {
      preferred: COMPRESSIONS,
    }),
});
