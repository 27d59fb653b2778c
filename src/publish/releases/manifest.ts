/** What is in a release: every file with its hash and what it was made from. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { COMPRESSIONS } from './compressions.ts';
import { currentNumber, filesFolder, poolFolder, type ReleaseFolders, releaseFolder } from './folders.ts';

const FileRecordSchema = z.preprocess(
  // Format 2 had another word for it.
  (record) =>
    typeof record === 'object' && record !== null && 'twins' in record ? { ...record, variants: record.twins } : record,
  z.object({
    /** Digest of what it is made from: its inputs, and everything that draws its kind. */
    key: z.string(),
    sha256: z.string(),
    bytes: z.number(),
    contentType: z.string(),
    csp: z.string().nullable(),
    /** Where it leads, below the page; absent: it is not a redirect. */
    location: z.string().optional(),
    /** The smaller variants that lie beside it; null: they are not made yet. */
    variants: z.array(z.enum(COMPRESSIONS)).nullable(),
  }),
);
export type FileRecord = z.output<typeof FileRecordSchema>;

const ManifestSchema = z.object({
  format: z.union([z.literal(2), z.literal(3)]),
  slug: z.string(),
  number: z.number(),
  access: z.enum(['public', 'password', 'email-domain']),
  /** Instant the figures are computed to, epoch ms. */
  asOf: z.number(),
  /** Digest of everything whose change is an event: states, incidents, maintenances, definitions, settings. */
  eventKey: z.string(),
  customDomain: z.string().nullable(),
  /** The release of the same news that this one only completes, with what that had left for later; null: none. */
  completes: z.number().nullable().default(null),
  /** Files by path, as in addresses. */
  files: z.record(z.string(), FileRecordSchema),
  /** Id of each folder below the root, by its path. */
  folders: z.record(z.string(), z.string()),
  /** SHA-256 of data.json. */
  dataSha256: z.string(),
});
export type Manifest = z.output<typeof ManifestSchema>;
export type ReleaseAccess = Manifest['access'];

export const MANIFEST_FILE = 'manifest.json';

/** A manifest and the digest of its bytes: two releases of one digest have the same files. */
export interface IdentifiedManifest {
  readonly manifest: Manifest;
  readonly digest: string;
}

/** A release's manifest with its identity; null when it is missing or damaged. */
export function identifyManifest(folders: ReleaseFolders, slug: string, number: number): IdentifiedManifest | null {
  try {
    const bytes = readFileSync(join(releaseFolder(folders, slug, number), MANIFEST_FILE));
    return { manifest: ManifestSchema.parse(JSON.parse(bytes.toString('utf8'))), digest: hash('sha256', bytes, 'hex') };
  } catch {
    return null;
  }
}

/** A manifest as it came from elsewhere; null: it is none. */
export function parseManifest(bytes: Uint8Array): Manifest | null {
  try {
    return ManifestSchema.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8'))).data ?? null;
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

/** What a release draws on demand from, as it was written. Throws when it is missing or damaged. */
export function readData(folders: ReleaseFolders, slug: string, number: number): unknown {
  return JSON.parse(readFileSync(dataFile(folders, slug, number), 'utf8'));
}

/** The same, and throws when it is not what the manifest names. */
export function readNamedData(folders: ReleaseFolders, { slug, number, dataSha256 }: Manifest): unknown {
  const bytes = readFileSync(dataFile(folders, slug, number));
  if (hash('sha256', bytes, 'hex') !== dataSha256) throw new Error(`data.json of ${slug} does not match its release`);
  return JSON.parse(bytes.toString('utf8'));
}

function dataFile(folders: ReleaseFolders, slug: string, number: number): string {
  return join(releaseFolder(folders, slug, number), 'data.json');
}

/**
 * Where each file of a release, and each link to a folder of it, really is: the same for every release that shares the
 * folder. Made for paths asked for by the thousand a second.
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
