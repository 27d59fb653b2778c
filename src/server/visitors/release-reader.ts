/**
 * Reads files of the releases being served. The link on disk decides, so a switch by any process is seen at once; what is
 * kept in memory is kept by what it is and not by where it was, and no byte is handed out that the manifest does not name.
 */

import { hash } from 'node:crypto';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { COMPRESSIONS, type Compression, suffixOf } from '../../publish/releases/compressions.ts';
import {
  type ReleaseFolders,
  releaseFolder,
  releaseNumbers,
  type ServedRelease,
  servedRelease,
} from '../../publish/releases/folders.ts';
import {
  type FileRecord,
  filePlaces,
  type IdentifiedManifest,
  identifyManifest,
  type Manifest,
  readNamedData,
} from '../../publish/releases/manifest.ts';

/** Bytes of file contents kept in memory. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;

export interface OpenRelease {
  readonly slug: string;
  /** Of its manifest. */
  readonly digest: string;
  readonly manifest: Manifest;
  /**
   * The bytes of a file in an encoding that its record lists, or as it is.
   *
   * @throws DamagedFileError when what is on disk is not what the manifest names
   */
  readonly read: (path: string, encoding: Compression | null) => Buffer;
  /** What is drawn on demand from. Throws when it cannot be read, or is not what the manifest names. */
  readonly data: () => unknown;
}

export interface ReleaseReader {
  /** The release of a page that is being served; null when there is none. */
  readonly open: (slug: string) => OpenRelease | null;
}

export class DamagedFileError extends Error {
  constructor(slug: string, path: string) {
    super(`${path} of ${slug} is not what its release names; run pharos rebuild --page ${slug}`);
    this.name = 'DamagedFileError';
  }
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
    const link = targetOf(slug);
    const served = link === null ? null : servedRelease(folders, slug);
    if (served === null) {
      releases.delete(slug);
      return null;
    }
    // A data folder that was put back from elsewhere may have another release of this number.
    const target = `${link} ${stampOf(folders, slug, served.number)}`;
    const known = releases.get(slug);
    if (known?.target === target) return known.release;
    const found = readableManifest(folders, slug, served);
    if (found === null) return null;
    const release = openRelease(found);
    releases.set(slug, { target, release });
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
        return cached(`${record.sha256}${encoding ?? ''}`, () => {
          const bytes = readFileSync(placeOf(path) + (encoding === null ? '' : suffixOf(encoding)));
          if (!isNamed(bytes, encoding, record)) throw new DamagedFileError(slug, path);
          return bytes;
        });
      },
      data: () => readNamedData(folders, manifest),
    };
  }
}

/** Whether bytes are the file that a record names, or unpack to it. */
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

/** Tells one manifest of a number from another. */
function stampOf(folders: ReleaseFolders, slug: string, number: number): string {
  const file = statSync(join(releaseFolder(folders, slug, number), 'manifest.json'), { throwIfNoEntry: false });
  return `${file?.ino ?? ''} ${file?.mtimeMs ?? ''} ${file?.size ?? ''}`;
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
function readableManifest(folders: ReleaseFolders, slug: string, served: ServedRelease): IdentifiedManifest | null {
  const older = releaseNumbers(folders, slug).filter((number) => number < served.number);
  for (const number of [served.number, ...older.toReversed()]) {
    const found = identifyManifest(folders, slug, number);
    if (found !== null && isOnSide(found.manifest, served)) return found;
  }
  return null;
}

function isOnSide({ access }: Manifest, { isPublic }: ServedRelease): boolean {
  return (access === 'public') === isPublic;
}

/** Keeps what was read by its key; what is large beside the whole is read each time. */
function createMemoryCache(bytesMax: number): (key: string, read: () => Buffer) => Buffer {
  const files = new LRUCache<string, Buffer>({
    maxSize: bytesMax,
    maxEntrySize: Math.ceil(bytesMax / 8),
    // An empty file is kept too.
    sizeCalculation: (body) => Math.max(1, body.length),
  });
  return (key, read) => {
    const known = files.get(key);
    if (known !== undefined) return known;
    const body = read();
    files.set(key, body);
    return body;
  };
}

/** The best variant of a file for an Accept-Encoding header; null: as it is. */
export function negotiate(
  { variants }: Pick<FileRecord, 'variants'>,
  acceptEncoding: string | undefined,
): Compression | null {
  if (acceptEncoding === undefined || variants.length === 0) return null;
  for (const encoding of preferences.memo(acceptEncoding)) {
    if (encoding === 'identity') return null;
    if (variants.includes(encoding)) return encoding;
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
