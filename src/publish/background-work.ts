/**
 * What follows a publish: the list of pages; compressed variants, quick ones at once and as small as they get when there is time, beside the
 * files of the release being served; the files that the news left as they were and pictures, which take a tenth of a second
 * each, in releases of their own; and in the end, releases that nobody needs any more are removed.
 */

import { readFileSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { compressBest, compressQuick } from './draw/compress.ts';
import {
  type PagePublisher,
  type PlannedTask,
  POOL_PAGES_MIN,
  type WithFence,
  type WorkerPool,
} from './page/page-publisher.ts';
import { suffixOf, type Variant } from './releases/compressions.ts';
import type { Disk } from './releases/disk.ts';
import { currentNumber, type ReleaseFolders } from './releases/folders.ts';
import { heldRelease } from './releases/hold.ts';
import { filePlaces, type Manifest } from './releases/manifest.ts';
import type { Fence } from './releases/publish-lease.ts';
import { withoutVariants, writeVariants } from './releases/variants.ts';

export interface BackgroundDeps {
  readonly disk: Disk;
  readonly folders: ReleaseFolders;
  readonly pages: PagePublisher;
  readonly withFence: WithFence;
  /** Publishes the site's own files, as far as nobody did since they were added. */
  readonly publishSite: (fence: Fence) => Promise<void>;
  /** Resolves when no run publishes: what follows never competes with news. */
  readonly idle: () => Promise<unknown>;
  /** When something last happened, on the clock of `performance.now()`. */
  readonly newsAt: () => number;
  readonly workers: WorkerPool | null;
  /** Told which release of a page is served by now; null: files of it could not be drawn. */
  readonly onRelease: (slug: string, number: number | null) => void;
  readonly onError: (error: unknown) => void;
}

export interface BackgroundWork {
  /** The site's own files are to tell of news. */
  readonly addSite: () => void;
  /** Files of a page wait to be drawn. */
  readonly addDeferred: (task: PlannedTask) => void;
  /** The release of a page that is being served has files without variants. */
  readonly addVariants: (slug: string) => void;
  /** There may be releases of a page that nobody needs any more. */
  readonly addOutdated: (slug: string) => void;
  /** Pages of which something waits. */
  readonly waiting: () => ReadonlySet<string>;
  /** Resolves when no file waits any more. */
  readonly settled: () => Promise<void>;
  /** Resolves when nothing goes on; what waits is dropped. */
  readonly close: () => Promise<void>;
}

/** Of the time, so that a site of thousands of pages does not keep a core busy with a few percent of bytes. */
const VARIANTS_SHARE = 0.1;
/** Of the time: news waits while the list of pages is drawn, which takes a quarter of a second for 10,000 of them. */
const SITE_SHARE = 0.1;
/** Pages whose smallest variants wait; beyond that the oldest keep the quick ones. */
const VARIANTS_MAX = 2_000;
/** Files whose variants are in memory at once. */
const VARIANTS_BATCH = 256;
/** More than a change draws: a page was published as a whole, and its files are compressed more quickly. */
const CHANGED_FILES_MAX = 32;
/** For how long nothing has to have happened before something is done, and for how long that is waited for at most. */
interface Calm {
  readonly forMs: number;
  readonly msMax: number;
}

/** News often comes in a burst: what follows one keeps the next of it waiting no longer than its own files take. */
const BREATH: Calm = { forMs: 20, msMax: 1_000 };
/** The last percent of bytes can wait. */
const CALM: Calm = { forMs: 2_000, msMax: Infinity };
/**
 * Old releases go once nothing happens, since ext4 is many times as slow to make files where many were just removed; but they
 * are never waited for longer than this, so that a disk does not fill where something always happens.
 */
const OUTDATED_CALM: Calm = { ...CALM, msMax: 60_000 };
/** A page takes some milliseconds, in which a run would have to wait. */
const OUTDATED_BATCH = 4;
/** What visitors see first stays within the first packets, however much there is to do. */
const FIRST_VIEW = 'index.html';
/** In smaller files there is nothing to gain. */
const VARIANTS_BYTES_MIN = 4_096;

/** Files of a page whose variants were made quickly, in whichever of its releases. */
interface QuickVariants {
  readonly slug: string;
  readonly paths: Set<string>;
}

export function createBackgroundWork(deps: BackgroundDeps): BackgroundWork {
  const deferred = new Map<string, PlannedTask>();
  const unmade = new Set<string>();
  const quick = new LRUCache<string, QuickVariants>({ max: VARIANTS_MAX });
  const closing = new AbortController();
  const drawing = pLimit(1);
  /** What is being drawn or waits for it. */
  const running = new Set<Promise<void>>();
  const improving = pLimit(1);
  const outdated = new Set<string>();
  const pruning = pLimit(1);
  let isSiteWaiting = false;
  /** When the list of pages may be drawn again, on the clock of `performance.now()`. */
  let siteFrom = 0;

  /** Ends early, and without a fault, when everything ends. @param ref  whether the process stays for it */
  const pause = (ms: number, ref = false): Promise<void> =>
    setTimeout(ms, undefined, { signal: closing.signal, ref }).catch(() => undefined);

  /** Resolves when no run publishes and nothing has happened for a while, or everything ends. */
  async function calm({ forMs, msMax }: Calm): Promise<void> {
    const latest = performance.now() + msMax;
    let waitedAfter: number | null = null;
    for (;;) {
      await deps.idle();
      const newsAt = deps.newsAt();
      const left = Math.min(newsAt + forMs, latest) - performance.now();
      if (left <= 0 || newsAt === waitedAfter || closing.signal.aborted) return;
      waitedAfter = newsAt;
      // Whoever waits until everything is settled waits for what follows a breath.
      await pause(left, forMs === BREATH.forMs);
    }
  }

  async function publishSite(): Promise<void> {
    await calm(BREATH);
    isSiteWaiting = false;
    if (closing.signal.aborted) return;
    await deps.withFence(async (fence) => {
      const started = performance.now();
      await deps.publishSite(fence);
      const ended = performance.now();
      siteFrom = ended + (ended - started) * (1 / SITE_SHARE - 1);
    });
  }

  async function pruneAll(): Promise<void> {
    if (outdated.size === 0) return;
    await calm(OUTDATED_CALM);
    while (outdated.size > 0) {
      const some = [...outdated].slice(0, OUTDATED_BATCH);
      for (const slug of some) outdated.delete(slug);
      await deps
        .withFence(async () => {
          for (const slug of some) deps.pages.prune(slug);
        })
        // What is left is removed after the next release of the page.
        .catch(deps.onError);
    }
  }

  async function drawDeferred(): Promise<void> {
    if (deferred.size === 0) return;
    await calm(BREATH);
    const workers = deferred.size >= POOL_PAGES_MIN ? deps.workers : null;
    for (const [slug, task] of deferred) {
      if (closing.signal.aborted) break;
      deferred.delete(slug);
      if (heldRelease(deps.folders, slug) !== null) {
        deps.onRelease(slug, null);
        continue;
      }
      const served = currentNumber(deps.folders, slug);
      try {
        const { manifest } = await deps.pages.publish({ ...task, priority: 'deferred' }, deps.withFence, workers);
        if (manifest !== null) {
          deps.onRelease(slug, manifest.number);
          addVariants(slug);
        }
      } catch (error) {
        // News came first and has its own files waiting: nothing is lost and nothing failed.
        if (currentNumber(deps.folders, slug) === served) {
          deps.onRelease(slug, null);
          deps.onError(error);
        }
      }
      await deps.idle();
    }
    await workers?.terminate();
  }

  async function makeVariants(): Promise<void> {
    for (const slug of unmade) {
      if (closing.signal.aborted) break;
      unmade.delete(slug);
      const number = currentNumber(deps.folders, slug);
      const manifest = number === null ? null : deps.pages.manifests.get(slug, number);
      if (manifest === null) continue;
      const paths = withoutVariants(manifest);
      const named = await makeQuick(manifest, paths);
      if (named === null) {
        if (closing.signal.aborted) unmade.add(slug);
        continue;
      }
      const waiting = quick.get(slug) ?? { slug, paths: new Set() };
      for (const path of paths) if ((named.files[path]?.bytes ?? 0) >= VARIANTS_BYTES_MIN) waiting.paths.add(path);
      quick.set(slug, waiting);
      improving(improveAll).catch(deps.onError);
    }
  }

  /** The manifest by now; null: another release is served by now, or everything ends. */
  async function makeQuick(first: Manifest, paths: readonly string[]): Promise<Manifest | null> {
    const isOfMany = paths.length > CHANGED_FILES_MAX;
    const placeOf = filePlaces(deps.folders, first);
    let manifest: Manifest | null = first;
    for (let start = 0; start < paths.length && manifest !== null; start += VARIANTS_BATCH) {
      const made = new Map<string, readonly Variant[]>();
      for (const path of paths.slice(start, start + VARIANTS_BATCH)) {
        await deps.idle();
        if (closing.signal.aborted || currentNumber(deps.folders, first.slug) !== first.number) return null;
        const body = readIfThere(placeOf(path));
        if (body === null) return null;
        const { contentType = '' } = first.files[path] ?? {};
        made.set(path, await compressQuick(contentType, body, { isOfMany: isOfMany && path !== FIRST_VIEW }));
      }
      manifest = await writeVariants(deps, manifest, made);
      if (manifest !== null) deps.pages.manifests.put(manifest);
    }
    return manifest;
  }

  async function improveAll(): Promise<void> {
    for (let oldest = quick.pop(); oldest !== undefined; oldest = quick.pop()) {
      const { slug, paths } = oldest;
      for (const path of paths) {
        await calm(CALM);
        // That of now: what completes the news leaves the files of the news as they are.
        const number = currentNumber(deps.folders, slug);
        const manifest = number === null ? null : deps.pages.manifests.get(slug, number);
        if (closing.signal.aborted || manifest === null) break;
        const started = performance.now();
        await improveVariants(deps, manifest, path).catch(deps.onError);
        await pause((performance.now() - started) * (1 / VARIANTS_SHARE - 1));
      }
    }
  }

  /** @param from  on the clock of `performance.now()`; until then others go first. Default: at once */
  function begin(task: () => Promise<void>, from = 0): void {
    const left = from - performance.now();
    const mine = (left > 0 ? pause(left, true).then(() => drawing(task)) : drawing(task))
      .catch(deps.onError)
      .finally(() => running.delete(mine));
    running.add(mine);
  }

  function addVariants(slug: string): void {
    unmade.add(slug);
    begin(makeVariants);
  }

  return {
    addSite: () => {
      if (isSiteWaiting) return;
      isSiteWaiting = true;
      begin(publishSite, siteFrom);
    },
    addVariants,
    addOutdated: (slug) => {
      outdated.add(slug);
      if (pruning.pendingCount === 0) void pruning(pruneAll);
    },
    addDeferred: (task) => {
      deferred.set(task.page.definition.slug, task);
      begin(drawDeferred);
    },
    waiting: () => new Set([...deferred.keys(), ...unmade]),
    // What is drawn in the background has variants to make in its turn.
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
    },
    close: async () => {
      closing.abort();
      await drawing(() => undefined);
      await improving(() => undefined);
      await pruning(() => undefined);
    },
  };
}

/** Puts smaller variants of a file in place of those that are there; what they unpack to is the same. */
async function improveVariants(deps: BackgroundDeps, manifest: Manifest, path: string): Promise<void> {
  const record = manifest.files[path];
  const place = filePlaces(deps.folders, manifest)(path);
  const body = readIfThere(place);
  // Of what has none yet, quick ones come first.
  if (record === undefined || record.variants === null || body === null) return;
  const best = await compressBest(record.contentType, body);
  const sizeOf = ({ encoding }: Variant): number =>
    statSync(place + suffixOf(encoding), { throwIfNoEntry: false })?.size ?? Infinity;
  if (best.some((variant) => variant.bytes.length < sizeOf(variant)))
    await writeVariants(deps, manifest, new Map([[path, best]]));
}

/** Null: the release was replaced and cleared away meanwhile. */
function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}
