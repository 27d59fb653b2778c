/**
 * Makes the next release of one page beside the one being served: reads, renders, writes and checks it. It is switched to unless
 * another process has published in the meantime.
 */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isStatusError, messageOf, StatusError } from '../errors.ts';
import { closedDays, lastClosedDay } from '../model/days.ts';
import type { PageModel } from '../model/page.ts';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import { type PageNews, pageNews } from '../notify/news.ts';
import type { Store } from '../store/create-store.ts';
import { isLogFile } from '../transparency/entries.ts';
import { readLines } from '../transparency/page-log.ts';
import { nowFacts } from '../views/json/state-json.ts';
import { HEARTBEAT_MS, heartbeatBefore, pageModel } from '../views/model/page-model.ts';
import type { ResolvedPage } from './definitions/definitions.ts';
import type { SiteState } from './definitions/site-state.ts';
import { type DrawOptions, drawFiles, type VersionedRenderer } from './draw/renderer.ts';
import { type FileEntry, PRIORITIES, type Priority } from './files/file-entry.ts';
import { collectFirsts, digestEvents, loadPageInputs, nextChangeAt, type UndatedInputs } from './page-inputs.ts';
import type { PrepareControl, PublishControl } from './publish-control.ts';
import { prune } from './releases/clean.ts';
import type { Disk } from './releases/disk.ts';
import { currentNumber, type ReleaseFolders, releaseFolder, SITE_SLUG, servedRelease } from './releases/folders.ts';
import { type LoggedRelease, logOrigin, readSeen, withLogFiles } from './releases/log-files.ts';
import {
  createManifestCache,
  filePlaces,
  type Manifest,
  type PageAtSlug,
  type ReleaseAccess,
  releasePage,
} from './releases/manifest.ts';
import { type BadgeData, type PageSummary, releaseDataText } from './releases/release-data.ts';
import { type Fence, heldRelease, hideFromPublic, switchTo } from './releases/switch.ts';
import { DamagedReleaseError, type ReleaseInput, writeRelease } from './releases/write.ts';

export interface PageTask {
  readonly page: ResolvedPage;
  readonly state: Pick<SiteState, 'now' | 'announcements' | 'sources' | 'revision'>;
  /** `immediate`: render the news. `deferred`: render what the served release left for later. */
  readonly priority: Exclude<Priority, 'background'>;
  /** True: also compare long-term figures now, whatever happened. */
  readonly comparesAll: boolean;
  /** Manifest of the release being served; null: there is none that can be read. */
  readonly previous: Manifest | null;
}

export interface PreparedPage {
  /** The new release; null: nothing changed. */
  readonly manifest: Manifest | null;
  readonly asOf: EpochMs;
  readonly summary: PageSummary;
  /** Updates to send notices about; null: none. */
  readonly news: PageNews | null;
  /** Time at which the page must be looked at again even if nothing happens. */
  readonly dueAt: number;
  readonly filesDrawn: number;
  readonly filesTotal: number;
  /** Whether some files were left for later. */
  readonly hasWaiting: boolean;
}

export interface PageReleaseDeps extends PrepareControl {
  readonly store: Store;
  readonly folders: ReleaseFolders;
  readonly disk: Disk;
  readonly renderer: VersionedRenderer;
  /** All files of a page. */
  readonly filesOf: (model: PageModel, page: ResolvedPage) => readonly FileEntry[];
  /** Plain data from which the server draws badges on demand. */
  readonly dataOf: (model: PageModel, page: ResolvedPage) => BadgeData;
}

/** Prepares a release of a page. The caller decides whether to switch to it. */
export async function preparePage(deps: PageReleaseDeps, task: PageTask): Promise<PreparedPage> {
  const inputs = await loadPageInputs(deps.store, task.state, task.page);
  const { model, eventKey } = modelFor(inputs, task);
  const prepared = {
    asOf: model.asOf,
    summary: { state: model.state, since: model.since, asOf: model.asOf },
    dueAt: dueAfter(inputs, model, task),
    news: task.page.isTold ? pageNews(model, task.page.identity, task.state.sources) : null,
  };
  const firsts = collectFirsts(inputs, model, task.state.now);
  if (firsts.subjects.length + firsts.entries.length > 0) await deps.rememberFirsts(firsts);
  const isNews = task.priority === 'immediate' && task.previous !== null && task.previous.eventKey !== eventKey;
  const log = logPlace(model, task);
  if (!isNews || task.comparesAll) await commitDays(deps, model, { ...log, previous: task.previous });
  const entries = deps.filesOf(model, task.page);
  const input = {
    slug: task.page.definition.slug,
    page: task.page.identity.key,
    access: releaseAccess(task.page),
    customDomain: task.page.definition.customDomain,
    locales: task.page.settings.languages?.all,
    asOf: model.asOf,
    eventKey,
    entries,
    log: { ...log, event: eventKey },
    data: () =>
      releaseDataText({
        summary: prepared.summary,
        now: nowFacts(model),
        onDemand: deps.dataOf(model, task.page),
      }),
  };
  const priorities = prioritiesFor(task, input);
  const { manifest, filesDrawn, hasWaiting } = await prepareRelease(deps, input, {
    previous: task.previous,
    draw: { renderer: deps.renderer, priorities },
  });
  // The process that made a release also renders what it left for later. Another process does so only when it first looks at
  // the page.
  const isNothingNew = manifest === null && !task.comparesAll;
  return { ...prepared, manifest, filesDrawn, filesTotal: entries.length, hasWaiting: hasWaiting && !isNothingNew };
}

/**
 * News is shown as of now. Without news, figures are computed up to the last heartbeat, so that a pass without news rewrites
 * nothing.
 */
export function modelFor(
  inputs: UndatedInputs,
  task: Pick<PageTask, 'page' | 'priority' | 'previous'> & { readonly state: Pick<SiteState, 'now'> },
): { readonly model: PageModel; readonly eventKey: string } {
  const { previous } = task;
  const { now } = task.state;
  if (task.priority === 'deferred' && previous !== null)
    return { model: pageModel({ ...inputs, asOf: toEpochMs(previous.asOf) }), eventKey: previous.eventKey };
  const model = pageModel({ ...inputs, asOf: now });
  const eventKey = digestEvents(model, task.page);
  if (previous === null || previous.eventKey !== eventKey) return { model, eventKey };
  const resting = pageModel({ ...inputs, asOf: lastFiguresAt(now, previous) });
  // If no process looked for a while, the last heartbeat lies in a gap in the data, and the states at that time were unknown.
  return digestEvents(resting, task.page) === eventKey ? { model: resting, eventKey } : { model, eventKey };
}

/**
 * Returns the last heartbeat, or the time of the served release's news if that is later. If that lies in the future, the clock
 * was set back, and it is ignored.
 */
function lastFiguresAt(now: EpochMs, previous: Manifest): EpochMs {
  const heartbeat = heartbeatBefore(now, previous.slug);
  return previous.asOf > now ? heartbeat : toEpochMs(Math.max(heartbeat, previous.asOf));
}

function prioritiesFor(task: PageTask, drawn: DrawnFrom): readonly Priority[] {
  if (task.priority === 'deferred') return ['deferred', 'background'];
  return leavesFigures(task, drawn) ? ['immediate'] : ['immediate', 'deferred'];
}

type DrawnFrom = Required<Pick<EntriesInput, 'eventKey' | 'asOf' | 'access' | 'customDomain' | 'page' | 'entries'>>;

/**
 * Whether long-term figures can wait: there is news, no heartbeat is due, and no file disappears. Files that mention removed
 * things are never left for later, nor are files that were rendered for other access rules or another domain.
 */
function leavesFigures({ previous, comparesAll }: PageTask, { eventKey, asOf, entries, ...drawn }: DrawnFrom) {
  if (comparesAll || previous === null || previous.access !== drawn.access) return false;
  if (releasePage(previous) !== drawn.page || previous.customDomain !== drawn.customDomain) return false;
  if (previous.eventKey === eventKey && previous.asOf !== asOf) return false;
  const kept = entries.filter(({ path }) => previous.files[path] !== undefined);
  return kept.length === countFiles(previous);
}

/** Without those of the log. */
function countFiles({ files }: Manifest): number {
  return Object.keys(files).filter((path) => !isLogFile(path)).length;
}

function dueAfter(inputs: UndatedInputs, model: PageModel, { page, state: { now } }: PageTask): number {
  const nextHeartbeat = heartbeatBefore(now, page.definition.slug) + HEARTBEAT_MS;
  return Math.min(nextHeartbeat, nextChangeAt(inputs, model, now));
}

function releaseAccess({ definition: { slug, access } }: ResolvedPage): ReleaseAccess {
  if (access !== 'closed') return access;
  throw new StatusError({ code: 'PUBLISH_FAILED', message: `${slug} is closed and is never published` });
}

/** Where the log of a page is continued. */
export function logPlace({ settings, asOf }: PageModel, { page, state }: Pick<PageTask, 'page' | 'state'>) {
  const { key } = page.identity;
  return { page: key, origin: logOrigin(settings.url, key), revision: state.revision, at: asOf };
}

/** Adds the figures of past days to the page's log, unless the log already has them. */
export async function commitDays(
  deps: Pick<PageReleaseDeps, 'commitDays' | 'commitRelease' | 'folders' | 'store'>,
  { components, asOf, log }: PageModel,
  { previous, ...place }: Omit<LoggedRelease, 'event'> & { readonly previous: Manifest | null },
): Promise<void> {
  const through = lastClosedDay(asOf);
  const shown = closedDays(components, asOf);
  const ids = components.map(({ definition }) => definition.id);
  const days = shown.map(({ component, day, figures }) => `${component} ${day} ${figures}`);
  const digest = hash('sha256', [through, ...ids, '', ...days].join('\n'));
  if (log?.days === digest) return;
  await deps.commitDays({
    ...{ ...place, through, shown, digest, seen: readSeen(logDeps(deps, previous)) },
    components: ids,
  });
}

function logDeps(
  { folders, store, commitRelease }: Pick<PageReleaseDeps, 'folders' | 'store' | 'commitRelease'>,
  previous: Manifest | null,
): Parameters<typeof withLogFiles>[0] {
  const place = previous === null ? null : filePlaces(folders, previous);
  return {
    commitRelease,
    readLines: (page, range) => readLines(store.database, page, range),
    readBefore: (path) => readFileSync(place?.(path) ?? '', 'utf8'),
  };
}

interface EntriesInput extends Omit<ReleaseInput, 'files'> {
  readonly entries: readonly FileEntry[];
  /** The page's log, which the release continues; absent: it has none. */
  readonly log?: LoggedRelease;
}

/** Renders the changed files of a release and writes it. Returns no manifest if the release would equal the previous one. */
export async function prepareRelease(
  deps: Pick<PageReleaseDeps, 'disk' | 'folders' | 'store' | 'nextNumber' | 'commitRelease'>,
  input: EntriesInput,
  { previous, draw }: { readonly previous: Manifest | null; readonly draw: DrawOptions },
): Promise<{ readonly manifest: Manifest | null; readonly filesDrawn: number; readonly hasWaiting: boolean }> {
  const { entries, data, log, ...rest } = input;
  const isOther =
    previous !== null &&
    (previous.access !== input.access || releasePage(previous) !== (input.page ?? releasePage({ slug: input.slug })));
  const { files, filesDrawn, hasWaiting } = await drawFiles(entries, previous, { ...draw, isOther });
  const hasSameFiles =
    previous !== null &&
    filesDrawn === 0 &&
    !isOther &&
    previous.customDomain === input.customDomain &&
    countFiles(previous) === files.length;
  const isSame =
    hasSameFiles &&
    previous.eventKey === input.eventKey &&
    files.every((file) => file.drawn === null && file.key === previous.files[file.path]?.key);
  if (isSame) return { manifest: null, filesDrawn, hasWaiting };
  try {
    // A release with the same bytes isn't worth rolling back to.
    const isNew = draw.priorities.includes('immediate') && !hasSameFiles;
    const completes = isNew ? null : (previous?.number ?? null);
    const all =
      log === undefined ? files : await withLogFiles(logDeps(deps, previous), { files, previous, release: log });
    // Only news that leaves figures for the run after it, which looks at everything.
    const isUrgent = draw.priorities.join() === 'immediate';
    const manifest = await writeRelease(deps, { ...rest, completes, isUrgent, files: all, data }, previous);
    return { manifest, filesDrawn, hasWaiting };
  } catch (error) {
    if (!(error instanceof DamagedReleaseError)) throw error;
    // The last release is damaged, so every file is rendered again.
    return prepareRelease(deps, input, {
      previous: null,
      draw: { ...draw, priorities: draw.priorities.includes('immediate') ? draw.priorities : PRIORITIES },
    });
  }
}

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
          message: `The page ${slug} could not be published: ${messageOf(error)}. The previous release stays online. ${Object.hasOwn(error as Error, 'code') ? 'Check disk space and permissions of the data folder.' : 'The next run tries again.'}`,
          cause: error,
          context: { slug },
        });
      }
    },
  };
}
