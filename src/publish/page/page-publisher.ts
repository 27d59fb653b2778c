/** Publishes one page: prepared beside what is served, then switched to if nobody else has published it meanwhile. */

import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import type { PublishControl } from '../publish-control.ts';
import { discardRelease, prune } from '../releases/clean.ts';
import { currentNumber, servedRelease } from '../releases/folders.ts';
import { heldRelease } from '../releases/hold.ts';
import type { Manifest } from '../releases/manifest.ts';
import { createManifestCache, type ManifestCache } from '../releases/manifest-cache.ts';
import type { Fence } from '../releases/publish-lease.ts';
import { hideFromPublic, switchTo } from '../releases/switch.ts';
import { type PageReleaseDeps, type PageTask, type PreparedPage, preparePage } from './page-release.ts';

/** Fewer pages are prepared sooner than threads begin. */
export const POOL_PAGES_MIN = 24;

/** Threads that prepare pages. */
export interface WorkerPool {
  /** How many prepare at the same time. */
  readonly size: number;
  readonly prepare: (task: PageTask) => Promise<PreparedPage>;
  /** Ends the threads; the next task begins new ones. */
  readonly terminate: () => Promise<void>;
}

/** A task without the release it goes on from, which is looked up when its turn comes. */
export type PlannedTask = Omit<PageTask, 'previous'>;

export interface PublishedPage extends PreparedPage {
  readonly slug: string;
  /** What was served before; null: nothing, or nothing that can be read. */
  readonly previous: Manifest | null;
}

/** Whoever holds the fence switches; `null`: it is taken for the moment of the switch only. */
export type WithFence = (task: (fence: Fence) => Promise<void>) => Promise<void>;

export interface PagePublisherDeps extends PageReleaseDeps {
  readonly mayServe: PublishControl['mayServe'];
  /** Told that a page, or the site's own files, went to another release: there may be some that nobody needs any more. */
  readonly onSwitched: (slug: string) => void;
}

export interface PagePublisher {
  readonly manifests: ManifestCache;
  /** @throws PUBLISH_FAILED, with what was served still served */
  readonly publish: (task: PlannedTask, withFence: WithFence, workers: WorkerPool | null) => Promise<PublishedPage>;
  /** Switches to a release that was written on top of release `onto`. @throws PUBLISH_FAILED */
  readonly switchTo: (manifest: Manifest, onto: Onto, fence: Fence) => Promise<void>;
  /** Removes what no release of a page needs any more. */
  readonly prune: (slug: string) => void;
}

/** What a release goes on from. */
export interface Onto {
  /** The one that was served when it was drawn. */
  readonly number: number | null;
  /** Other pages that its files tell of; default: none. */
  readonly listed?: readonly string[];
}

export function createPagePublisher(deps: PagePublisherDeps): PagePublisher {
  const { folders } = deps;
  const manifests = createManifestCache(folders);

  async function switchPage(manifest: Manifest, onto: Onto, fence: Fence): Promise<void> {
    const { slug, number, access } = manifest;
    const release = { slug, access, listed: onto.listed ?? [] };
    try {
      // Asked outside of the fence, whose transaction it would wait for.
      if (!(await deps.mayServe(release))) throw new Error('its access rules changed while it was being rendered');
      await fence.pass(async () => {
        const served = currentNumber(folders, slug);
        if (served !== onto.number)
          throw new Error(
            `release ${served ?? 'none'} is now being served, and this one was based on ${onto.number ?? 'none'}`,
          );
        if (heldRelease(folders, slug) !== null) throw new Error(`it is on hold at release ${served}`);
        await switchTo(deps, { slug, number, isPublic: access === 'public' });
      });
      // Somebody may have closed it in between, without having seen this link.
      if (access === 'public' && !(await deps.mayServe(release))) await hideFromPublic(deps, slug);
    } catch (error) {
      if (currentNumber(folders, slug) !== number) discardRelease(deps, manifest);
      throw error;
    }
    manifests.put(manifest);
    deps.onSwitched(slug);
  }

  return {
    manifests,
    switchTo: switchPage,
    prune: (slug) => prune(deps, slug, (kept) => manifests.get(slug, kept)),
    publish: async (planned, withFence, workers) => {
      const { slug } = planned.page.definition;
      try {
        const served = servedRelease(folders, slug);
        const previous = served === null ? null : manifests.get(slug, served.number);
        const task = { ...planned, previous };
        const prepared = await (workers === null ? preparePage(deps, task) : workers.prepare(task));
        const { manifest } = prepared;
        if (manifest !== null)
          await withFence((fence) => switchPage(manifest, { number: served?.number ?? null }, fence));
        return { ...prepared, slug, previous };
      } catch (error) {
        if (isStatusError(error)) throw error;
        throw new StatusError({
          code: 'PUBLISH_FAILED',
          message: `The page ${slug} could not be published: ${messageOf(error)}. The previous release stays online. Check disk space and permissions of the data folder.`,
          cause: error,
          context: { slug },
        });
      }
    },
  };
}
