/**
 * Work that follows a publish and can wait: the site's own list of pages, compressed variants, deferred files and images in
 * releases of their own, and removing releases that nobody needs any more.
 */

import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import pLimit from 'p-limit';
import {
  type PagePublisher,
  type PlannedTask,
  POOL_PAGES_MIN,
  type WithFence,
  type WorkerPool,
} from './page-release.ts';
import type { Disk } from './releases/disk.ts';
import { currentNumber, type ReleaseFolders } from './releases/folders.ts';
import { compress, filePlaces, type Manifest, type Variant, withoutVariants } from './releases/manifest.ts';
import { type Fence, heldRelease } from './releases/switch.ts';
import { writeVariants } from './releases/variants.ts';

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

/** Share of the time that the list of pages may take. News waits while it is drawn: a quarter of a second for 10,000 pages. */
const SITE_SHARE = 0.1;
/** Maximum number of files whose variants are in memory at once. */
const VARIANTS_BATCH = 256;
/** Wait until nothing has happened for `forMs`, but no longer than `msMax`; `isAwaited`: the process stays for the work behind it. */
type Calm = Readonly<typeof BREATH>;

/** News often comes in bursts. This wait keeps the work for one from delaying the next. */
const BREATH = { forMs: 20, msMax: 1_000, isAwaited: true };
/**
 * ext4 creates files many times more slowly after many were removed, so old releases are removed only when nothing happens. The
 * maximum keeps the disk from filling up if something always happens.
 */
const OUTDATED_CALM: Calm = { forMs: 2_000, msMax: 60_000, isAwaited: false };
/** Pages whose releases are removed at once. Each takes some milliseconds, during which a run has to wait. */
const OUTDATED_BATCH = 4;

type Work = ReturnType<typeof nothingQueued>;

function nothingQueued(deps: BackgroundDeps) {
  return {
    deps,
    closing: new AbortController(),
    deferred: new Map<string, PlannedTask>(),
    /** Pages whose served release lacks variants. */
    uncompressed: new Set<string>(),
    outdated: new Set<string>(),
    /** Everything but removing, one task after the other. */
    drawing: pLimit(1),
    removing: pLimit(1),
    /** Tasks that are running or queued in `drawing`. */
    running: new Set<Promise<void>>(),
    isSiteWaiting: false,
    /** When the list of pages may be drawn again, on the clock of `performance.now()`. */
    siteFrom: 0,
  };
}

export type BackgroundWork = ReturnType<typeof createBackgroundWork>;

export function createBackgroundWork(deps: BackgroundDeps) {
  const work = nothingQueued(deps);
  const { closing, deferred, uncompressed, outdated, drawing, removing, running } = work;
  return {
    /** Queues the site's own files, because a page that they list has news. */
    addSite: (): void => {
      if (work.isSiteWaiting) return;
      work.isSiteWaiting = true;
      begin(work, publishSite, work.siteFrom);
    },
    /** Queues the compressed variants that the served release of a page lacks. */
    addVariants: (slug: string): void => addVariants(work, slug),
    /** Queues a page whose old releases can be removed. */
    addOutdated: (slug: string): void => {
      outdated.add(slug);
      if (removing.pendingCount === 0) void removing(() => removeOutdated(work));
    },
    /** Queues the deferred files of a page. */
    addDeferred: (task: PlannedTask): void => {
      deferred.set(task.page.definition.slug, task);
      begin(work, drawDeferred);
    },
    /** Pages with queued work. */
    waiting: (): ReadonlySet<string> => new Set([...deferred.keys(), ...uncompressed]),
    /** Resolves when the queue is empty. Files rendered in the background queue variants in turn. */
    settled: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
    /** Stops. Resolves when nothing is running; queued work is dropped. */
    close: async (): Promise<void> => {
      closing.abort();
      await drawing(() => undefined);
      await removing(() => undefined);
    },
  };
}

/** @param from on the clock of `performance.now()`; until then others go first. Default: at once */
function begin(work: Work, task: (work: Work) => Promise<void>, from = 0): void {
  const { deps, drawing, running } = work;
  const run = (): Promise<void> =>
    drawing(async () => {
      await task(work);
      // Left to V8, this falls into the middle of the next news. `bin/pharos.js` allows it.
      if (drawing.pendingCount === 0) globalThis.gc?.({ type: 'minor' });
    });
  const left = from - performance.now();
  const mine = (left > 0 ? pause(work, left, true).then(run) : run())
    .catch(deps.onError)
    .finally(() => running.delete(mine));
  running.add(mine);
}

/** Waits. Resolves early when everything is closed. */
function pause({ closing }: Work, ms: number, isAwaited: boolean): Promise<void> {
  return setTimeout(ms, undefined, { signal: closing.signal, ref: isAwaited }).catch(() => undefined);
}

/** Resolves when no run publishes and nothing has happened for a while, or everything ends. */
async function waitForCalm(work: Work, { forMs, msMax, isAwaited }: Calm): Promise<void> {
  const { deps, closing } = work;
  const latest = performance.now() + msMax;
  let waitedAfter: number | null = null;
  for (;;) {
    await deps.idle();
    const newsAt = deps.newsAt();
    const left = Math.min(newsAt + forMs, latest) - performance.now();
    if (left <= 0 || newsAt === waitedAfter || closing.signal.aborted) return;
    waitedAfter = newsAt;
    await pause(work, left, isAwaited);
  }
}

async function publishSite(work: Work): Promise<void> {
  await waitForCalm(work, BREATH);
  work.isSiteWaiting = false;
  if (work.closing.signal.aborted) return;
  await work.deps.withFence(async (fence) => {
    const started = performance.now();
    await work.deps.publishSite(fence);
    const ended = performance.now();
    work.siteFrom = ended + (ended - started) * (1 / SITE_SHARE - 1);
  });
}

async function removeOutdated(work: Work): Promise<void> {
  const { deps, outdated } = work;
  if (outdated.size === 0) return;
  await waitForCalm(work, OUTDATED_CALM);
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

async function drawDeferred(work: Work): Promise<void> {
  const { deps, deferred, closing } = work;
  if (deferred.size === 0) return;
  await waitForCalm(work, BREATH);
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
        addVariants(work, slug);
      }
    } catch (error) {
      // News was published in the meantime and queued its own files, so nothing is lost.
      if (currentNumber(deps.folders, slug) === served) {
        deps.onRelease(slug, null);
        // An operator may have put the page on hold while it was drawn.
        if (heldRelease(deps.folders, slug) === null) deps.onError(error);
      }
    }
    await deps.idle();
  }
  await workers?.terminate();
}

function addVariants(work: Work, slug: string): void {
  work.uncompressed.add(slug);
  begin(work, makeVariants);
}

async function makeVariants(work: Work): Promise<void> {
  const { deps, uncompressed, closing } = work;
  for (const slug of uncompressed) {
    if (closing.signal.aborted) break;
    uncompressed.delete(slug);
    const number = currentNumber(deps.folders, slug);
    const manifest = number === null ? null : deps.pages.manifests.get(slug, number);
    const isDone = manifest === null || (await compressFiles(work, manifest));
    if (!isDone && closing.signal.aborted) uncompressed.add(slug);
  }
}

/** Returns false if another release is served meanwhile, or everything is closed. */
async function compressFiles({ deps, closing }: Work, first: Manifest): Promise<boolean> {
  const paths = withoutVariants(first);
  const placeOf = filePlaces(deps.folders, first);
  let manifest = first;
  for (let start = 0; start < paths.length; start += VARIANTS_BATCH) {
    const made = new Map<string, readonly Variant[]>();
    for (const path of paths.slice(start, start + VARIANTS_BATCH)) {
      await deps.idle();
      if (closing.signal.aborted || currentNumber(deps.folders, first.slug) !== first.number) return false;
      const body = readIfThere(placeOf(path));
      if (body === null) return false;
      made.set(path, await compress(first.files[path]?.contentType ?? '', body));
    }
    const named = await writeVariants(deps, manifest, made);
    if (named === null) return false;
    deps.pages.manifests.put(named);
    manifest = named;
  }
  return true;
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
