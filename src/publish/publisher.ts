/**
 * Publishes what changed. The cost of a run grows with the number of pages that have news or are due, not with the site. Pages
 * with news come first, then pages that are due, then the files that list them.
 */

import pLimit from 'p-limit';
import { messageOf } from '../errors.ts';
import type { PageKey } from '../model/slugs.ts';
import type { PageNews } from '../notify/news.ts';
import { type BackgroundWork, createBackgroundWork } from './background-work.ts';
import { type ResolvedPage, type ResolvedSite, standingIn } from './definitions/definitions.ts';
import type { SiteState } from './definitions/site-state.ts';
import { fingerprintOf } from './fingerprint.ts';
import {
  createPagePublisher,
  type PagePublisher,
  type PagePublisherDeps,
  type PlannedTask,
  POOL_PAGES_MIN,
  type WorkerPool,
} from './page-release.ts';
import { type PageReport, type PublishControl, type PublishReport, pageReport } from './publish-control.ts';
import { type Noting, notedPages, noteKeys, writePublishedNote } from './published-note.ts';
import { closePages, removeOrphans } from './releases/clean.ts';
import { DISK, type Disk } from './releases/disk.ts';
import { currentNumber, namesIn, publishedSlugs, SITE_SLUG } from './releases/folders.ts';
import { createReleasePages, withoutVariants } from './releases/manifest.ts';
import { closeGated } from './releases/modes.ts';
import type { PageSummary } from './releases/release-data.ts';
import { type Fence, heldRelease, letGo, withdraw } from './releases/switch.ts';
import { createSitePublisher, type ListSiteFiles, type SitePublisher } from './site-release.ts';

export type { WorkerPool } from './page-release.ts';
export type { PublishReport } from './publish-control.ts';

export interface PublisherOptions extends Omit<PagePublisherDeps, 'disk' | 'onSwitched' | keyof PublishControl> {
  readonly control: PublishControl;
  /** Default: the real one. */
  readonly disk?: Disk;
  readonly listSiteFiles: ListSiteFiles;
  /** Returns the slugs of pages that changed since the last call. */
  readonly takeTouched: () => ReadonlySet<string>;
  /** Threads that prepare pages; default: this thread does. */
  readonly workers?: WorkerPool;
  /** Record of what the last process published. Default: none, so that every page is looked at once. */
  readonly noting?: Noting;
  /** Called after each page of a run with the number of pages that are done. */
  readonly onPage?: (done: number, total: number) => void;
  /** Called with errors of background work. */
  readonly onError: (error: unknown) => void;
}

export type Publisher = ReturnType<typeof createPublisher>;

/** How often `forgetLost` lists the links. It is most of the cost of a run without news. */
const LINKS_EVERY_MS = 10_000;

/** How often the record of what was published is written. A process that is killed loses no more than that. */
const NOTE_EVERY_MS = 5 * 60_000;

/** What one run works with. */
interface PublishRun {
  readonly state: SiteState;
  readonly fence: Fence;
  /** False: it publishes a single page that somebody asked for. */
  readonly isOfAll: boolean;
  /** Called after each page. */
  readonly onPage: () => void;
}

interface KnownPage {
  readonly page: PageKey;
  readonly summary: PageSummary;
  readonly dueAt: number;
  /** The release being served; null: some of its files could not be rendered. */
  readonly release: number | null;
}

type PublishedState = ReturnType<typeof nothingPublished>;

interface Parts {
  readonly options: PublisherOptions & PublishControl & { readonly disk: Disk };
  readonly memory: PublishedState;
  readonly pages: PagePublisher;
  readonly pageOf: ReturnType<typeof createReleasePages>;
  readonly site: SitePublisher;
  readonly background: BackgroundWork;
}

function nothingPublished() {
  return {
    pages: new Map<string, KnownPage>(),
    /** Digest of the notices stored last, by page. */
    told: new Map<string, string>(),
    /** Notices that are being stored. */
    telling: new Set<Promise<void>>(),
    /** Pages with news that are not published yet. */
    pending: new Set<string>(),
    /** When a page last had news, on the clock of `performance.now()`. */
    newsAt: -Infinity,
    /** The definitions for which removed pages were withdrawn. */
    withdrawnFor: null as ResolvedSite | null,
    /** The definitions whose pages are all in `pages` or `pending` once a run is over; null: some may be missing. */
    lookedAtFor: null as ResolvedSite | null,
    isFirstRun: true,
    /** The state to publish in the site's own files after news; null: they are up to date. */
    siteWaits: null as SiteState | null,
    /** When links were last looked at, on the clock of `performance.now()`. */
    linksSeenAt: performance.now(),
    /** Of the last run; null: there was none. */
    state: null as SiteState | null,
    /** When what is published was last noted, on the clock of `performance.now()`. */
    notedAt: performance.now(),
  };
}

/** Makes the publisher; its first run looks at every page. */
export function createPublisher(init: PublisherOptions) {
  const options = { ...init, ...init.control, disk: init.disk ?? DISK };
  const pages = createPagePublisher({ ...options, onSwitched: (slug) => background.addOutdated(slug) });
  const inTurn = pLimit(1);
  /** The fence of the task that holds the lease, and the tasks that joined it. */
  let held: { readonly fence: Fence; readonly joined: Promise<void>[] } | null = null;
  /** Runs one task at a time: in this process by a queue, among processes by the lease. */
  const exclusively = <Result>(task: (fence: Fence) => Promise<Result>): Promise<Result> =>
    inTurn(() =>
      options.withLease(async (fence) => {
        const joined: Promise<void>[] = [];
        held = { fence, joined };
        try {
          return await task(fence);
        } finally {
          held = null;
          // Tasks that joined still switch releases under this lease.
          await Promise.allSettled(joined);
        }
      }),
    );
  const idle = (): Promise<void> => inTurn(() => undefined);
  const memory = nothingPublished();
  const background = createBackgroundWork({
    ...options,
    pages,
    withFence: exclusively,
    publishSite: (fence) => publishWaitingSite(parts, fence),
    idle,
    newsAt: () => memory.newsAt,
    onRelease: (slug, number) => {
      const known = memory.pages.get(slug);
      if (known !== undefined) memory.pages.set(slug, { ...known, release: number });
    },
    workers: options.workers ?? null,
  });
  const parts: Parts = {
    ...{ options, pages, memory, background, pageOf: createReleasePages(options.folders) },
    site: createSitePublisher(options, pages),
  };
  return {
    /**
     * Publishes every page that has news or is due. With `slug`, publishes only that page and compares all of its files. An error
     * on one page doesn't throw. Slow files (images) follow in the background, in releases of their own.
     */
    publish: async (state: SiteState, { slug }: { readonly slug?: string } = {}): Promise<PublishReport> => {
      const started = performance.now();
      const isSiteLost = forgetLost(parts);
      const tasks = tasksFor(parts, state, slug);
      memory.state = state;
      const { problems } = state.resolved;
      const isIdle = !isSiteLost && tasks.length === 0 && parts.memory.withdrawnFor === state.resolved;
      const reports = isIdle
        ? []
        : await exclusively((fence) =>
            publishAll(
              parts,
              { state, fence, isOfAll: slug === undefined, onPage: counter(options.onPage, tasks.length) },
              tasks,
            ),
          ).catch((error: unknown) => tasks.map(({ page }) => failed(parts, page.definition.slug, error)));
      if (performance.now() - memory.notedAt > NOTE_EVERY_MS) noteSoon(parts);
      return { pages: reports, problems, durationMs: performance.now() - started };
    },
    /** Publishes the site's own files again, even while a run publishes: they mention a page that was closed. */
    publishSite: async (state: SiteState): Promise<void> => {
      const task = async (fence: Fence): Promise<void> => void (await publishSite(parts, { state, fence }));
      if (held === null) return exclusively(task);
      const joining = task(held.fence);
      held.joined.push(joining);
      return joining;
    },
    /** Resolves when no background work is left that visitors would notice. */
    settled: parts.background.settled,
    /** Stops background work. The next process continues it. */
    close: async (): Promise<void> => {
      await parts.background.close();
      await idle();
      await Promise.all(memory.telling);
      await note(parts).catch(options.onError);
      await options.workers?.terminate();
    },
  };
}

/**
 * Forgets pages whose links are gone because somebody deleted them, so that they are published as if for the first time. Lists
 * two folders, at most every few seconds.
 * @returns whether the site's own files are gone
 */
function forgetLost({ options: { folders }, memory }: Parts): boolean {
  if (memory.isFirstRun || performance.now() - memory.linksSeenAt < LINKS_EVERY_MS) return false;
  memory.linksSeenAt = performance.now();
  const links = new Set([...namesIn(folders.publicSite), ...namesIn(folders.privateSite)]);
  for (const slug of memory.pages.keys()) if (!links.has(slug) && memory.pages.delete(slug)) memory.lookedAtFor = null;
  return !links.has(SITE_SLUG);
}

/** Writes the record once no work is queued. */
function noteSoon(parts: Parts): void {
  parts.memory.notedAt = performance.now();
  parts.background
    .settled()
    .then(() => note(parts))
    .catch(parts.options.onError);
}

/** Leaves out pages with queued or failed work, so that the next process looks at them. */
async function note({ options, memory, background }: Parts): Promise<void> {
  const { noting, folders, store } = options;
  const { state, telling, pending } = memory;
  if (noting === undefined || state === null || telling.size > 0) return;
  const waiting = background.waiting();
  const keyOf = noteKeys(state);
  const pages = state.resolved.pages.flatMap((page) => {
    const { slug } = page.definition;
    const known = knownPage(memory, page);
    if (known === null || known.release === null || pending.has(slug) || waiting.has(slug)) return [];
    if (currentNumber(folders, slug) !== known.release) return [];
    return [[slug, { ...known, release: known.release, key: keyOf(page) }] as const];
  });
  await writePublishedNote(options, {
    format: 1,
    version: noting.version,
    store: await store.firstPublishedAt(),
    revision: state.revision,
    pages: Object.fromEntries(pages),
  });
}

function counter(onPage: PublisherOptions['onPage'], total: number): () => void {
  let done = 0;
  onPage?.(done, total);
  return () => {
    done += 1;
    onPage?.(done, total);
  };
}

/** Null: this process hasn't published the page; another one may have had its slug. */
function knownPage({ pages }: PublishedState, { definition, identity }: ResolvedPage): KnownPage | null {
  const known = pages.get(definition.slug);
  return known?.page === identity.key ? known : null;
}

/** Pages with news first, then pages that were never looked at, then pages that are due. */
function tasksFor({ options, memory }: Parts, state: SiteState, slug: string | undefined): PlannedTask[] {
  for (const touched of options.takeTouched()) memory.pending.add(touched);
  if (memory.isFirstRun && options.noting !== undefined)
    for (const [page, noted] of notedPages(options.folders, state, options.noting)) memory.pages.set(page, noted);
  if (memory.pending.size > 0) memory.newsAt = performance.now();
  const { now, announcements, sources, revision } = state;
  const rankPage = (page: ResolvedPage): number | null => {
    const known = knownPage(memory, page);
    if (memory.pending.has(page.definition.slug)) return 0;
    if (known === null) return 1;
    return known.dueAt <= now ? 2 : null;
  };
  const ranked =
    slug === undefined
      ? candidates(memory, state).flatMap((page) => {
          const rank = rankPage(page);
          return rank === null ? [] : [{ page, rank }];
        })
      : state.resolved.pages.filter(({ definition }) => definition.slug === slug).map((page) => ({ page, rank: 0 }));
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ page }) => ({
      page,
      state: { now, announcements, sources, revision },
      priority: 'immediate',
      comparesAll: slug !== undefined || knownPage(memory, page) === null,
    }));
}

/** All pages if some may be new, and otherwise those with news and those that are due: of 10,000 pages, few. */
function candidates(memory: PublishedState, { resolved, now }: SiteState): readonly ResolvedPage[] {
  const isLookedAt = memory.lookedAtFor === resolved;
  memory.lookedAtFor = resolved;
  if (!isLookedAt) return resolved.pages;
  const slugs = new Set(memory.pending);
  for (const [slug, { dueAt }] of memory.pages) if (dueAt <= now) slugs.add(slug);
  const bySlug = pagesBySlug.getOrInsertComputed(
    resolved,
    ({ pages }) => new Map(pages.map((page) => [page.definition.slug, page])),
  );
  return [...slugs].flatMap((slug) => bySlug.get(slug) ?? []);
}

/** Kept as long as the definitions, since looking through all pages for each change takes longer than finding the change. */
const pagesBySlug = new WeakMap<ResolvedSite, ReadonlyMap<string, ResolvedPage>>();

async function publishAll(parts: Parts, run: PublishRun, tasks: readonly PlannedTask[]): Promise<PageReport[]> {
  const { options, memory } = parts;
  if (memory.isFirstRun) {
    removeOrphans(options);
    closeGated(options);
  }
  const isNews = !memory.isFirstRun && run.isOfAll && tasks.length < POOL_PAGES_MIN && memory.pending.size > 0;
  memory.isFirstRun = false;
  // Links were checked when the definitions last changed. A page that another process made public is found after the news.
  const isLookedAt = isNews && memory.withdrawnFor === run.state.resolved;
  const closed = isLookedAt ? [] : await closePages(options, standingIn(run.state.resolved), parts.pageOf);
  const reports = await withdrawOthers(parts, run);
  // The list that mentions a closed page is replaced before anything is rendered.
  if (closed.length + reports.length > 0) await publishSite(parts, run);
  const workers = tasks.length >= POOL_PAGES_MIN ? (options.workers ?? null) : null;
  if (workers === null) reports.push(...(await publishEach(parts, run, { tasks, workers })));
  else {
    // Visitors can use one page and the root of the site without waiting for all other pages.
    reports.push(...(await publishEach(parts, run, { tasks: tasks.slice(0, 1), workers: null })));
    await publishSite(parts, run);
    reports.push(...(await publishEach(parts, run, { tasks: tasks.slice(1), workers })));
  }
  if (isNews) {
    // The list reads all pages, which would delay other news.
    memory.siteWaits = run.state;
    parts.background.addSite();
    return reports;
  }
  const site = await publishSite(parts, run);
  return site === null ? reports : [...reports, site];
}

async function publishWaitingSite(parts: Parts, fence: Fence): Promise<void> {
  const { siteWaits } = parts.memory;
  if (siteWaits === null) return;
  await closePages(parts.options, standingIn(siteWaits.resolved), parts.pageOf);
  const report = await publishSite(parts, { state: siteWaits, fence });
  if (report?.kind === 'failed') throw new Error(`The list of pages could not be published: ${report.message}`);
}

/** With workers, publishes as many pages at once as keep them busy; otherwise one after the other. */
function publishEach(
  parts: Parts,
  run: PublishRun,
  { tasks, workers }: { readonly tasks: readonly PlannedTask[]; readonly workers: WorkerPool | null },
): Promise<PageReport[]> {
  const limit = pLimit(workers === null ? 1 : 2 * workers.size);
  return limit.map(tasks, (task) => publishOne(parts, run, { task, workers }));
}

async function publishOne(
  parts: Parts,
  { fence, onPage }: PublishRun,
  { task, workers }: { readonly task: PlannedTask; readonly workers: WorkerPool | null },
): Promise<PageReport> {
  const { memory, background } = parts;
  const started = performance.now();
  const { slug, access } = task.page.definition;
  const { folders, disk } = parts.options;
  try {
    const held = heldRelease(folders, slug);
    if (held !== null && parts.pages.manifests.get(slug, held)?.access !== access) letGo({ disk, folders }, slug);
    else if (held !== null) {
      memory.pending.add(slug);
      return pageReport(slug, 'held', { release: held });
    }
    const published = await parts.pages.publish(task, (use) => use(fence), workers);
    const { manifest, previous, summary, dueAt, filesDrawn, filesTotal } = published;
    memory.pending.delete(slug);
    const served = manifest ?? previous;
    const { key } = task.page.identity;
    memory.pages.set(slug, { page: key, summary, dueAt, release: served?.number ?? null });
    tell(parts, slug, published.news);
    if (served !== null && withoutVariants(served).length > 0) background.addVariants(slug);
    if (published.hasWaiting) background.addDeferred(task);
    return pageReport(slug, manifest === null ? 'unchanged' : 'published', {
      release: served?.number ?? null,
      filesDrawn,
      filesTotal,
      durationMs: performance.now() - started,
    });
  } catch (error) {
    return failed(parts, slug, error, performance.now() - started);
  } finally {
    onPage();
  }
}

/** Stores notices without waiting. If the process ends first, the next one derives the same notices. */
function tell({ options, memory }: Parts, slug: string, news: PageNews | null): void {
  const fingerprint = news === null ? '' : fingerprintOf(news);
  if (news === null || memory.told.get(slug) === fingerprint) return;
  memory.told.set(slug, fingerprint);
  const telling = options
    .tell(news)
    .catch((error: unknown) => {
      memory.told.delete(slug);
      memory.pending.add(slug);
      options.onError(error);
    })
    .finally(() => memory.telling.delete(telling));
  memory.telling.add(telling);
}

/** A page that could not be published is tried again with the next run. */
function failed({ memory }: Parts, slug: string, error: unknown, durationMs = 0): PageReport {
  memory.pending.add(slug);
  return pageReport(slug, 'failed', { message: messageOf(error), durationMs });
}

/** Removes pages that are no longer defined or published, with all of their releases. */
async function withdrawOthers({ options, memory }: Parts, { state, fence }: PublishRun): Promise<PageReport[]> {
  if (memory.withdrawnFor === state.resolved) return [];
  const { pages, withheld, isDecided } = state.resolved;
  const kept = new Set([SITE_SLUG, ...pages.map((page) => page.definition.slug)]);
  const gone = publishedSlugs(options.folders).filter((slug) =>
    isDecided ? !kept.has(slug) : withheld.includes(slug),
  );
  for (const slug of gone) {
    await fence.pass(() => withdraw(options, slug));
    memory.pages.delete(slug);
    memory.pending.delete(slug);
  }
  memory.withdrawnFor = state.resolved;
  return gone.map((slug) => pageReport(slug, 'withdrawn'));
}

async function publishSite(parts: Parts, { state, fence }: Pick<PublishRun, 'state' | 'fence'>) {
  parts.memory.siteWaits = null;
  try {
    const report = await parts.site.publish(state, fence, (page) => knownPage(parts.memory, page)?.summary ?? null);
    if (report !== null) parts.background.addVariants(SITE_SLUG);
    return report;
  } catch (error) {
    return pageReport(SITE_SLUG, 'failed', { message: messageOf(error) });
  }
}
