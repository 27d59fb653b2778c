/**
 * Uploads the served releases to a store. First, pages that may no longer be shown are removed from the index. Then the objects of
 * new releases are uploaded, and the index last, so that everything in it exists.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { isStatusError } from '../../errors.ts';
import {
  currentNumber,
  publishedSlugs,
  type ReleaseFolders,
  releaseFolder,
  servedRelease,
} from '../releases/folders.ts';
import {
  filePlaces,
  type IdentifiedManifest,
  identifyManifest,
  type Manifest,
  parseManifest,
  withoutVariants,
} from '../releases/manifest.ts';
import {
  fileKey,
  isStoredCompressed,
  NO_RELEASES,
  objectKey,
  RELEASE_INDEX,
  type ReleaseEntry,
  type ReleaseIndex,
  readLedger,
  releaseKeys,
} from './ledger.ts';
import { fenceStore, forEachLimited, type ObjectStore, objectDigest } from './object-store.ts';

interface UploadDeps {
  readonly store: ObjectStore;
  readonly folders: ReleaseFolders;
  /** Whether this node is elected to upload; checked before each change. */
  readonly mayUpload: () => Promise<boolean>;
  /** Whether the access rules allow a release to be shown; null: not known yet. */
  readonly isShown: (release: Pick<Manifest, 'slug' | 'access' | 'page'>) => boolean | null;
  /** Encrypted definitions for nodes without the database, and a digest of their plain text; null: not provided. */
  readonly site: () => Promise<{ readonly digest: string; readonly sealed: () => Uint8Array } | null>;
  readonly times: () => Promise<ReleaseIndex['times']>;
  /** Called with the numbers that the index names, by slug: after a backup was restored, the next ones have to be larger. */
  readonly onNumbers: (numbers: ReadonlyMap<string, number>) => Promise<void>;
}

const CONCURRENCY = 16;
/** The index is written after this many releases, so that web nodes see progress of a first upload. */
const RELEASES_PER_INDEX = 50;
const NOTHING = { releases: 0, objects: 0, bytes: 0, isIndexWritten: false };

type Keys = ReadonlySet<string>;

type Memory = Awaited<ReturnType<typeof readMemory>>;

export function createUploader({ store: unfenced, mayUpload, ...rest }: UploadDeps) {
  const deps = { ...rest, mayUpload, store: fenceStore(unfenced, mayUpload) };
  const inTurn = pLimit(1);
  let memory: Memory | null = null;
  return {
    /**
     * Uploads changes, one call at a time. With `withTimes`, writes when upstreams last answered even if nothing else changed.
     *
     * @throws TARGET_UNREACHABLE, TARGET_REFUSED, TARGET_BUSY; uploaded objects stay, and the next call continues
     */
    update: (withTimes = false) =>
      inTurn(async () => {
        try {
          if (memory === null) {
            memory = await readMemory(deps.store);
            await deps.onNumbers(listNumbers(memory.index));
          }
          return await update(deps, memory, withTimes);
        } catch (error) {
          // After an error, the contents of the store are uncertain.
          memory = null;
          if (isStatusError(error) && error.context['superseded'] === true) return NOTHING;
          throw error;
        }
      }),
    /** Another node may have written to the store, so it is read again. */
    forget: () => {
      memory = null;
    },
    /** Reads which numbers of releases the index names, before this process gives out others. @throws TARGET_UNREACHABLE, TARGET_REFUSED */
    learnNumbers: async () => {
      const found = await readLedger(deps.store, RELEASE_INDEX);
      if (found.kind === 'read') await deps.onNumbers(listNumbers(found.ledger));
    },
  };
}

function listNumbers({ pages }: ReleaseIndex): ReadonlyMap<string, number> {
  return new Map(Object.entries(pages).map(([slug, { number }]) => [slug, number]));
}

/** What this process knows about the store. */
async function readMemory(store: ObjectStore) {
  const found = await readLedger(store, RELEASE_INDEX);
  const index = found.kind === 'read' ? found.ledger : NO_RELEASES;
  // Objects of each page's release in the index, and of the one before, which a node may still be copying.
  const needed = new Map<string, readonly Keys[]>();
  // Pages that were uploaded before their compressed variants were made.
  const uncompressed = new Set<string>();
  await pLimit(CONCURRENCY).map(Object.entries(index.pages), async ([slug, { manifest }]) => {
    const bytes = await store.get(objectKey(manifest));
    const named = bytes === null ? null : parseManifest(bytes);
    // A manifest that can't be read may be from a newer version. Its objects stay.
    needed.set(slug, named === null ? [] : [releaseKeys(named, manifest)]);
    if (named !== null && withoutVariants(named).length > 0) uncompressed.add(slug);
  });
  // `siteDigest`: plain digest of what `index.site` holds.
  return { index, version: found.version, siteDigest: null as string | null, needed, uncompressed };
}

async function update(deps: UploadDeps, known: Memory, withTimes: boolean) {
  const slugs = new Set([...publishedSlugs(deps.folders), ...Object.keys(known.index.pages)]);
  const leaving = Object.entries(known.index.pages).flatMap(([slug, there]) =>
    deps.isShown({ slug, ...there }) === false ? [slug] : [],
  );
  if (leaving.length > 0) await removePages(deps.store, known, leaving);
  const site = await uploadSite(deps, known);
  const tally = { releases: 0, objects: 0, bytes: 0 };
  const waiting = [...slugs];
  let isNamed = false;
  while (waiting.length > 0) {
    const some: IdentifiedManifest[] = [];
    // Read shortly before they are uploaded, because variants replace manifests.
    while (some.length < RELEASES_PER_INDEX && waiting.length > 0) {
      const found = wantedRelease(deps, known, waiting.shift() ?? '');
      if (found !== null) some.push(found);
    }
    if (some.length === 0) break;
    for (const found of some) await uploadObjects(deps, known, { ...found, tally });
    tally.releases += await nameReleases(deps, known, some, site);
    isNamed = true;
  }
  const times = withTimes ? await deps.times() : known.index.times;
  const hasOther = site !== known.index.site || JSON.stringify(times) !== JSON.stringify(known.index.times);
  if (hasOther) await writeIndex(deps.store, known, { ...known.index, site, times });
  return { ...tally, isIndexWritten: hasOther || isNamed || leaving.length > 0 };
}

/** The release that the index should name; null: leave the entry as it is. */
function wantedRelease({ folders, isShown }: UploadDeps, known: Memory, slug: string): IdentifiedManifest | null {
  const there = known.index.pages[slug];
  const served = servedRelease(folders, slug);
  if (served === null || (served.number === there?.number && !known.uncompressed.has(slug))) return null;
  // Another node has published a newer release, which isn't published here yet.
  if (there !== undefined && there.number > served.number) return null;
  const found = identifyManifest(folders, slug, served.number);
  if (found?.digest === there?.manifest) return null;
  return found !== null && isShown(found.manifest) === true ? found : null;
}

async function removePages(store: ObjectStore, known: Memory, leaving: readonly string[]): Promise<void> {
  const pages = Object.fromEntries(Object.entries(known.index.pages).filter(([slug]) => !leaving.includes(slug)));
  await writeIndex(store, known, { ...known.index, pages });
  const objects = leaving.flatMap((slug) => known.needed.get(slug) ?? []);
  for (const slug of leaving) known.needed.delete(slug);
  await removeUnneeded(store, known, objects);
}

async function uploadSite({ site, store }: UploadDeps, known: Memory): Promise<string | null> {
  const found = await site();
  if (found === null) return null;
  if (found.digest === known.siteDigest) return known.index.site;
  const sealed = found.sealed();
  const digest = objectDigest(sealed);
  await store.put(objectKey(digest), sealed);
  known.siteDigest = found.digest;
  return digest;
}

/** Uploads the objects of a release that aren't there, and counts them. */
async function uploadObjects(
  { store, folders }: UploadDeps,
  known: Memory,
  { manifest, bytes, digest, tally }: IdentifiedManifest & { readonly tally: { objects: number; bytes: number } },
): Promise<void> {
  const there = known.needed.get(manifest.slug) ?? [];
  const placeOf = filePlaces(folders, manifest);
  const folder = releaseFolder(folders, manifest.slug, manifest.number);
  // Not its file, which is replaced when variants are there.
  const files = new Map<string, string | Buffer>([
    [objectKey(digest), bytes],
    [objectKey(manifest.dataSha256), join(folder, 'data.json')],
  ]);
  for (const [path, record] of Object.entries(manifest.files))
    files.set(fileKey(record), placeOf(path) + (isStoredCompressed(record) ? '.br' : ''));
  const missing = [...files].filter(([key]) => !there.some((keys) => keys.has(key)));
  await forEachLimited(missing, CONCURRENCY, async ([key, file]) => {
    const body = typeof file === 'string' ? readFileSync(file) : file;
    await store.put(key, body);
    tally.bytes += body.length;
  });
  tally.objects += missing.length;
}

/** Names uploaded releases in the index, and removes what only older ones needed. @returns how many */
async function nameReleases(
  { store, folders, times }: UploadDeps,
  known: Memory,
  some: readonly IdentifiedManifest[],
  site: string | null,
): Promise<number> {
  // A release that is no longer served may have been made for other access rules.
  const current = some.filter(({ manifest: { slug, number } }) => currentNumber(folders, slug) === number);
  const entries = current.map(({ manifest: { slug, number, access, page }, digest }): [string, ReleaseEntry] => [
    slug,
    { number, manifest: digest, access, page },
  ]);
  const pages = { ...known.index.pages, ...Object.fromEntries(entries) };
  await writeIndex(store, known, { ...known.index, pages, site, times: await times() });
  const outdated = current.flatMap(({ manifest, digest }) => {
    const { slug } = manifest;
    if (withoutVariants(manifest).length > 0) known.uncompressed.add(slug);
    else known.uncompressed.delete(slug);
    const [last, before] = known.needed.get(slug) ?? [];
    const next = releaseKeys(manifest, digest);
    known.needed.set(slug, last === undefined ? [next] : [next, last]);
    return before ?? [];
  });
  // All pages at once, because one page may need what another no longer needs.
  await removeUnneeded(store, known, outdated);
  return current.length;
}

async function writeIndex(store: ObjectStore, known: Memory, next: ReleaseIndex): Promise<void> {
  const former = known.index.site;
  known.version = await store.replace(RELEASE_INDEX.key, Buffer.from(JSON.stringify(next)), known.version);
  known.index = next;
  if (former !== null && former !== next.site) await removeUnneeded(store, known, [new Set([objectKey(former)])]);
}

async function removeUnneeded(store: ObjectStore, known: Memory, keys: readonly Keys[]): Promise<void> {
  const site = known.index.site === null ? null : objectKey(known.index.site);
  const all = [...known.needed.values()].flat();
  const left = new Set(keys.flatMap((some) => [...some]));
  const unneeded = [...left].filter((key) => key !== site && !all.some((some) => some.has(key)));
  await forEachLimited(unneeded, CONCURRENCY, store.remove);
}
