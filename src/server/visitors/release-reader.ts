/**
 * Reads files of the releases being served. The link on disk decides, so a switch by any process is seen at once; what is
 * kept in memory is kept by what it is and not by where it was, and no byte is handed out that the manifest does not name.
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
  variantSuffix,
} from '../../publish/releases/manifest.ts';
import { type ReleaseData, readNamedData } from '../../publish/releases/release-data.ts';

/** Bytes of file contents kept in memory. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** How soon it is seen that a release was replaced by one of the same number, which no process of ours does. */
const COMPARE_EVERY_MS = 100;

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
  readonly data: () => ReleaseData;
}

export interface ReleaseReader {
  /** The release of a page that is being served; null when there is none. */
  readonly open: (slug: string) => OpenRelease | null;
}

export class DamagedFileError extends Error {
  constructor(slug: string, path: string) {
    super(`${path} of ${slug} doesn’t match its release; run pharos rebuild --page ${slug}`);
    this.name = 'DamagedFileError';
  }
}

/** Makes the reader over a data folder; files that are asked for often stay in memory, least recently used go first. */
export function createReleaseReader(folders: ReleaseFolders): ReleaseReader {
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
          const bytes = readFileSync(placeOf(path) + (encoding === null ? '' : variantSuffix(encoding)));
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

/** A release with what it was opened by. */
interface Opened {
  /** Of its page, on the public side and behind the gate. */
  readonly places: readonly string[];
  /** Where these led, up to the first that led anywhere. */
  readonly links: readonly (string | null)[];
  readonly manifestFile: string;
  /** Undefined: there was none. */
  readonly manifest: Stats | undefined;
  /** When it was last compared, in milliseconds of the process. */
  comparedAt: number;
  readonly release: OpenRelease;
}

/** Whether it is still what is served. */
function isServed(opened: Opened): boolean {
  const { places, links } = opened;
  for (let index = 0; index < links.length; index += 1) if (linkAt(places[index] ?? '') !== links[index]) return false;
  const at = performance.now();
  if (at - opened.comparedAt < COMPARE_EVERY_MS) return true;
  opened.comparedAt = at;
  return isSameManifest(opened);
}

/** A data folder that was put back from elsewhere may have another release of this number. */
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

/** Requests that came together, in one turn of the event loop, share one look at the disk; the next turn looks again. */
function oncePerTurn<Value>(look: (key: string) => Value): (key: string) => Value {
  const seen = new Map<string, { readonly value: Value }>();
  let seenIn = -1;
  return (key) => {
    // The loop's own count, since whatever is told at the end of a turn makes one more turn.
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

type Bodies = Partial<Record<Compression | 'identity', Buffer>>;

/** Keeps what was read by its content; what is large beside the whole is read each time. */
function createMemoryCache(): (sha256: string, encoding: keyof Bodies, read: () => Buffer) => Buffer {
  const files = new LRUCache<string, Bodies>({
    maxSize: CACHE_BYTES_MAX,
    maxEntrySize: Math.ceil(CACHE_BYTES_MAX / 8),
    // An empty file is kept too.
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

/** The best variant of a file for an Accept-Encoding header; null: as it is. */
export function negotiate(
  record: Pick<FileRecord, 'variants'>,
  acceptEncoding: string | undefined,
): Compression | null {
  const variants = record.variants ?? [];
  if (acceptEncoding === undefined || variants.length === 0) return null;
  if (acceptEncoding !== last.acceptEncoding) last = { acceptEncoding, liked: preferences.memo(acceptEncoding) };
  for (const encoding of last.liked) {
    if (encoding === 'identity') return null;
    if (variants.includes(encoding)) return encoding;
  }
  return null;
}

/** Most requests are of one kind of browser. */
let last: { readonly acceptEncoding: string; readonly liked: readonly (Compression | 'identity')[] } = {
  acceptEncoding: '',
  liked: [],
};

/** What is accepted, liked best first; of what is liked alike, ours first. Kept, since browsers send a handful of headers. */
const preferences = new LRUCache<string, readonly (Compression | 'identity')[]>({
  max: 64,
  memoMethod: (acceptEncoding) =>
    new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([...COMPRESSIONS, 'identity'], {
      preferred: COMPRESSIONS,
    }),
});
