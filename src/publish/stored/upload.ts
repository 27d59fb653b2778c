/**
 * Uploads what is served here to a store of releases. First, pages that may no longer be shown leave the index. Then the
 * objects of new releases are uploaded, and the index comes last, so that everything it names is there.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import {
  currentNumber,
  publishedSlugs,
  type ReleaseFolders,
  releaseFolder,
  servedRelease,
} from '../releases/folders.ts';
import { filePlaces, type IdentifiedManifest, identifyManifest, parseManifest } from '../releases/manifest.ts';
import { withoutVariants } from '../releases/variants.ts';
import { type NeededObjects, needObjects, objectsOf } from './needed-objects.ts';
import {
  digestOf,
  fileKey,
  INDEX_KEY,
  isStoredCompressed,
  NO_RELEASES,
  objectKey,
  type Pointer,
  parseIndex,
  type ReleaseIndex,
  type ReleaseStore,
} from './release-store.ts';

export interface UploadDeps {
  readonly store: ReleaseStore;
  readonly folders: ReleaseFolders;
  /** Whether this node is elected to upload; checked before each change. */
  readonly mayUpload: () => Promise<boolean>;
  /** Whether the access rules allow a release to be shown; null: not known yet. */
  readonly isShown: (slug: string, access: Pointer['access']) => boolean | null;
  /** Encrypted definitions for nodes without the database, and a digest of their plain text; null: not provided. */
  readonly site: () => Promise<{ readonly digest: string; readonly sealed: () => Uint8Array } | null>;
  readonly times: () => Promise<ReleaseIndex['times']>;
}

interface UploadReport {
  readonly releases: number;
  readonly objects: number;
  readonly bytes: number;
  readonly isIndexWritten: boolean;
}

interface Uploader {
  /**
   * Uploads changes, one call at a time. With `withTimes`, writes when upstreams last answered even if nothing else changed.
   *
   * @throws TARGET_UNREACHABLE, TARGET_REFUSED, TARGET_BUSY; uploaded objects stay, and the next call continues
   */
  readonly update: (withTimes?: boolean) => Promise<UploadReport>;
  /** Another node may have written to the store, so it is read again. */
  readonly forget: () => void;
}

const CONCURRENCY = 16;
/** The index is written after this many releases, so that web nodes see progress of a first upload. */
const RELEASES_PER_INDEX = 50;

interface Memory {
  index: ReleaseIndex;
  version: string | null;
  /** Plain digest of what `index.site` holds. */
  siteDigest: string | null;
  readonly objects: NeededObjects;
  /** Release numbers that this process uploaded. If a smaller one is served later, an operator rolled back. */
  readonly written: Map<string, number>;
  /** Pages that were uploaded before their compressed variants were made. */
  readonly uncompressed: Set<string>;
}

export function createUploader(deps: UploadDeps): Uploader {
  const { folders } = deps;
  const store = fenced(deps);
  const inTurn = pLimit(1);
  let memory: Memory | null = null;

  async function remember(): Promise<Memory> {
    if (memory !== null) return memory;
    const found = await store.getIfOther(INDEX_KEY, null);
    const index = found?.bytes == null ? NO_RELEASES : (parseIndex(found.bytes) ?? NO_RELEASES);
    const releases = new Map<string, ReadonlySet<string> | null>();
    const uncompressed = new Set<string>();
    await pLimit(CONCURRENCY).map(Object.entries(index.pages), async ([slug, { manifest }]) => {
      const bytes = await store.get(objectKey(manifest));
      const named = bytes === null ? null : parseManifest(bytes);
      releases.set(slug, named === null ? null : objectsOf(named, manifest));
      if (named !== null && withoutVariants(named).length > 0) uncompressed.add(slug);
    });
    const objects = await needObjects(store, releases, index.site);
    memory = { index, version: found?.version ?? null, siteDigest: null, objects, written: new Map(), uncompressed };
    return memory;
  }

  async function writeIndex(known: Memory, next: ReleaseIndex): Promise<void> {
    known.version = await store.replace(INDEX_KEY, Buffer.from(JSON.stringify(next)), known.version);
    known.index = next;
  }

  /** The release that the index should name; null: none. Undefined: leave the entry as it is. */
  function wanted(known: Memory, slug: string): IdentifiedManifest | null | undefined {
    const there = known.index.pages[slug];
    const stays = there !== undefined && deps.isShown(slug, there.access) === false ? null : undefined;
    const served = servedRelease(folders, slug);
    if (served === null || (served.number === there?.number && !known.uncompressed.has(slug))) return stays;
    // Another node has published a newer release, which isn't published here yet.
    const isBehind = there !== undefined && there.number > served.number;
    if (isBehind && known.written.get(slug) !== there.number) return stays;
    const found = identifyManifest(folders, slug, served.number);
    if (found?.digest === there?.manifest) return stays;
    return found !== null && deps.isShown(slug, found.manifest.access) === true ? found : stays;
  }

  async function uploadRelease(known: Memory, { manifest, digest }: IdentifiedManifest): Promise<[number, number]> {
    const there = known.objects.of(manifest.slug);
    const placeOf = filePlaces(folders, manifest);
    const folder = releaseFolder(folders, manifest.slug, manifest.number);
    const files = new Map<string, string>([
      [objectKey(digest), join(folder, 'manifest.json')],
      [objectKey(manifest.dataSha256), join(folder, 'data.json')],
    ]);
    for (const [path, record] of Object.entries(manifest.files))
      files.set(fileKey(record), placeOf(path) + (isStoredCompressed(record) ? '.br' : ''));
    let bytes = 0;
    const missing = [...files].filter(([key]) => !there.has(key));
    await pLimit(CONCURRENCY).map(missing, async ([key, file]) => {
      const body = readFileSync(file);
      await store.put(key, body);
      bytes += body.length;
    });
    return [missing.length, bytes];
  }

  async function update(withTimes: boolean): Promise<UploadReport> {
    const known = await remember();
    const slugs = new Set([...publishedSlugs(folders), ...Object.keys(known.index.pages)]);
    const changes = [...slugs].flatMap((slug) => {
      const found = wanted(known, slug);
      return found === undefined ? [] : [{ slug, found }];
    });
    const leaving = changes.flatMap(({ slug, found }) => (found === null ? [slug] : []));
    let isIndexWritten = leaving.length > 0;
    if (leaving.length > 0) {
      const pages = Object.fromEntries(Object.entries(known.index.pages).filter(([slug]) => !leaving.includes(slug)));
      await writeIndex(known, { ...known.index, pages });
      await known.objects.replace(leaving.map((slug) => [slug, null]));
    }
    const site = await uploadSite(known);
    const tally = { releases: 0, objects: 0, bytes: 0 };
    const coming = changes.flatMap(({ found }) => found ?? []);
    for (let start = 0; start < coming.length; start += RELEASES_PER_INDEX) {
      const some = coming.slice(start, start + RELEASES_PER_INDEX);
      for (const found of some) {
        const [objects, bytes] = await uploadRelease(known, found);
        tally.objects += objects;
        tally.bytes += bytes;
      }
      // A release that is no longer served may have been made for other access rules.
      const current = some.filter(({ manifest: { slug, number } }) => currentNumber(folders, slug) === number);
      const pointers = current.map(({ manifest: { slug, number, access }, digest }) => [
        slug,
        { number, manifest: digest, access },
      ]);
      const pages = { ...known.index.pages, ...Object.fromEntries(pointers) };
      await writeIndex(known, { ...known.index, pages, site, times: await deps.times() });
      isIndexWritten = true;
      for (const { manifest } of current) {
        known.written.set(manifest.slug, manifest.number);
        if (withoutVariants(manifest).length > 0) known.uncompressed.add(manifest.slug);
        else known.uncompressed.delete(manifest.slug);
      }
      // All pages at once, because one page may need what another no longer needs.
      await known.objects.replace(current.map(({ manifest, digest }) => [manifest.slug, objectsOf(manifest, digest)]));
      tally.releases += current.length;
    }
    const times = withTimes ? await deps.times() : known.index.times;
    if (site !== known.index.site || JSON.stringify(times) !== JSON.stringify(known.index.times)) {
      await writeIndex(known, { ...known.index, site, times });
      isIndexWritten = true;
    }
    if (isIndexWritten) await known.objects.sweep(site);
    return { ...tally, isIndexWritten };
  }

  async function uploadSite(known: Memory): Promise<string | null> {
    const site = await deps.site();
    if (site === null) return null;
    if (site.digest === known.siteDigest) return known.index.site;
    const sealed = site.sealed();
    const digest = digestOf(sealed);
    await store.put(objectKey(digest), sealed);
    known.siteDigest = site.digest;
    return digest;
  }

  return {
    update: (withTimes = false) =>
      inTurn(async () => {
        try {
          return await update(withTimes);
        } catch (error) {
          // After an error, the contents of the store are uncertain.
          memory = null;
          if (error instanceof NotElectedError) return { releases: 0, objects: 0, bytes: 0, isIndexWritten: false };
          throw error;
        }
      }),
    forget: () => {
      memory = null;
    },
  };
}

/** Another node has taken over uploading. */
class NotElectedError extends Error {}

/** Refuses changes once another node has taken over, because that one may need what this one would remove. */
function fenced({ store, mayUpload }: Pick<UploadDeps, 'store' | 'mayUpload'>): ReleaseStore {
  const require = async (): Promise<void> => {
    if (!(await mayUpload())) throw new NotElectedError();
  };
  return {
    ...store,
    put: (...args) => require().then(() => store.put(...args)),
    replace: (...args) => require().then(() => store.replace(...args)),
    remove: (...args) => require().then(() => store.remove(...args)),
  };
}
