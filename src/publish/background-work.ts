/**
 * What follows a publish when there is time: the files that the news left as they were and pictures, which take a tenth
 * of a second each, in releases of their own; and twins compressed as far as they go, in place of the quick ones.
 */

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { twinsBest } from './draw/compress.ts';
import {
  type PagePublisher,
  type PageTeam,
  type PlannedTask,
  TEAM_MIN,
  type WithFence,
} from './page/page-publisher.ts';
import { suffixOf } from './releases/compressions.ts';
import type { Disk } from './releases/disk.ts';
import { currentNumber, NEXT_TWIN, type ReleaseFolders } from './releases/folders.ts';
import { type Manifest, placesOf } from './releases/manifest.ts';

export interface BackgroundDeps {
  readonly disk: Disk;
  readonly folders: ReleaseFolders;
  readonly pages: PagePublisher;
  readonly withFence: WithFence;
  /** Resolves when no run publishes: what follows never competes with news. */
  readonly idle: () => Promise<unknown>;
  /** When something last happened, on the clock of `performance.now()`. */
  readonly newsAt: () => number;
  readonly team: PageTeam | null;
  readonly onError: (error: unknown) => void;
}

export interface BackgroundWork {
  /** Files of a page wait to be drawn. */
  readonly addRest: (task: PlannedTask) => void;
  /** What a release has that the one before had not was compressed quickly. */
  readonly addTwins: (manifest: Manifest, previous: Manifest | null) => void;
  /** Resolves when no file waits any more. */
  readonly settled: () => Promise<void>;
  /** Resolves when nothing goes on; what waits is dropped. */
  readonly close: () => Promise<void>;
}

/** Of the time, so that a site of thousands of pages does not keep a core busy with a few percent of bytes. */
const TWINS_SHARE = 0.1;
/** Releases whose twins wait; beyond that the oldest stay as they are. */
const TWINS_MAX = 2_000;
/** After news, more may follow: the last percent of bytes can wait until nothing has happened for this long. */
const CALM_MS = 2_000;
/** In smaller files there is nothing to gain. */
const TWINS_BYTES_MIN = 4_096;

export function createBackgroundWork(deps: BackgroundDeps): BackgroundWork {
  const rest = new Map<string, PlannedTask>();
  const twins = new Map<string, readonly [manifest: Manifest, paths: readonly string[]]>();
  const closing = new AbortController();
  let working: Promise<void> | null = null;
  let compressing: Promise<void> | null = null;

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

  async function drawRest(): Promise<void> {
    await deps.idle();
    const team = rest.size >= TEAM_MIN ? deps.team : null;
    for (const [slug, task] of rest) {
      if (closing.signal.aborted) break;
      rest.delete(slug);
      const served = currentNumber(deps.folders, slug);
      try {
        await deps.pages.publish({ ...task, mode: 'rest' }, deps.withFence, team);
      } catch (error) {
        // News came first and has its own files waiting: nothing is lost and nothing failed.
        if (currentNumber(deps.folders, slug) === served) deps.onError(error);
      }
      await deps.idle();
    }
    await team?.rest();
  }

  async function compressBest(): Promise<void> {
    for (const [slug, [manifest, paths]] of twins) {
      twins.delete(slug);
      for (const path of paths) {
        if (closing.signal.aborted || currentNumber(deps.folders, slug) !== manifest.number) break;
        await calm();
        const started = performance.now();
        await improveTwins(deps, manifest, path).catch(deps.onError);
        await pause((performance.now() - started) * (1 / TWINS_SHARE - 1));
      }
    }
  }

  return {
    addRest: (task) => {
      rest.set(task.page.definition.slug, task);
      working ??= drawRest().finally(() => {
        working = null;
      });
    },
    addTwins: (manifest, previous) => {
      const paths = Object.entries(manifest.files)
        .filter(
          ([path, record]) =>
            record.bytes >= TWINS_BYTES_MIN &&
            record.twins.length > 0 &&
            previous?.files[path]?.sha256 !== record.sha256,
        )
        .map(([path]) => path);
      twins.set(manifest.slug, [manifest, paths]);
      for (const [oldest] of twins) {
        if (twins.size <= TWINS_MAX) break;
        twins.delete(oldest);
      }
      compressing ??= compressBest().finally(() => {
        compressing = null;
      });
    },
    settled: async () => {
      await working;
    },
    close: async () => {
      closing.abort();
      await working;
      await compressing;
    },
  };
}

/** Puts smaller twins of a file in place of those that are there; what they unpack to is the same. */
async function improveTwins({ disk, folders }: BackgroundDeps, manifest: Manifest, path: string): Promise<void> {
  const record = manifest.files[path];
  if (record === undefined) return;
  const file = placesOf(folders, manifest)(path);
  try {
    for (const { encoding, bytes } of await twinsBest(record.contentType, readFileSync(file))) {
      const twin = file + suffixOf(encoding);
      if (!record.twins.includes(encoding) || bytes.length >= statSync(twin).size) continue;
      const next = join(folders.releases, manifest.slug, NEXT_TWIN);
      disk.remove(next);
      const batch = disk.batch();
      batch.write(next, bytes);
      await batch.flush();
      disk.rename(next, twin);
    }
  } catch (error) {
    // The release was replaced and cleared away meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
