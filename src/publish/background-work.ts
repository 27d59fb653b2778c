/**
 * What follows a publish when there is time: the files that the news left as they were and pictures, which take a tenth
 * of a second each, in releases of their own; and variants compressed as far as they go, in place of the quick ones.
 */

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { compressBest } from './draw/compress.ts';
import {
  type PagePublisher,
  type PlannedTask,
  POOL_PAGES_MIN,
  type WithFence,
  type WorkerPool,
} from './page/page-publisher.ts';
import { suffixOf } from './releases/compressions.ts';
import type { Disk } from './releases/disk.ts';
import { currentNumber, NEXT_VARIANT, type ReleaseFolders } from './releases/folders.ts';
import { heldRelease } from './releases/hold.ts';
import { filePlaces, type Manifest } from './releases/manifest.ts';
import { modesOf } from './releases/modes.ts';

export interface BackgroundDeps {
  readonly disk: Disk;
  readonly folders: ReleaseFolders;
  readonly pages: PagePublisher;
  readonly withFence: WithFence;
  /** Resolves when no run publishes: what follows never competes with news. */
  readonly idle: () => Promise<unknown>;
  /** When something last happened, on the clock of `performance.now()`. */
  readonly newsAt: () => number;
  readonly workers: WorkerPool | null;
  readonly onError: (error: unknown) => void;
}

export interface BackgroundWork {
  /** Files of a page wait to be drawn. */
  readonly addDeferred: (task: PlannedTask) => void;
  /** What a release has that the one before had not was compressed quickly. */
  readonly addVariants: (manifest: Manifest, previous: Manifest | null) => void;
  /** Resolves when no file waits any more. */
  readonly settled: () => Promise<void>;
  /** Resolves when nothing goes on; what waits is dropped. */
  readonly close: () => Promise<void>;
}

/** Of the time, so that a site of thousands of pages does not keep a core busy with a few percent of bytes. */
const VARIANTS_SHARE = 0.1;
/** Releases whose variants wait; beyond that the oldest stay as they are. */
const VARIANTS_MAX = 2_000;
/** After news, more may follow: the last percent of bytes can wait until nothing has happened for this long. */
const CALM_MS = 2_000;
/** In smaller files there is nothing to gain. */
const VARIANTS_BYTES_MIN = 4_096;

export function createBackgroundWork(deps: BackgroundDeps): BackgroundWork {
  const deferred = new Map<string, PlannedTask>();
  const variants = new LRUCache<string, readonly [manifest: Manifest, paths: readonly string[]]>({ max: VARIANTS_MAX });
  const closing = new AbortController();
  const drawing = pLimit(1);
  const compressing = pLimit(1);

  /** Ends early, and without a fault, when everything ends. */
  const pause = (ms: number): Promise<void> =>
    setTimeout(ms, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);

  /** Resolves when no run publishes and nothing has happened for a while. */
  async function calm(): Promise<void> {
    for (;;) {
      await deps.idle();
      const left = deps.newsAt() + CALM_MS - performance.now();
      if (left <= 0 || closing.signal.aborted) return;
      await pause(left);
    }
  }

  async function drawDeferred(): Promise<void> {
    await deps.idle();
    const workers = deferred.size >= POOL_PAGES_MIN ? deps.workers : null;
    for (const [slug, task] of deferred) {
      if (closing.signal.aborted) break;
      deferred.delete(slug);
      if (heldRelease(deps.folders, slug) !== null) continue;
      const served = currentNumber(deps.folders, slug);
      try {
        await deps.pages.publish({ ...task, priority: 'deferred' }, deps.withFence, workers);
      } catch (error) {
        // News came first and has its own files waiting: nothing is lost and nothing failed.
        if (currentNumber(deps.folders, slug) === served) deps.onError(error);
      }
      await deps.idle();
    }
    await workers?.terminate();
  }

  async function compressBest(): Promise<void> {
    for (let oldest = variants.pop(); oldest !== undefined; oldest = variants.pop()) {
      const [manifest, paths] = oldest;
      for (const path of paths) {
        if (closing.signal.aborted || currentNumber(deps.folders, manifest.slug) !== manifest.number) break;
        await calm();
        const started = performance.now();
        await improveVariants(deps, manifest, path).catch(deps.onError);
        await pause((performance.now() - started) * (1 / VARIANTS_SHARE - 1));
      }
    }
  }

  return {
    addDeferred: (task) => {
      deferred.set(task.page.definition.slug, task);
      drawing(drawDeferred).catch(deps.onError);
    },
    addVariants: (manifest, previous) => {
      const paths = Object.entries(manifest.files)
        .filter(
          ([path, record]) =>
            record.bytes >= VARIANTS_BYTES_MIN &&
            record.variants.length > 0 &&
            previous?.files[path]?.sha256 !== record.sha256,
        )
        .map(([path]) => path);
      variants.set(manifest.slug, [manifest, paths]);
      compressing(compressBest).catch(deps.onError);
    },
    settled: () => drawing(() => undefined),
    close: async () => {
      closing.abort();
      await drawing(() => undefined);
      await compressing(() => undefined);
    },
  };
}

/** Puts smaller variants of a file in place of those that are there; what they unpack to is the same. */
async function improveVariants({ disk, folders }: BackgroundDeps, manifest: Manifest, path: string): Promise<void> {
  const record = manifest.files[path];
  if (record === undefined) return;
  const file = filePlaces(folders, manifest)(path);
  try {
    for (const { encoding, bytes } of await compressBest(record.contentType, readFileSync(file))) {
      const variant = file + suffixOf(encoding);
      if (!record.variants.includes(encoding) || bytes.length >= statSync(variant).size) continue;
      const next = join(folders.releases, manifest.slug, NEXT_VARIANT);
      disk.remove(next);
      const batch = disk.batch();
      batch.write(next, bytes, modesOf(manifest.access === 'public').file);
      await batch.flush();
      disk.rename(next, variant);
    }
  } catch (error) {
    // The release was replaced and cleared away meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
