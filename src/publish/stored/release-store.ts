/**
 * Releases outside of the machine that drew them. Every file is an object by its digest, and so is the manifest of a
 * release, which names them; one index says which manifest of each page is served. The index is what changes: whoever
 * wants to know of news asks for one object. Nothing that is read here is believed before its digest was compared.
 */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { SLUG } from '../../model/scalars.ts';
import { SITE_SLUG } from '../releases/folders.ts';
import type { FileRecord } from '../releases/manifest.ts';

/** Bytes by key; the same interface whatever keeps them. */
export interface ReleaseStore {
  /** For people. */
  readonly place: string;
  /** Null: there is no such object. */
  readonly get: (key: string) => Promise<Buffer | null>;
  /** Null: it is as it was at that version. A version that is null is that of nothing. */
  readonly getIfOther: (key: string, version: string | null) => Promise<VersionedBytes | null>;
  readonly put: (key: string, bytes: Uint8Array) => Promise<void>;
  /** Only over that version, as far as the store can tell. @returns its version @throws TARGET_BUSY */
  readonly replace: (key: string, bytes: Uint8Array, version: string | null) => Promise<string>;
  readonly remove: (key: string) => Promise<void>;
  /** Of all objects; absent: it cannot tell. */
  readonly keys?: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

export interface VersionedBytes {
  /** Null: there is no such object. */
  readonly bytes: Buffer | null;
  readonly version: string | null;
}

export const INDEX_KEY = 'releases.json';

const DigestSchema = z.string().regex(/^[0-9a-f]{64}$/);
const InstantSchema = z.number().nullable();

const IndexSchema = z.object({
  format: z.literal(1),
  /** Which release of each page is served, and of the site's own files. */
  pages: z.record(
    z.string().refine((slug) => slug === SITE_SLUG || SLUG.test(slug)),
    z.object({
      number: z.int().nonnegative(),
      /** Of its manifest. */
      manifest: DigestSchema,
      access: z.enum(['public', 'password', 'email-domain']),
    }),
  ),
  /** Object of what nodes without the database need of it, sealed; null: there is none. */
  site: DigestSchema.nullable(),
  /** When upstreams were heard from last. */
  times: z.record(z.string(), z.tuple([InstantSchema, InstantSchema, InstantSchema])),
});
export type ReleaseIndex = z.output<typeof IndexSchema>;
export type Pointer = ReleaseIndex['pages'][string];

export const NO_RELEASES: ReleaseIndex = { format: 1, pages: {}, site: null, times: {} };

/** Null: it is none of ours, or one of a version to come. */
export function parseIndex(bytes: Uint8Array): ReleaseIndex | null {
  try {
    return IndexSchema.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

/** Where the object of a digest is; what is stored compressed unpacks to it. */
export function objectKey(digest: string, isCompressed = false): string {
  return `objects/${digest}${isCompressed ? '.br' : ''}`;
}

/** Whether a file is stored compressed: where it has that variant, since the other is made of it. */
export function isStoredCompressed({ variants }: Pick<FileRecord, 'variants'>): boolean {
  return variants?.includes('br') === true;
}

/** Where a file of a release is. */
export function fileKey(record: Pick<FileRecord, 'sha256' | 'variants'>): string {
  return objectKey(record.sha256, isStoredCompressed(record));
}

export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
