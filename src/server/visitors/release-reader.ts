/**
 * Reads files of the releases being served. The link on disk decides which release that is, so a switch by any process
 * takes effect at once. Files are cached by content, not by path, and only bytes that match the manifest are returned.
 */

import { hash } from 'node:crypto';
import { readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import {
  type ReleaseFolders,
  releaseFolder,
  releaseNumbers,
  type ServedRelease,
  servedRelease,
} from '../../publish/releases/folders.ts';
import {
  COMPRESSIONS,
  type Compression,
  type FileRecord,
  filePlaces,
  type IdentifiedManifest,
  identifyManifest,
  type Manifest,
  VARIANT_SUFFIXES,
} from '../../publish/releases/manifest.ts';
import { type ReleaseData, readNamedData } from '../../publish/releases/release-data.ts';

/** Bytes of file contents kept in memory. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** How soon we notice that a release was replaced by another with the same number, which Pharos itself never does. */
const COMPARE_EVERY_MS = 100;

export interface OpenRelease {
  readonly slug: string;
  /** Digest of the manifest. */
  readonly digest: string;
  readonly manifest: Manifest;
  /**
   * The bytes of a file, in an encoding that its record lists or uncompressed.
   *
   * @throws DamagedFileError if the file on disk doesn't match the manifest
   */
  readonly read: (path: string, encoding: Compression | null) => Buffer;
  /** Data for drawing on demand. Throws if it can't be read, or doesn't match the manifest. */
  readonly data: () => ReleaseData;
}

export class DamagedFileError extends Error {
  constructor(slug: string, path: string) {
    super(`${path} of ${slug} doesn’t match its release; run pharos rebuild --page ${slug}`);
    this.name = 'DamagedFileError';
  }
}

export type ReleaseReader = ReturnType<typeof createReleaseReader>;

/** Creates the reader over a data folder, with an LRU cache of files. */
export function createReleaseReader(folders: ReleaseFolders) {
  const releases = new Map<string, Opened>();
  const cached = createMemoryCache();
  return { open: oncePerTurn(openNow) };

  function openNow(slug: string): OpenRelease | null {
    const known = releases.get(slug);
    if (known !== undefined && isServed(known)) return known.release;
    releases.delete(slug);
    const served = servedRelease(folders, slug);
    if (served === null) return null;
    const places = [folders.publicSite, folders.privateSite].map((site) => join(site, slug));
    const manifestFile = join(releaseFolder(folders, slug, served.number), 'manifest.json');
    const comparedAt = performance.now();
    const before = {
      comparedAt,
      places,
      links: linksAt(places),
      manifestFile,
      manifest: statSync(manifestFile, QUIETLY),
    };
    const found = readableManifest(folders, slug, served);
    if (found === null) return null;
    const release = openRelease(found);
    releases.set(slug, { ...before, release });
    return release;
  }

  function openRelease({ manifest, digest }: IdentifiedManifest): OpenRelease {
    const placeOf = filePlaces(folders, manifest);
    const { slug } = manifest;
    return {
      slug,
      digest,
      manifest,
      read: (path, encoding) => {
        const record = manifest.files[path];
        if (record === undefined) throw new DamagedFileError(slug, path);
        return cached(record.sha256, encoding ?? 'identity', () => {
          const bytes = readFileSync(placeOf(path) + (encoding === null ? '' : VARIANT_SUFFIXES[encoding]));
          if (!isNamed(bytes, encoding, record)) throw new DamagedFileError(slug, path);
          return bytes;
        });
      },
      data: () => readNamedData(folders, manifest),
    };
  }
}

/** Whether the bytes, decompressed if necessary, are the file in the record. */
function isNamed(bytes: Buffer, encoding: Compression | null, { sha256, bytes: length }: FileRecord): boolean {
  try {
    const body = encoding === null ? bytes : UNPACK[encoding](bytes, { maxOutputLength: length });
    return hash('sha256', body, 'hex') === sha256;
  } catch {
    return false;
  }
}

const UNPACK: Readonly<Record<Compression, (bytes: Buffer, limits: { readonly maxOutputLength: number }) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
};

/** An open release, with the facts that show whether it is still current. */
interface Opened {
  /** Paths of the page's links, on the public and the private side. */
  readonly places: readonly string[];
  /** Targets of these links, up to the first that exists. */
  readonly links: readonly (string | null)[];
  readonly manifestFile: string;
  /** Undefined: there was none. */
  readonly manifest: Stats | undefined;
  /** When it was last compared, in milliseconds since the process started. */
  comparedAt: number;
  readonly release: OpenRelease;
}

/** Whether it is still the release being served. */
function isServed(opened: Opened): boolean {
  const { places, links } = opened;
  for (let index = 0; index < links.length; index += 1) if (linkAt(places[index] ?? '') !== links[index]) return false;
  const at = performance.now();
  if (at - opened.comparedAt < COMPARE_EVERY_MS) return true;
  opened.comparedAt = at;
  return isSameManifest(opened);
}

/** A restored data folder may have another release with this number. */
function isSameManifest({ manifestFile, manifest }: Opened): boolean {
  const file = statSync(manifestFile, QUIETLY);
  return file?.ino === manifest?.ino && file?.mtimeMs === manifest?.mtimeMs && file?.size === manifest?.size;
}

function linksAt(places: readonly string[]): readonly (string | null)[] {
  const links: (string | null)[] = [];
  for (const place of places) {
    const link = linkAt(place);
    links.push(link);
    if (link !== null) break;
  }
  return links;
}

/** Null: not published on this side. */
function linkAt(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    return null;
  }
}

const QUIETLY = { throwIfNoEntry: false } as const;

const { nodeTiming } = performance;

/** Requests within one turn of the event loop share one look at the disk. */
function oncePerTurn<Value>(look: (key: string) => Value): (key: string) => Value {
  const seen = new Map<string, { readonly value: Value }>();
  let seenIn = -1;
  return (key) => {
    // The loop's own counter, because a callback at the end of a turn would add another turn.
    const turn = nodeTiming.uvMetricsInfo.loopCount;
    if (turn !== seenIn) {
      seen.clear();
      seenIn = turn;
    }
    const known = seen.get(key);
    if (known !== undefined) return known.value;
    const value = look(key);
    seen.set(key, { value });
    return value;
  };
}

/**
 * The manifest of the release being served; if it is damaged, that of the newest older release with the same side of
 * the gate.
 */
function readableManifest(folders: ReleaseFolders, slug: string, served: ServedRelease): IdentifiedManifest | null {
  const older = releaseNumbers(folders, slug).filter((number) => number < served.number);
  for (const number of [served.number, ...older.toReversed()]) {
    const found = identifyManifest(folders, slug, number);
    if (found !== null && (found.manifest.access === 'public') === served.isPublic) return found;
  }
  return null;
}

type Bodies = Partial<Record<Compression | 'identity', Buffer>>;

/** Caches files by content; very large ones are read each time. */
function createMemoryCache(): (sha256: string, encoding: keyof Bodies, read: () => Buffer) => Buffer {
  const files = new LRUCache<string, Bodies>({
    maxSize: CACHE_BYTES_MAX,
    maxEntrySize: Math.ceil(CACHE_BYTES_MAX / 8),
    // Not 0, so that empty files can be cached.
    sizeCalculation: (bodies) => Object.values(bodies).reduce((sum, body) => sum + body.length, 1),
  });
  return (sha256, encoding, read) => {
    const bodies = files.get(sha256);
    const known = bodies?.[encoding];
    if (known !== undefined) return known;
    const body = read();
    files.set(sha256, { ...bodies, [encoding]: body });
    return body;
  };
}

/** The best variant of a file for an Accept-Encoding header; null: uncompressed. */
export function negotiate(record: Pick<FileRecord, 'variants'>, acceptEncoding: string | undefined) {
  const variants = record.variants ?? [];
  if (acceptEncoding === undefined || variants.length === 0) return null;
  for (const encoding of preferences.memo(acceptEncoding)) {
    if (encoding === 'identity') return null;
    if (variants.includes(encoding)) return encoding;
  }
  return null;
}

/**
 * Accepted encodings, best first; equally good ones in our order. Cached, because browsers send a handful of different
 * headers.
 */
const preferences = new LRUCache<string, readonly (Compression | 'identity')[]>({
  max: 64,
  memoMethod: (acceptEncoding) =>
    new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([...COMPRESSIONS, 'identity'], {
      preferred: COMPRESSIONS,
    }),
});
