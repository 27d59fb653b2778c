/**
 * A ledger lists everything in a store, page by page. It is one small object, and only a process that has read its latest version
 * may replace it. A target has a ledger of the files for visitors; a bucket of releases has one of the releases for web nodes.
 */

import { z } from 'zod';
import { createSeal, systemRandom } from '../../access/digest.ts';
import { ACCESS_TYPES } from '../../model/observation.ts';
import { SLUG } from '../../model/scalars.ts';
import { parseJson } from '../../transparency/entries.ts';
import { SITE_SLUG } from '../releases/folders.ts';
import type { FileRecord, Manifest } from '../releases/manifest.ts';
import type { ObjectStore } from './object-store.ts';

/** The fields that every ledger has for a page. */
export const LedgerEntrySchema = z.object({
  /** Number of its newest release that was ever written. No other release may get this number. */
  number: z.int().nonnegative().default(0),
});

/** The copy of the home page at the root of a static host, beside the slugs of pages and the site's own files. */
export const HOME_SLUG = '_home';

/** Entries by slug. */
export function ledgerEntries<Entry extends z.ZodType>(entry: Entry) {
  return z.record(
    z.string().refine((slug) => slug === SITE_SLUG || slug === HOME_SLUG || SLUG.test(slug)),
    entry,
  );
}

export interface LedgerFormat<Ledger> {
  readonly key: string;
  /** Null: not a ledger, or from a newer version. */
  readonly parse: (text: string) => Ledger | null;
}

type LedgerReading<Ledger> =
  | { readonly kind: 'missing' | 'unreadable' | 'unchanged'; readonly version: string | null }
  | { readonly kind: 'read'; readonly version: string | null; readonly ledger: Ledger };

/** @param since the version that is known; null: none */
export async function readLedger<Ledger>(
  store: ObjectStore,
  { key, parse }: LedgerFormat<Ledger>,
  since: string | null = null,
): Promise<LedgerReading<Ledger>> {
  const found = await store.getIfOther(key, since);
  if (found === null) return { kind: 'unchanged', version: since };
  const { bytes, version } = found;
  if (bytes === null) return { kind: 'missing', version: null };
  const ledger = parse(bytes.toString('utf8'));
  return ledger === null ? { kind: 'unreadable', version } : { kind: 'read', version, ledger };
}

/** Whether a path stays below the root. Paths come from a ledger, which others may have changed. */
export function isInside(path: string): boolean {
  return (
    path !== '' &&
    !path.startsWith('/') &&
    !path.includes('\\') &&
    !path.split('/').some((part) => /^\.{0,2}$/.test(part))
  );
}

/**
 * Releases for nodes that don't render. Every file and every manifest is an object named by its digest, and a ledger names the
 * manifest of each page's release. Only the ledger changes, so a node learns of news by requesting one object. Everything that
 * is read is checked against its digest.
 */
const DigestSchema = z.string().regex(/^[0-9a-f]{64}$/);
const InstantSchema = z.number().nullable();

const IndexSchema = z.object({
  format: z.literal(1),
  /** The served release of each page, and of the site's own files. */
  pages: ledgerEntries(
    LedgerEntrySchema.extend({
      /** Digest of its manifest. */
      manifest: DigestSchema,
      access: z.enum(ACCESS_TYPES).exclude(['closed']),
      /** The page that it is of; absent: the first that had the slug. */
      page: z.string().optional(),
    }),
  ),
  /** Digest of the encrypted definitions for nodes without the database; null: none. */
  site: DigestSchema.nullable(),
  /** When each upstream last answered. */
  times: z.record(z.string(), z.tuple([InstantSchema, InstantSchema, InstantSchema])),
});
export type ReleaseIndex = z.output<typeof IndexSchema>;
export type ReleaseEntry = ReleaseIndex['pages'][string];

export const NO_RELEASES: ReleaseIndex = { format: 1, pages: {}, site: null, times: {} };

export const RELEASE_INDEX: LedgerFormat<ReleaseIndex> = {
  key: 'releases.json',
  parse: (text) => parseJson(IndexSchema, text),
};

/** Returns the key for a digest. The digest is that of the uncompressed bytes. */
export function objectKey(digest: string, isCompressed = false): string {
  return `objects/${digest}${isCompressed ? '.br' : ''}`;
}

/** Whether a file is stored compressed, which is the case if it has a Brotli variant. */
export function isStoredCompressed({ variants }: Pick<FileRecord, 'variants'>): boolean {
  return variants?.includes('br') === true;
}

/** Returns the key of a file. */
export function fileKey(record: Pick<FileRecord, 'sha256' | 'variants'>): string {
  return objectKey(record.sha256, isStoredCompressed(record));
}

/** Returns the keys of all objects of a release; `digest` is that of its manifest. */
export function releaseKeys({ files, dataSha256 }: Manifest, digest: string): ReadonlySet<string> {
  return new Set([objectKey(digest), objectKey(dataSha256), ...Object.values(files).map(fileKey)]);
}

/**
 * Encrypts the part of a target's ledger that lists sealed pages. Anyone can read the ledger, and must not learn which private
 * pages exist, or how many. AES-256-GCM with a key derived from the site's, padded so that the length reveals little.
 */
export interface SiteKey {
  readonly reveal: () => string;
}

/** About thirty pages. */
const LENGTH_STEP = 4_096;

const sealWith = (key: SiteKey) => createSeal(key, 'pharos target ledger', systemRandom);

/** @param text JSON: blanks behind it are no part of it */
export function sealEntries(text: string, key: SiteKey): string {
  return sealWith(key).seal(text.padEnd(Math.ceil(text.length / LENGTH_STEP) * LENGTH_STEP), '');
}

/** Null: encrypted with another key, or damaged. */
export function openEntries(sealed: string, key: SiteKey): string | null {
  return sealWith(key).open(sealed, '');
}
