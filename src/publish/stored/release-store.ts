/**
 * Stores releases for nodes that don't render. Every file and every manifest is an object named by its digest, and one index
 * names the manifest of each page's release. Only the index changes, so a node learns of news by requesting one object.
 * Everything that is read is checked against its digest.
 */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { SLUG } from '../../model/scalars.ts';
import { SITE_SLUG } from '../releases/folders.ts';
import type { FileRecord } from '../releases/manifest.ts';

/** A key-value store for bytes: a bucket or a table. */
export interface ReleaseStore {
  /** Shown to people. */
  readonly place: string;
  /** Null: there is no such object. */
  readonly get: (key: string) => Promise<Buffer | null>;
  /** Null: unchanged since that version. Version null: nothing was read yet. */
  readonly getIfOther: (key: string, version: string | null) => Promise<VersionedBytes | null>;
  readonly put: (key: string, bytes: Uint8Array) => Promise<void>;
  /**
   * Replaces only that version, if the store supports it.
   * @returns the new version
   * @throws TARGET_BUSY
   */
  readonly replace: (key: string, bytes: Uint8Array, version: string | null) => Promise<string>;
  readonly remove: (key: string) => Promise<void>;
  /** Lists all keys; absent: the store can't. */
  readonly keys?: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

interface VersionedBytes {
  /** Null: there is no such object. */
  readonly bytes: Buffer | null;
  readonly version: string | null;
}

export const INDEX_KEY = 'releases.json';

const DigestSchema = z.string().regex(/^[0-9a-f]{64}$/);
const InstantSchema = z.number().nullable();

const IndexSchema = z.object({
  format: z.literal(1),
  /** The served release of each page, and of the site's own files. */
  pages: z.record(
    z.string().refine((slug) => slug === SITE_SLUG || SLUG.test(slug)),
    z.object({
      number: z.int().nonnegative(),
      /** Of its manifest. */
      manifest: DigestSchema,
      access: z.enum(['public', 'password', 'email-domain']),
    }),
  ),
  /** Digest of the encrypted definitions for nodes without the database; null: none. */
  site: DigestSchema.nullable(),
  /** When each upstream last answered. */
  times: z.record(z.string(), z.tuple([InstantSchema, InstantSchema, InstantSchema])),
});
export type ReleaseIndex = z.output<typeof IndexSchema>;
export type Pointer = ReleaseIndex['pages'][string];

export const NO_RELEASES: ReleaseIndex = { format: 1, pages: {}, site: null, times: {} };

/** Null: not an index of ours, or from a newer version. */
export function parseIndex(bytes: Uint8Array): ReleaseIndex | null {
  try {
    return IndexSchema.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

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

export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
