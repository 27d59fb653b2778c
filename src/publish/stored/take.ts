/**
 * Copies releases of another node from a store into the same folders as if they had been rendered here, so they are served in
 * the same way, even while the store is unreachable. A new page is served once its manifest is here; files follow when they are
 * first requested, or in the background. A newer release is served once it is complete. A file that doesn't match its digest is
 * never written where it could be served.
 */

import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import pLimit from 'p-limit';
import type { NextRelease } from '../publish-control.ts';
import { prune } from '../releases/clean.ts';
import type { SiteReleaseData } from '../releases/close.ts';
import { DISK } from '../releases/disk.ts';
import { publishedSlugs, type ReleaseFolders, releaseFolder, SITE_SLUG, servedRelease } from '../releases/folders.ts';
import { type FileRecord, filePlaces, type Manifest, parseManifest, readManifest } from '../releases/manifest.ts';
import { makePageFolders, modesOf, setModes } from '../releases/modes.ts';
import { switchTo, withdraw } from '../releases/switch.ts';
import { isInside } from '../targets/static-file.ts';
import {
  digestOf,
  fileKey,
  INDEX_KEY,
  isStoredCompressed,
  objectKey,
  type Pointer,
  parseIndex,
  type ReleaseIndex,
  type ReleaseStore,
} from './release-store.ts';

export interface TakeDeps {
  readonly store: ReleaseStore;
  readonly folders: ReleaseFolders;
  /** Whether the current access rules allow a release to be served. */
  readonly mayServe: (release: NextRelease) => Promise<boolean>;
  /** Called with each new index before its releases are copied, and with the encrypted definitions if they are new. */
  readonly onIndex?: (index: ReleaseIndex, site: Buffer | null) => Promise<void>;
  /** Called when a page can't be copied; it is tried again. */
  readonly onError: (error: unknown) => void;
}

export interface Taker {
  /**
   * Copies new releases.
   * @returns how many
   * @throws TARGET_UNREACHABLE, TARGET_REFUSED
   */
  readonly refresh: () => Promise<number>;
  /** Fetches the files that a request needs. Never throws; null: all are here. */
  readonly ensure: (slug: string, path: string) => Promise<void> | null;
  /** Whether the index was read, or there are releases from before. */
  readonly hasReleases: () => boolean;
  /** Resolves when all files of served releases are here, or no more can be fetched. */
  readonly filled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Parallel requests for manifests, and for files. */
const CONCURRENCY = 24;
/** File with the digest of the manifest in the store. The local manifest differs: it lists only the copied variants. */
const TAKEN = 'taken';
const unpack = promisify(brotliDecompress);

interface Local {
  readonly pointer: Pointer;
  readonly manifest: Manifest;
  isWhole: boolean;
}

export function createTaker(deps: TakeDeps): Taker {
  const { store, folders } = deps;
  const place = { disk: DISK, folders };
  const inTurn = pLimit(1);
  const filling = pLimit(1);
  const locals = new Map<string, Local>();
  const taking = new Map<string, Promise<boolean>>();
  const fetching = new Map<string, Promise<void>>();
  let index: ReleaseIndex | null = null;
  let version: string | null = null;
  let site: string | null = null;
  let isClosed = false;

  async function object(digest: string): Promise<Buffer> {
    const bytes = await store.get(objectKey(digest));
    if (bytes === null) throw new Error(`${store.place} is missing the object ${digest}`);
    if (digestOf(bytes) !== digest)
      throw new Error(`the object ${digest} in ${store.place} is damaged: it does not match its name`);
    return bytes;
  }

  /** Reads releases on disk from before this process started. */
  function recall(): void {
    for (const slug of publishedSlugs(folders)) {
      const served = servedRelease(folders, slug);
      const manifest = served === null ? null : readManifest(folders, slug, served.number);
      const file = served === null ? '' : join(releaseFolder(folders, slug, served.number), TAKEN);
      if (manifest === null || !existsSync(file)) continue;
      const { number, access } = manifest;
      locals.set(slug, {
        pointer: { number, access, manifest: readFileSync(file, 'utf8') },
        manifest,
        isWhole: false,
      });
    }
  }
  recall();

  /** Copies the manifest and the data for badges, but no files. */
  async function takeManifest(slug: string, pointer: Pointer): Promise<Manifest> {
    const manifest = parseManifest(await object(pointer.manifest));
    const isNamed = manifest?.slug === slug && manifest.number === pointer.number && manifest.access === pointer.access;
    if (!isNamed || !hasOwnPlaces(manifest))
      throw new Error(`release ${pointer.number} of ${slug} does not match the index`);
    const data = await object(manifest.dataSha256);
    const modes = modesOf(manifest.access === 'public');
    makePageFolders(place, slug, modes);
    const folder = releaseFolder(folders, slug, manifest.number);
    mkdirSync(join(folder, 'files'), { recursive: true, mode: modes.folder });
    const files = Object.entries(manifest.files).map(([path, record]) => [
      path,
      { ...record, variants: isStoredCompressed(record) ? ['br'] : [] },
    ]);
    const own: Manifest = { ...manifest, files: Object.fromEntries(files) };
    writeWhole(join(folder, 'data.json'), data, OWN);
    writeWhole(join(folder, TAKEN), Buffer.from(pointer.manifest), OWN);
    writeWhole(join(folder, 'manifest.json'), Buffer.from(JSON.stringify(own)), OWN);
    return own;
  }

  async function listedBy({ slug, number }: Manifest): Promise<readonly string[]> {
    if (slug !== SITE_SLUG) return [];
    const data = readFileSync(join(releaseFolder(folders, slug, number), 'data.json'), 'utf8');
    return (JSON.parse(data) as SiteReleaseData).listed;
  }

  /**
   * Copies a release.
   * @returns whether it is served now
   */
  async function takePage(slug: string, pointer: Pointer): Promise<boolean> {
    const before = locals.get(slug);
    const manifest = await takeManifest(slug, pointer);
    const { number, access } = manifest;
    // The site's own files are few, and needed for every page (404).
    const isLazy = before === undefined && slug !== SITE_SLUG;
    if (!isLazy) await takeFiles(manifest, Object.keys(manifest.files), before?.manifest ?? null);
    if (before !== undefined && before.manifest.access !== access) setModes(place, manifest);
    if (!(await deps.mayServe({ slug, access, listed: await listedBy(manifest) }))) return false;
    // A newer release arrived while this one was copied.
    if (index?.pages[slug]?.manifest !== pointer.manifest) return false;
    await switchTo(place, { slug, number, isPublic: access === 'public' });
    locals.set(slug, { pointer, manifest, isWhole: !isLazy });
    if (before !== undefined) prune(place, slug);
    return true;
  }

  function takeOnce(slug: string, pointer: Pointer): Promise<boolean> {
    const key = `${slug}/${pointer.manifest}`;
    return taking.getOrInsertComputed(key, () =>
      takePage(slug, pointer).finally(() => {
        taking.delete(key);
      }),
    );
  }

  function takeFiles(manifest: Manifest, paths: readonly string[], before: Manifest | null): Promise<unknown> {
    return pLimit(CONCURRENCY).map(paths, (path) => takeFile(manifest, path, before));
  }

  function takeFile(manifest: Manifest, path: string, before: Manifest | null): Promise<void> {
    const record = manifest.files[path];
    const target = filePlaces(folders, manifest)(path);
    if (record === undefined || isThere(target, record)) return Promise.resolve();
    return fetching.getOrInsertComputed(target, () =>
      fetchFile({ manifest, path, record, target, before }).finally(() => {
        fetching.delete(target);
      }),
    );
  }

  async function fetchFile({ manifest, path, record, target, before }: Missing): Promise<void> {
    const modes = modesOf(manifest.access === 'public');
    mkdirSync(dirname(target), { recursive: true, mode: modes.folder });
    if (before?.files[path]?.sha256 === record.sha256 && isLinked(filePlaces(folders, before)(path), target, record))
      return;
    const isCompressed = isStoredCompressed(record);
    const stored = await store.get(fileKey(record));
    if (stored === null) throw new Error(`${store.place} is missing ${path} of ${manifest.slug}`);
    const body = isCompressed ? await unpack(stored, { maxOutputLength: Math.max(1, record.bytes) }) : stored;
    if (digestOf(body) !== record.sha256)
      throw new Error(`${path} of ${manifest.slug} in ${store.place} does not match its release`);
    if (isCompressed) writeWhole(`${target}.br`, stored, modes.file);
    writeWhole(target, body, modes.file);
  }

  async function fill(): Promise<void> {
    // First `index.html` of every page, which visitors see first.
    const missing = (): [string, Local][] => [...locals].filter(([, { isWhole }]) => !isWhole);
    const each = pLimit(CONCURRENCY);
    await each.map(missing(), ([, { manifest }]) => takeFile(manifest, 'index.html', null).catch(deps.onError));
    for (const [slug, local] of missing()) {
      if (isClosed) return;
      try {
        await takeFiles(local.manifest, Object.keys(local.manifest.files), null);
        local.isWhole = true;
      } catch (error) {
        // The release may have been replaced and removed from the store in the meantime.
        if (locals.get(slug) === local) deps.onError(error);
      }
    }
  }

  async function refresh(): Promise<number> {
    const found = await store.getIfOther(INDEX_KEY, version);
    if (found !== null) {
      const next = found.bytes === null ? null : parseIndex(found.bytes);
      if (next === null)
        throw new Error(`${store.place} has no releases yet, or only those of another version of Pharos`);
      const isNewSite = next.site !== null && next.site !== site;
      await deps.onIndex?.(next, isNewSite && next.site !== null ? await object(next.site) : null);
      [index, version, site] = [next, found.version, next.site];
    }
    if (index === null) return 0;
    const { pages } = index;
    for (const slug of publishedSlugs(folders))
      if (pages[slug] === undefined) {
        locals.delete(slug);
        await withdraw(place, slug);
      }
    const changed = Object.entries(pages).filter(
      ([slug, { manifest }]) => locals.get(slug)?.pointer.manifest !== manifest,
    );
    const taken = await pLimit(CONCURRENCY).map(changed, ([slug, pointer]) =>
      takeOnce(slug, pointer).catch((error: unknown) => {
        deps.onError(error);
        return false;
      }),
    );
    if ([...locals.values()].some(({ isWhole }) => !isWhole) && filling.activeCount === 0)
      filling(fill).catch(deps.onError);
    return taken.filter((isTaken) => isTaken).length;
  }

  async function bring(slug: string, path: string): Promise<void> {
    try {
      const pointer = index?.pages[slug];
      if (!locals.has(slug) && pointer !== undefined) await takeOnce(slug, pointer);
      const local = locals.get(slug);
      if (local !== undefined) await takeFiles(local.manifest, pathsFor(local.manifest, path), null);
    } catch (error) {
      deps.onError(error);
    }
  }

  return {
    refresh: () => inTurn(refresh),
    ensure: (slug, path) => (locals.get(slug)?.isWhole === true ? null : bring(slug, path)),
    hasReleases: () => index !== null || locals.size > 0,
    filled: () => filling(() => undefined),
    close: async () => {
      isClosed = true;
      await store.close();
      await inTurn(() => undefined);
      await filling(() => undefined);
    },
  };
}

const OWN = 0o600;

interface Missing {
  readonly manifest: Manifest;
  readonly path: string;
  readonly record: FileRecord;
  readonly target: string;
  readonly before: Manifest | null;
}

/** Returns the files that the response for a path may need. */
function pathsFor({ files }: Manifest, path: string): readonly string[] {
  const named = [path, `${path}index.html`].filter((one) => Object.hasOwn(files, one));
  // Single components and incidents come from the lists.
  return path.startsWith(V2) ? Object.keys(files).filter((one) => one.startsWith(V2)) : named;
}

const V2 = 'api/v2/';

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
