/**
 * Copies releases of another node from a store into the same folders as if they had been rendered here, so they are served in
 * the same way, even while the store is unreachable. A new page is served once its manifest is here; files follow when they are
 * first requested, or in the background. A newer release is served once it is complete.
 */

import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import pLimit from 'p-limit';
import type { NextRelease } from '../publish-control.ts';
import { listedPages, prune } from '../releases/clean.ts';
import { DISK } from '../releases/disk.ts';
import {
  poolFolder,
  publishedSlugs,
  type ReleaseFolders,
  releaseFolder,
  SITE_SLUG,
  servedRelease,
} from '../releases/folders.ts';
import {
  type FileRecord,
  filePlaces,
  type Manifest,
  parseManifest,
  readManifest,
  releasePage,
} from '../releases/manifest.ts';
import { chooseModes, makePageFolders, setModes } from '../releases/modes.ts';
import { hideFromPublic, switchTo, withdraw } from '../releases/switch.ts';
import {
  fileKey,
  isInside,
  isStoredCompressed,
  objectKey,
  RELEASE_INDEX,
  type ReleaseEntry,
  type ReleaseIndex,
  readLedger,
} from './ledger.ts';
import { type ObjectStore, objectDigest } from './object-store.ts';

interface TakeDeps {
  readonly store: ObjectStore;
  readonly folders: ReleaseFolders;
  /** Whether the current access rules allow a release to be served. */
  readonly mayServe: (release: NextRelease) => Promise<boolean>;
  /** Called with each new index before its releases are copied, and with the encrypted definitions if they are new. */
  readonly onIndex?: (index: ReleaseIndex, site: Buffer | null) => Promise<void>;
  /** Called when a page can't be copied; it is tried again. */
  readonly onError: (error: unknown) => void;
}

export type Taker = ReturnType<typeof createTaker>;

interface Local {
  readonly entry: ReleaseEntry;
  readonly manifest: Manifest;
  isWhole: boolean;
}

interface Copies {
  readonly files: ReturnType<typeof createFileTaker>;
  readonly locals: Map<string, Local>;
}

export function createTaker(deps: TakeDeps) {
  const { store, folders, onError } = deps;
  const inTurn = pLimit(1);
  const filling = pLimit(1);
  const copies = { files: createFileTaker(store, folders), locals: recallTaken(folders) };
  const { files, locals } = copies;
  const taking = new Map<string, Promise<boolean>>();
  let index: ReleaseIndex | null = null;
  let version: string | null = null;
  let isClosed = false;

  function takeOnce(slug: string, entry: ReleaseEntry): Promise<boolean> {
    const key = `${slug}/${entry.manifest}`;
    // A newer release may arrive while this one is copied.
    const isCurrent = (): boolean => index?.pages[slug]?.manifest === entry.manifest;
    return taking.getOrInsertComputed(key, () =>
      takePage(deps, copies, { slug, entry, isCurrent }).finally(() => {
        taking.delete(key);
      }),
    );
  }

  /** Closes pages that are gone or private by the index, also if this node can't read the definitions or has older ones. */
  async function closeOthers(pages: ReleaseIndex['pages']): Promise<void> {
    for (const slug of publishedSlugs(folders)) {
      if (pages[slug]?.access === 'public') continue;
      await (pages[slug] === undefined ? withdraw : hideFromPublic)({ disk: DISK, folders }, slug);
      if (pages[slug] === undefined) locals.delete(slug);
    }
  }

  /** Null: it was never read. */
  async function readIndex(): Promise<ReleaseIndex | null> {
    const found = await readLedger(store, RELEASE_INDEX, version);
    if (found.kind === 'unchanged') return index;
    if (found.kind !== 'read')
      throw new Error(`${store.place} has no releases yet, or only those of another version of Pharos`);
    const { site, pages } = found.ledger;
    await closeOthers(pages);
    const isNewSite = site !== null && site !== index?.site;
    await deps.onIndex?.(found.ledger, isNewSite ? await files.takeObject(site) : null);
    [index, version] = [found.ledger, found.version];
    // A copy that was begun for the former index may have been switched to meanwhile, but no later one is.
    await closeOthers(pages);
    return index;
  }

  async function refresh(): Promise<number> {
    const pages = (await readIndex())?.pages;
    if (pages === undefined) return 0;
    const changed = Object.entries(pages).filter(
      ([slug, { manifest }]) => locals.get(slug)?.entry.manifest !== manifest,
    );
    const taken = await pLimit(CONCURRENCY).map(changed, ([slug, entry]) =>
      takeOnce(slug, entry).catch((error: unknown) => {
        onError(error);
        return false;
      }),
    );
    if ([...locals.values()].some(({ isWhole }) => !isWhole) && filling.activeCount === 0)
      filling(() => fillReleases(copies, onError, () => isClosed)).catch(onError);
    return taken.filter((isTaken) => isTaken).length;
  }

  async function takeFor(slug: string, path: string): Promise<void> {
    try {
      const entry = index?.pages[slug];
      if (!locals.has(slug) && entry !== undefined) await takeOnce(slug, entry);
      const local = locals.get(slug);
      if (local !== undefined) await files.takeFiles(local.manifest, pathsFor(local.manifest, path), null);
    } catch (error) {
      onError(error);
    }
  }

  return {
    /** Copies new releases. @returns how many @throws TARGET_UNREACHABLE, TARGET_REFUSED */
    refresh: () => inTurn(refresh),
    /** Fetches the files that a request needs. Never throws; null: all are here. */
    ensure: (slug: string, path: string) => (locals.get(slug)?.isWhole === true ? null : takeFor(slug, path)),
    /** Whether the index was read, or there are releases from before. */
    hasReleases: () => index !== null || locals.size > 0,
    /** Resolves when all files of served releases are here, or no more can be fetched. */
    filled: () => filling(() => undefined),
    close: async () => {
      isClosed = true;
      await store.close();
      await inTurn(() => undefined);
      await filling(() => undefined);
    },
  };
}

/** Copies the files that no request has needed yet. */
async function fillReleases({ files, locals }: Copies, onError: TakeDeps['onError'], isClosed: () => boolean) {
  // First `index.html` of every page, which visitors see first.
  const missing = (): [string, Local][] => [...locals].filter(([, { isWhole }]) => !isWhole);
  await pLimit(CONCURRENCY).map(missing(), ([, { manifest }]) =>
    files.takeFiles(manifest, ['index.html'], null).catch(onError),
  );
  for (const [slug, local] of missing()) {
    if (isClosed()) return;
    try {
      await files.takeFiles(local.manifest, Object.keys(local.manifest.files), null);
      local.isWhole = true;
    } catch (error) {
      // The release may have been replaced and removed from the store in the meantime.
      if (locals.get(slug) === local) onError(error);
    }
  }
}

/**
 * Copies a release.
 * @returns whether it is served now
 */
async function takePage(
  { folders, mayServe }: TakeDeps,
  { files, locals }: Copies,
  { slug, entry, isCurrent }: { slug: string; entry: ReleaseEntry; isCurrent: () => boolean },
): Promise<boolean> {
  const place = { disk: DISK, folders };
  const before = locals.get(slug);
  const manifest = await files.takeManifest(slug, entry);
  const { number, access } = manifest;
  // The site's own files are few, and needed for every page (404).
  const isLazy = before === undefined && slug !== SITE_SLUG;
  if (!isLazy) await files.takeFiles(manifest, Object.keys(manifest.files), before?.manifest ?? null);
  if (before !== undefined && before.manifest.access !== access) setModes(place, manifest);
  const release =
    slug === SITE_SLUG
      ? { slug, page: null, access, listed: listedPages(folders, number) }
      : { slug, page: releasePage(manifest), access, listed: [] };
  if (!(await mayServe(release)) || !isCurrent()) return false;
  await switchTo(place, { slug, number, isPublic: access === 'public' });
  locals.set(slug, { entry, manifest, isWhole: !isLazy });
  if (before !== undefined) prune(place, slug);
  return true;
}

/** Whether the served release of a page came from a store, so that this node doesn't render. */
export function isTaken(folders: ReleaseFolders, slug: string): boolean {
  const served = servedRelease(folders, slug);
  return served !== null && existsSync(join(releaseFolder(folders, slug, served.number), TAKEN));
}

/** Releases on disk that were copied before this process started. */
function recallTaken(folders: ReleaseFolders): Map<string, Local> {
  const locals = new Map<string, Local>();
  for (const slug of publishedSlugs(folders)) {
    const served = servedRelease(folders, slug);
    const manifest = served === null ? null : readManifest(folders, slug, served.number);
    const file = served === null ? '' : join(releaseFolder(folders, slug, served.number), TAKEN);
    if (manifest === null || !existsSync(file)) continue;
    const { number, access, page } = manifest;
    const entry = { number, access, page, manifest: readFileSync(file, 'utf8') };
    locals.set(slug, { entry, manifest, isWhole: false });
  }
  return locals;
}

/** Returns the files that the response for a path may need. */
function pathsFor({ files }: Manifest, path: string): readonly string[] {
  // Single components and incidents come from the lists.
  if (path.startsWith(V2)) return Object.keys(files).filter((one) => one.startsWith(V2));
  return [path.replace(/^favicon.ico$/, 'favicon.svg'), `${path}index.html`].filter((one) => Object.hasOwn(files, one));
}

const V2 = 'api/v2/';

/** Parallel requests. */
const CONCURRENCY = 24;
/** File with the digest of the manifest in the store. The local manifest differs: it lists only the copied variants. */
const TAKEN = 'taken';
const OWN = 0o600;
const unpack = promisify(brotliDecompress);

/** Copies the manifest and the files of a release out of a store. What doesn't match its digest is never written where it could be served. */
function createFileTaker(store: ObjectStore, folders: ReleaseFolders) {
  const fetching = new Map<string, Promise<void>>();

  /** An object that isn't a file of a page. */
  async function takeObject(digest: string): Promise<Buffer> {
    const bytes = await store.get(objectKey(digest));
    if (bytes === null) throw new Error(`${store.place} is missing the object ${digest}`);
    if (objectDigest(bytes) !== digest)
      throw new Error(`the object ${digest} in ${store.place} is damaged: it does not match its name`);
    return bytes;
  }

  /** Copies the manifest and the data for badges, but no files. */
  async function takeManifest(slug: string, entry: ReleaseEntry): Promise<Manifest> {
    const manifest = parseManifest(await takeObject(entry.manifest));
    const isNamed = manifest?.slug === slug && manifest.number === entry.number && manifest.access === entry.access;
    if (!isNamed || !hasOwnPlaces(manifest))
      throw new Error(`release ${entry.number} of ${slug} does not match the index`);
    const data = await takeObject(manifest.dataSha256);
    const modes = chooseModes(manifest.access === 'public');
    makePageFolders({ disk: DISK, folders }, slug, modes);
    const folder = releaseFolder(folders, slug, manifest.number);
    mkdirSync(join(folder, 'files'), { recursive: true, mode: modes.folder });
    // A folder that contains only folders isn't created together with a file.
    for (const id of Object.values(manifest.folders))
      mkdirSync(join(poolFolder(folders, slug), id), { recursive: true, mode: modes.folder });
    const files = Object.entries(manifest.files).map(([path, record]) => [
      path,
      { ...record, variants: isStoredCompressed(record) ? ['br'] : [] },
    ]);
    const own: Manifest = { ...manifest, files: Object.fromEntries(files) };
    writeWhole(join(folder, 'data.json'), data, OWN);
    writeWhole(join(folder, TAKEN), Buffer.from(entry.manifest), OWN);
    writeWhole(join(folder, 'manifest.json'), Buffer.from(JSON.stringify(own)), OWN);
    return own;
  }

  function takeFile(manifest: Manifest, path: string, before: Manifest | null): Promise<void> {
    const record = manifest.files[path];
    const target = filePlaces(folders, manifest)(path);
    if (record === undefined || isThere(target, record)) return Promise.resolve();
    return fetching.getOrInsertComputed(target, () =>
      fetchFile(manifest, path, record, before).finally(() => {
        fetching.delete(target);
      }),
    );
  }

  async function fetchFile(manifest: Manifest, path: string, record: FileRecord, before: Manifest | null) {
    const target = filePlaces(folders, manifest)(path);
    const modes = chooseModes(manifest.access === 'public');
    mkdirSync(dirname(target), { recursive: true, mode: modes.folder });
    const isSame = before?.files[path]?.sha256 === record.sha256;
    if (isSame && isLinked(filePlaces(folders, before)(path), target, record)) return;
    const isCompressed = isStoredCompressed(record);
    const stored = await store.get(fileKey(record));
    if (stored === null) throw new Error(`${store.place} is missing ${path} of ${manifest.slug}`);
    const body = isCompressed ? await unpack(stored, { maxOutputLength: Math.max(1, record.bytes) }) : stored;
    if (objectDigest(body) !== record.sha256)
      throw new Error(`${path} of ${manifest.slug} in ${store.place} does not match its release`);
    if (isCompressed) writeWhole(`${target}.br`, stored, modes.file);
    writeWhole(target, body, modes.file);
  }

  return {
    takeObject,
    takeManifest,
    /** Copies files that aren't here, or links to those of the release before. */
    takeFiles: (manifest: Manifest, paths: readonly string[], before: Manifest | null) =>
      pLimit(CONCURRENCY).map(paths, (path) => takeFile(manifest, path, before)),
  };
}

/** Whether all paths in a manifest are inside the page's folder. */
function hasOwnPlaces({ files, folders }: Manifest): boolean {
  return (
    Object.keys(files).every(isInside) &&
    Object.keys(folders).every(isInside) &&
    Object.values(folders).every((id) => /^\d+-\d+$/.test(id))
  );
}

function isThere(target: string, record: FileRecord): boolean {
  const isWhole = statSync(target, { throwIfNoEntry: false })?.size === record.bytes;
  return isWhole && (!isStoredCompressed(record) || existsSync(`${target}.br`));
}

/** Links to the same file of the previous release. */
function isLinked(from: string, to: string, record: FileRecord): boolean {
  if (!isThere(from, record)) return false;
  for (const suffix of ['.br', ''])
    if ((suffix === '' || isStoredCompressed(record)) && !existsSync(to + suffix)) linkSync(from + suffix, to + suffix);
  return true;
}

/** Writes a file under a temporary name first, so that it is never incomplete. */
function writeWhole(file: string, bytes: Uint8Array, mode: number): void {
  const draft = `${file}.part`;
  writeFileSync(draft, bytes, { mode });
  renameSync(draft, file);
}
