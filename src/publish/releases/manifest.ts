/** What is in a release: every file with its hash and what it was made from. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { ACCESS_TYPES } from '../../model/observation.ts';
import { type PageKey, splitLocale, toPageKey } from '../../model/slugs.ts';
import { currentNumber, filesFolder, poolFolder, type ReleaseFolders, releaseFolder } from './folders.ts';

// Headers of public files, the same from our own server, on hosts that read `_headers`, and in buckets.

/**
 * Long enough to absorb a crowd, and short enough that news, or a page that becomes private, takes effect in every cache within
 * a minute. While we are unreachable, an old copy is better than none.
 */
export const PUBLIC_CACHE = 'public, max-age=30, stale-while-revalidate=30, stale-if-error=86400';

/**
 * For scripts of pages, whose addresses end with their digest. Browsers keep them. Shared caches drop them together with the page,
 * because they have the page's address.
 */
export const SCRIPT_CACHE = 'public, max-age=31536000, s-maxage=30, immutable';

/** For `api/now.json`, which says when a page was last checked: many visitors share one response, but it is never old. */
export const NOW_CACHE = 'public, max-age=10';

/** Keeps content of an SVG or JSON file from running in our origin. */
export const INERT_CSP = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** One host for a year. Subdomains may belong to someone else. */
export const HSTS = 'max-age=31536000';

/** In every response. */
export const EVERY_ANSWER: Readonly<Record<string, string>> = Object.freeze({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
});

/** A policy in a document can't restrict framing, so a header does: only embed pages may be framed. */
export function frameAncestors(path: string): string {
  return `frame-ancestors ${splitLocale(path).rest.startsWith('embed/') ? '*' : "'none'"}`;
}

// Precompressed variants of files: what they are called on disk, and how they are made.

/** Best first, in the order in which clients get them. */
export const COMPRESSIONS = ['br', 'zstd', 'gzip'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** A compressed file. */
export type Variant = Awaited<ReturnType<typeof compress>>[number];

/** The endings of pre-compressed variants, as nginx and Caddy look for them. */
export const VARIANT_SUFFIXES: Readonly<Record<Compression, string>> = { br: '.br', gzip: '.gz', zstd: '.zst' };

/** Below one packet there is nothing to gain. */
const BYTES_MIN = 1_024;
const TEXT =
  /^(text\/|image\/svg\+xml|application\/(json|feed\+json|atom\+xml|rss\+xml|xml|javascript|schema\+json|manifest\+json))/;

/** Whether compressing a file of this type and size is worthwhile. */
export function isWorthCompressing(contentType: string, bytes: number): boolean {
  return bytes >= BYTES_MIN && TEXT.test(contentType);
}

const inBrotli = promisify(brotliCompress);
const inZstd = promisify(zstdCompress);
const inGzip = promisify(gzip);

/**
 * All three take two milliseconds of a core for a page of 50 components. The smallest that brotli can make is 9 % smaller, but
 * takes 170 times as long.
 */
const COMPRESSORS: Readonly<Record<Compression, (body: Uint8Array) => Promise<Buffer>>> = {
  br: (body) =>
    inBrotli(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        // A window larger than the file only costs memory that must be cleared.
        [constants.BROTLI_PARAM_LGWIN]: Math.min(22, Math.max(16, Math.ceil(Math.log2(body.length + 1)))),
      },
    }),
  zstd: (body) => inZstd(body, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  gzip: (body) => inGzip(body, { level: 6 }),
};

/** Makes the variants of a body, in other threads. Those that are no smaller than the body are left out. */
export async function compress(contentType: string, body: Uint8Array) {
  if (!isWorthCompressing(contentType, body.length)) return [];
  const made = await Promise.all(
    COMPRESSIONS.map(async (encoding) => ({ encoding, bytes: await COMPRESSORS[encoding](body) })),
  );
  // A small result is a part of a 16 kB block, which would stay in memory until the variant is written. A copy frees it.
  return made
    .filter(({ bytes }) => bytes.length < body.length)
    .map(({ encoding, bytes }) => ({ encoding, bytes: Uint8Array.from(bytes) }));
}

const FileRecordSchema = z.object({
  /** Digest of what it is made from: its inputs, and the code that renders its kind. */
  key: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  contentType: z.string(),
  csp: z.string().nullable(),
  /** Target of a redirect, below the page; absent: not a redirect. */
  location: z.string().optional(),
  /** Compressed variants next to the file; null: not made yet. */
  variants: z.array(z.enum(COMPRESSIONS)).nullable(),
});
export type FileRecord = z.output<typeof FileRecordSchema>;

const ManifestSchema = z.object({
  format: z.union([z.literal(2), z.literal(3)]),
  slug: z.string(),
  number: z.number(),
  access: z.enum(ACCESS_TYPES).exclude(['closed']),
  /** The page that it is of; absent: the first that had the slug. */
  page: z.string().optional(),
  /** Instant the figures are computed to, epoch ms. */
  asOf: z.number(),
  /** Digest of everything that counts as news: states, incidents, maintenances, definitions, settings. */
  eventKey: z.string(),
  customDomain: z.string().nullable(),
  /** Languages of its files, the default first; the others are in folders of that name. Absent: all are in one. */
  locales: z.array(z.string()).optional(),
  /** Number of the release that this one only completes with deferred files; null: none. */
  completes: z.number().nullable().default(null),
  /** The earlier release that an operator brought back with it; absent: none. */
  restores: z.number().optional(),
  /** Files by path, as in addresses. */
  files: z.record(z.string(), FileRecordSchema),
  /** Id of each folder below the root, by its path. */
  folders: z.record(z.string(), z.string()),
  /** SHA-256 of data.json. */
  dataSha256: z.string(),
});
export type Manifest = z.output<typeof ManifestSchema>;

/** @throws when it isn't one */
function parse(bytes: Uint8Array): Manifest {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const data = JSON.parse(text) as { readonly format?: unknown };
  // Format 2 had another word for it. Looking for that in each record would take as long as reading all of them.
  return ManifestSchema.parse(data?.format === 2 ? JSON.parse(text.replaceAll('"twins":', '"variants":')) : data);
}
export type ReleaseAccess = Manifest['access'];

/** The page that a release is of. */
export function releasePage({ slug, page }: Pick<Manifest, 'slug' | 'page'>): PageKey {
  return (page as PageKey | undefined) ?? toPageKey(slug, 1);
}

/** A page at an address; `page` is null where it isn't known which one, as in releases of older versions. */
export interface PageAtSlug {
  readonly slug: string;
  readonly page: PageKey | null;
}

/**
 * Returns a function that tells which page a release on disk is of; null: it can't be read. It remembers one release per slug,
 * since a process never sees a number used twice.
 */
export function createReleasePages(folders: ReleaseFolders): (slug: string, number: number) => PageKey | null {
  const known = new Map<string, { readonly number: number; readonly page: PageKey }>();
  return (slug, number) => {
    const before = known.get(slug);
    if (before?.number === number) return before.page;
    const manifest = readManifest(folders, slug, number);
    if (manifest === null) return null;
    const page = releasePage(manifest);
    known.set(slug, { number, page });
    return page;
  };
}

export const MANIFEST_FILE = 'manifest.json';

export type IdentifiedManifest = NonNullable<ReturnType<typeof identifyManifest>>;

/** A release's manifest with the digest of its bytes: the same digest means the same files. Null when it is missing or damaged. */
export function identifyManifest(folders: ReleaseFolders, slug: string, number: number) {
  try {
    const bytes = readFileSync(join(releaseFolder(folders, slug, number), MANIFEST_FILE));
    return { manifest: parse(bytes), bytes, digest: hash('sha256', bytes, 'hex') };
  } catch {
    return null;
  }
}

/** Parses a manifest from elsewhere; null: it isn't one. */
export function parseManifest(bytes: Uint8Array): Manifest | null {
  try {
    return parse(bytes);
  } catch {
    return null;
  }
}

/** A release's manifest; null when it is missing or damaged. */
export function readManifest(folders: ReleaseFolders, slug: string, number: number): Manifest | null {
  return identifyManifest(folders, slug, number)?.manifest ?? null;
}

/** The manifest of the release that is being served; null when there is none that can be read. */
export function currentManifest(folders: ReleaseFolders, slug: string): Manifest | null {
  const number = currentNumber(folders, slug);
  return number === null ? null : readManifest(folders, slug, number);
}

/**
 * Returns a function that resolves paths of a release to real places on disk, which are the same for every release that shares
 * a folder. It is fast enough to be called for every request.
 */
export function filePlaces(
  folders: ReleaseFolders,
  { slug, number, folders: ids }: Pick<Manifest, 'slug' | 'number' | 'folders'>,
): (path: string) => string {
  const root = filesFolder(folders, slug, number);
  const pool = poolFolder(folders, slug);
  return (path) => {
    const end = path.lastIndexOf('/');
    const id = end === -1 ? undefined : ids[path.slice(0, end)];
    return id === undefined ? `${root}/${path}` : `${pool}/${id}/${path.slice(end + 1)}`;
  };
}

/** What else a release needs of those on disk: which folders it has, and which release it completes. */
export type ReleaseOutline = Pick<Manifest, 'completes'> & { readonly folders: readonly string[] };

export function outlineOf({ completes, folders }: Manifest): ReleaseOutline {
  return { completes, folders: Object.values(folders) };
}

/** About 400 bytes each. */
const RECORDS_MAX = 25_000;

/** About 30 bytes each. */
const OUTLINED_FOLDERS_MAX = 100_000;

/** Makes the cache over a data folder; the least recently used are given up first. */
export function createManifestCache(folders: ReleaseFolders, recordsMax: number = RECORDS_MAX) {
  const kept = new LRUCache<string, Manifest>({
    maxSize: recordsMax,
    // One that is larger than all that may be kept is kept alone.
    sizeCalculation: ({ files }) => Math.min(recordsMax, Math.max(1, Object.keys(files).length)),
  });
  const outlines = new LRUCache<string, ReleaseOutline>({
    maxSize: OUTLINED_FOLDERS_MAX,
    sizeCalculation: ({ folders: { length } }) => Math.min(OUTLINED_FOLDERS_MAX, 1 + length),
  });
  const put = (manifest: Manifest): void => {
    const key = `${manifest.slug}/${manifest.number}`;
    kept.set(key, manifest);
    outlines.set(key, outlineOf(manifest));
  };
  return {
    /** Null: it is missing or damaged. */
    get: (slug: string, number: number) => {
      const known = kept.get(`${slug}/${number}`);
      if (known !== undefined) return known;
      const manifest = readManifest(folders, slug, number);
      if (manifest !== null) put(manifest);
      return manifest;
    },
    put,
    /** The same of what `prune` asks of releases that are no longer served, of which many more are kept. */
    outline: (slug: string, number: number) => {
      const key = `${slug}/${number}`;
      const known = outlines.get(key);
      if (known !== undefined) return known;
      const manifest = kept.get(key) ?? readManifest(folders, slug, number);
      if (manifest === null) return null;
      const outline = outlineOf(manifest);
      outlines.set(key, outline);
      return outline;
    },
  };
}

/** Paths of a release whose variants are not made yet. */
export function withoutVariants({ files }: Manifest): string[] {
  return Object.entries(files).flatMap(([path, { variants }]) => (variants === null ? [path] : []));
}
