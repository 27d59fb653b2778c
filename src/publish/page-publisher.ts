/**
 * Publishes one page: prepares a release next to the one being served, and switches to it unless another process has published
 * in the meantime.
 */

import { isStatusError, messageOf, StatusError } from '../errors.ts';
import { type PageReleaseDeps, type PageTask, type PreparedPage, preparePage } from './page-release.ts';
import type { PublishControl } from './publish-control.ts';
import { heldRelease, prune } from './releases/clean.ts';
import { currentNumber, releaseFolder, SITE_SLUG, servedRelease } from './releases/folders.ts';
import { createManifestCache, type Manifest, type PageAtSlug, releasePage } from './releases/manifest.ts';
import { type Fence, hideFromPublic, switchTo } from './releases/switch.ts';

/** Starting threads takes longer than preparing fewer pages here. */
export const POOL_PAGES_MIN = 24;

/** Threads that prepare pages. */
export interface WorkerPool {
  /** How many pages are prepared at the same time. */
  readonly size: number;
  readonly prepare: (task: PageTask) => Promise<PreparedPage>;
  /** Ends idle threads; the next task starts new ones. */
  readonly terminate: () => Promise<void>;
}

/** A task without the previous release, which is looked up when the task runs. */
export type PlannedTask = Omit<PageTask, 'previous'>;

interface PublishedPage extends PreparedPage {
  readonly slug: string;
  /** The release that was served before; null: there was none that can be read. */
  readonly previous: Manifest | null;
}

/** Runs a task that switches a release while holding the fence. */
export type WithFence = (task: (fence: Fence) => Promise<void>) => Promise<void>;

export interface PagePublisherDeps extends PageReleaseDeps {
  readonly mayServe: PublishControl['mayServe'];
  /** Called after a page, or the site's own files, switched to another release. Older releases may now be unneeded. */
  readonly onSwitched: (slug: string) => void;
}

/** What a release is based on. */
interface Onto {
  /** The release that was served when it was rendered. */
  readonly number: number | null;
  /** Other pages that its files mention; default: none. */
  readonly listed?: readonly PageAtSlug[];
}

export type PagePublisher = ReturnType<typeof createPagePublisher>;

export function createPagePublisher(deps: PagePublisherDeps) {
  const { folders } = deps;
  const manifests = createManifestCache(folders);

  /** Switches to a release that was written on top of release `onto`. @throws PUBLISH_FAILED */
  async function switchPage(manifest: Manifest, onto: Onto, fence: Fence): Promise<void> {
    const { slug, number, access } = manifest;
    const page = slug === SITE_SLUG ? null : releasePage(manifest);
    const release = { slug, page, access, listed: onto.listed ?? [] };
    try {
      // Checked before the fence: inside, this would wait for the fence's own transaction.
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
      // Another process may have closed the page in between, before this link was there.
      if (access === 'public' && !(await deps.mayServe(release))) await hideFromPublic(deps, slug);
    } catch (error) {
      // Folders that only it links to are removed by the next `prune`.
      if (currentNumber(folders, slug) !== number) deps.disk.remove(releaseFolder(folders, slug, number));
      throw error;
    }
    manifests.put(manifest);
    deps.onSwitched(slug);
  }

  return {
    manifests,
    switchTo: switchPage,
    /** Removes releases and folders of a page that are no longer needed. */
    prune: (slug: string): void => prune(deps, slug, (kept) => manifests.outline(slug, kept)),
    /**
     * Prepares a release and switches to it.
     * @throws PUBLISH_FAILED; the previous release stays online
     */
    publish: async (planned: PlannedTask, withFence: WithFence, workers: WorkerPool | null): Promise<PublishedPage> => {
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
