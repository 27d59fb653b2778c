/**
 * Work that follows a publish and can wait: the site's own list of pages, compressed variants (quick ones at once, the smallest
 * when nothing happens), deferred files and images in releases of their own, and removing releases that nobody needs any more.
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

interface BackgroundDeps {
  readonly disk: Disk;
  readonly folders: ReleaseFolders;
  readonly pages: PagePublisher;
  readonly withFence: WithFence;
  /** Publishes the site's own files, unless that happened since `addSite` was called. */
  readonly publishSite: (fence: Fence) => Promise<void>;
  /** Resolves when no run publishes, so that this work never delays news. */
  readonly idle: () => Promise<unknown>;
  /** Time of the last news, on the clock of `performance.now()`. */
  readonly newsAt: () => number;
  readonly workers: WorkerPool | null;
  /** Called with the release that is served now; null: some of its files could not be rendered. */
  readonly onRelease: (slug: string, number: number | null) => void;
  readonly onError: (error: unknown) => void;
}

export interface BackgroundWork {
  /** Queues the site's own files, because a page that they list has news. */
  readonly addSite: () => void;
  /** Queues the deferred files of a page. */
  readonly addDeferred: (task: PlannedTask) => void;
  /** Queues the compressed variants that the served release of a page lacks. */
  readonly addVariants: (slug: string) => void;
  /** Queues a page whose old releases can be removed. */
  readonly addOutdated: (slug: string) => void;
  /** Pages with queued work. */
  readonly waiting: () => ReadonlySet<string>;
  /** Resolves when the queue is empty. */
  readonly settled: () => Promise<void>;
  /** Stops. Resolves when nothing is running; queued work is dropped. */
  readonly close: () => Promise<void>;
}

/**
 * Share of the time that this may take. The gain is a few percent of bytes, which isn't worth a busy core on a site of
 * thousands of pages.
 */
const VARIANTS_SHARE = 0.1;
/** Share of the time that the list of pages may take. News waits while it is drawn: a quarter of a second for 10,000 pages. */
const SITE_SHARE = 0.1;
/** Pages that can wait for their smallest variants. Beyond that, the oldest keep the quick ones. */
const VARIANTS_MAX = 2_000;
/** Maximum number of files whose variants are in memory at once. */
const VARIANTS_BATCH = 256;
/** A change renders fewer files. With more, a page was published as a whole, and its files are compressed faster. */
const CHANGED_FILES_MAX = 32;
/** Wait until nothing has happened for `forMs`, but no longer than `msMax`. */
interface Calm {
  readonly forMs: number;
  readonly msMax: number;
}

/** News often comes in bursts. This wait keeps the work for one from delaying the next. */
const BREATH: Calm = { forMs: 20, msMax: 1_000 };
/** The last percent of bytes can wait. */
const CALM: Calm = { forMs: 2_000, msMax: Infinity };
/**
 * ext4 creates files many times more slowly after many were removed, so old releases are removed only when nothing happens. The
 * maximum keeps the disk from filling up if something always happens.
 */
const OUTDATED_CALM: Calm = { ...CALM, msMax: 60_000 };
/** Pages whose releases are removed at once. Each takes some milliseconds, during which a run has to wait. */
const OUTDATED_BATCH = 4;
/** Visitors see this file first, so it is always compressed well enough to fit into the first packets. */
const FIRST_VIEW = 'index.html';
/** Smaller files gain nothing from better compression. */
const VARIANTS_BYTES_MIN = 4_096;

/** Files of a page that have quick variants, in any of its releases. */
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
  /** Tasks that are running or queued in `drawing`. */
  const running = new Set<Promise<void>>();
  const improving = pLimit(1);
  const outdated = new Set<string>();
  const pruning = pLimit(1);
  let isSiteWaiting = false;
  /** When the list of pages may be drawn again, on the clock of `performance.now()`. */
  let siteFrom = 0;

  /**
   * Waits. Resolves early when everything is closed.
   * @param ref whether this keeps the process running
   */
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
      // A caller of `settled` waits for this work, so the process has to stay; `CALM` work may be dropped.
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
        // News was published in the meantime and queued its own files, so nothing is lost.
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

  /** Returns the current manifest; null: another release is served now, or everything is closed. */
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
        // Read again: a release that completes the news keeps the files of the news.
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
    // Files rendered in the background queue variants in turn.
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

/** Replaces variants of a file by smaller ones with the same content. */
async function improveVariants(deps: BackgroundDeps, manifest: Manifest, path: string): Promise<void> {
  const record = manifest.files[path];
  const place = filePlaces(deps.folders, manifest)(path);
  const body = readIfThere(place);
  // A file without variants gets quick ones first.
  if (record === undefined || record.variants === null || body === null) return;
  const best = await compressBest(record.contentType, body);
  const sizeOf = ({ encoding }: Variant): number =>
    statSync(place + suffixOf(encoding), { throwIfNoEntry: false })?.size ?? Infinity;
  if (best.some((variant) => variant.bytes.length < sizeOf(variant)))
    await writeVariants(deps, manifest, new Map([[path, best]]));
}

/** Null: the release was replaced and removed in the meantime. */
function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}
