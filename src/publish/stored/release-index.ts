/**
 * Releases for nodes that don't render. Every file and every manifest is an object named by its digest, and a ledger names the
 * manifest of each page's release. Only the ledger changes, so a node learns of news by requesting one object. Everything that
 * is read is checked against its digest.
 */

import { z } from 'zod';
import { ACCESS_TYPES } from '../../model/observation.ts';
import type { FileRecord, Manifest } from '../releases/manifest.ts';
import { LedgerEntrySchema, type LedgerFormat, ledgerEntries, parseJson } from './ledger.ts';

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
