/**
 * Brings a store of releases in line with what is served here: first what is no longer to be seen leaves the index, then
 * the objects of each new release come, and the index last, so that whoever reads it finds all that it names.
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
  /** Whether this node is the one that uploads; asked before anything changes there. */
  readonly mayUpload: () => Promise<boolean>;
  /** Whether a release may be shown by what is known of gates; null: that is not known yet. */
  readonly isShown: (slug: string, access: Pointer['access']) => boolean | null;
  /** What nodes without the database need, sealed, and a digest of what is in it; null: they get nothing. */
  readonly site: () => Promise<{ readonly digest: string; readonly sealed: () => Uint8Array } | null>;
  readonly times: () => Promise<ReleaseIndex['times']>;
}

export interface UploadReport {
  readonly releases: number;
  readonly objects: number;
  readonly bytes: number;
  readonly isIndexWritten: boolean;
}

export interface Uploader {
  /**
   * One at a time; nothing that has not changed is read again. With `withTimes`, when upstreams were heard is written even
   * if nothing else is.
   *
   * @throws TARGET_UNREACHABLE, TARGET_REFUSED, TARGET_BUSY; what was uploaded stays, and the next call goes on from there
   */
  readonly update: (withTimes?: boolean) => Promise<UploadReport>;
  /** Somebody else may have written there: it is read again. */
  readonly forget: () => void;
}

const CONCURRENCY = 16;
/** Releases between two writes of the index, so that a first upload is seen to come. */
const RELEASES_PER_INDEX = 50;

interface Memory {
  index: ReleaseIndex;
  version: string | null;
  /** Plain digest of what `index.site` holds. */
  siteDigest: string | null;
  readonly objects: NeededObjects;
  /** Numbers that this process wrote: a smaller one that is served since is a step back that somebody asked for. */
  readonly written: Map<string, number>;
  /** Pages whose release was uploaded before its variants were made. */
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

  /** The release of a page that is to be in the index; null: none. Undefined: what is there stays. */
  function wanted(known: Memory, slug: string): IdentifiedManifest | null | undefined {
    const there = known.index.pages[slug];
    const stays = there !== undefined && deps.isShown(slug, there.access) === false ? null : undefined;
    const served = servedRelease(folders, slug);
    if (served === null || (served.number === there?.number && !known.uncompressed.has(slug))) return stays;
    // What another node published may not be published here yet.
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
      // One that was switched away from meanwhile may have been for another gate.
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
      // All at once: what one page needs no more, another may need since.
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
          // What is there is not known for sure any more.
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

/** Another node has taken over; it goes on. */
class NotElectedError extends Error {}

/** Changes nothing once another node has taken over, which may need what this one would remove. */
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
