/** Draws what changed of each page and switches its release. */

import { messageOf, StatusError } from '../errors.ts';
import type { PageModel } from '../model/page.ts';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import type { Store } from '../store/store.ts';
import type { ListedPage } from '../views/index-of-pages.ts';
import type { ResolvedPage } from './definitions.ts';
import { digestOf, type FileEntry, type PageRenderer } from './file-entry.ts';
import {
  currentManifest,
  type Manifest,
  publishedSlugs,
  publishRelease,
  type ReleaseFile,
  type ReleaseFolders,
  removeOrphans,
  withdraw,
} from './release.ts';
import {
  eventFacts,
  HEARTBEAT_MS,
  loadPageModel,
  loadSiteState,
  type SiteState,
  type SiteStateInputs,
} from './site-state.ts';

/** The release that holds the site's own files. */
export const SITE_SLUG = '_site';

export interface PublisherOptions {
  readonly folders: ReleaseFolders;
  readonly store: Store;
  readonly renderer: PageRenderer & { readonly version: string };
  /** All files of a page. */
  readonly filesOf: (model: PageModel, page: ResolvedPage) => readonly FileEntry[];
  /** The site's own files: index of pages, 404, robots, sitemap … */
  readonly siteFilesOf: (site: SiteFilesInput) => readonly FileEntry[];
  /** Plain data that the server draws on demand from. */
  readonly dataOf: (model: PageModel, page: ResolvedPage) => unknown;
}

export interface SiteFilesInput {
  readonly site: SiteStateInputs['site'];
  /** Every published page with what its last release says of itself. */
  readonly pages: readonly ListedPage[];
  /** The page shown at the root, when it is public; null: the root is the index of pages. */
  readonly home: PageModel | null;
}

/** What the index of pages shows of a page, beside its definition. */
export type PageSummary = Pick<PageModel, 'state' | 'asOf' | 'dataFrom'>;

/** What a manifest keeps beside its files. */
interface ReleaseData {
  readonly summary: PageSummary;
  readonly onDemand: unknown;
}

export interface PageReport {
  readonly slug: string;
  readonly kind: 'published' | 'unchanged' | 'failed' | 'withdrawn';
  readonly release: number | null;
  readonly filesDrawn: number;
  readonly filesTotal: number;
  readonly durationMs: number;
  readonly message: string | null;
}

export interface PublishReport {
  readonly pages: readonly PageReport[];
  /** Pages that could not be published as they are defined, in words. */
  readonly problems: readonly { readonly slug: string; readonly message: string }[];
  readonly durationMs: number;
}

export interface Publisher {
  /** Publishes every page that has news or is due for its heartbeat; `slug`: only that one. Never throws for one page. */
  readonly publish: (
    inputs: SiteStateInputs,
    request: { readonly now: EpochMs; readonly slug?: string },
  ) => Promise<PublishReport>;
}

/** Makes the publisher and clears away what a crash left half written. */
export function createPublisher(options: PublisherOptions): Publisher {
  removeOrphans(options.folders);
  return {
    publish: async (inputs, request) => {
      const started = performance.now();
      const state = await loadSiteState(options.store, inputs, request.now);
      const pages: PageReport[] = [];
      for (const page of state.resolved.pages) {
        if (request.slug !== undefined && request.slug !== page.definition.slug) continue;
        pages.push(await publishPage(options, { state, page }));
      }
      if (request.slug === undefined) {
        pages.push(...withdrawOthers(options, state));
        pages.push(await publishSite(options, state, inputs));
      }
      return { pages, problems: state.resolved.problems, durationMs: performance.now() - started };
    },
  };
}

async function publishPage(
  options: PublisherOptions,
  { state, page }: { state: SiteState; page: ResolvedPage },
): Promise<PageReport> {
  const started = performance.now();
  const slug = page.definition.slug;
  const report = (kind: PageReport['kind'], rest: Partial<PageReport> = {}): PageReport => ({
    slug,
    kind,
    release: null,
    filesDrawn: 0,
    filesTotal: 0,
    message: null,
    ...rest,
    durationMs: performance.now() - started,
  });
  try {
    const previous = currentManifest(options.folders, slug);
    const model = await loadPageModel(options.store, state, { page, asOf: heartbeatOf(state.now, previous) });
    const eventKey = digestOf(eventFacts(model));
    // News: figures are computed to this very instant, and the heartbeat counts from it.
    const isNews = previous === null || previous.eventKey !== eventKey;
    const current =
      isNews && model.asOf !== state.now ? await loadPageModel(options.store, state, { page, asOf: state.now }) : model;
    const entries = options.filesOf(current, page);
    const result = await publishEntries(options, {
      slug,
      access: accessOf(page),
      customDomain: page.definition.customDomain,
      asOf: current.asOf,
      eventKey: current === model ? eventKey : digestOf(eventFacts(current)),
      entries,
      data: JSON.stringify({
        summary: { state: current.state, asOf: current.asOf, dataFrom: current.dataFrom },
        onDemand: options.dataOf(current, page),
      } satisfies ReleaseData),
      previous,
    });
    return report(result.filesDrawn === 0 && result.manifest === previous ? 'unchanged' : 'published', {
      release: result.manifest.number,
      filesDrawn: result.filesDrawn,
      filesTotal: entries.length,
    });
  } catch (error) {
    return report('failed', { message: messageOf(error) });
  }
}

function accessOf(page: ResolvedPage): Manifest['access'] {
  const { access } = page.definition;
  if (access === 'closed')
    throw new StatusError({
      code: 'PUBLISH_FAILED',
      message: `${page.definition.slug} is closed and is never published`,
    });
  return access;
}

/** The last heartbeat, or the news of the release being served if that is later. */
function heartbeatOf(now: EpochMs, previous: Manifest | null): EpochMs {
  const beat = now - (now % HEARTBEAT_MS);
  return toEpochMs(previous === null ? now : Math.min(now, Math.max(beat, previous.asOf)));
}

interface EntriesInput {
  readonly slug: string;
  readonly access: Manifest['access'];
  readonly customDomain: string | null;
  readonly asOf: EpochMs;
  readonly eventKey: string;
  readonly entries: readonly FileEntry[];
  readonly data: string;
  readonly previous: Manifest | null;
}

async function publishEntries(
  options: PublisherOptions,
  input: EntriesInput,
): Promise<{ manifest: Manifest; filesDrawn: number }> {
  const { previous, entries } = input;
  const files: ReleaseFile[] = [];
  let filesDrawn = 0;
  for (const entry of entries) {
    const key = digestOf([options.renderer.version, entry.kind, entry.key]);
    const last = previous?.files[entry.path];
    if (last !== undefined && last.key === key) {
      files.push({ path: entry.path, key, contentType: entry.contentType, csp: last.csp, body: null });
      continue;
    }
    const drawn = await entry.draw(options.renderer);
    filesDrawn += 1;
    const body = typeof drawn.body === 'string' ? Buffer.from(drawn.body) : drawn.body;
    files.push({ path: entry.path, key, contentType: entry.contentType, csp: drawn.csp, body });
  }
  const isSame =
    previous !== null &&
    filesDrawn === 0 &&
    previous.access === input.access &&
    previous.customDomain === input.customDomain &&
    previous.eventKey === input.eventKey &&
    Object.keys(previous.files).length === files.length;
  if (isSame) return { manifest: previous, filesDrawn };
  return { manifest: publishRelease(options.folders, { ...input, files }, previous), filesDrawn };
}

/** Pages that are no longer defined, or no longer published, go; a definition that is only in trouble keeps its page. */
function withdrawOthers(options: PublisherOptions, state: SiteState): PageReport[] {
  const kept = new Set([SITE_SLUG, ...state.resolved.pages.map((page) => page.definition.slug)]);
  // An upstream that never answered since the start has defined nothing yet: nothing of it is taken back.
  const isUndecided = state.sources.some((source) => source.monitorsAt === null);
  if (isUndecided) return [];
  return publishedSlugs(options.folders)
    .filter((slug) => !kept.has(slug))
    .map((slug) => {
      withdraw(options.folders, slug);
      return { slug, kind: 'withdrawn', release: null, filesDrawn: 0, filesTotal: 0, durationMs: 0, message: null };
    });
}

async function publishSite(options: PublisherOptions, state: SiteState, inputs: SiteStateInputs): Promise<PageReport> {
  const started = performance.now();
  const base = { slug: SITE_SLUG, release: null, filesDrawn: 0, filesTotal: 0, message: null };
  try {
    const { site } = inputs;
    const previous = currentManifest(options.folders, SITE_SLUG);
    const homePage = state.resolved.pages.find(
      (page) => page.definition.slug === site.home && page.definition.access === 'public',
    );
    const homeManifest = homePage === undefined ? null : currentManifest(options.folders, homePage.definition.slug);
    const asOf = homeManifest === null ? state.now : toEpochMs(homeManifest.asOf);
    const homeModel =
      homePage === undefined ? null : await loadPageModel(options.store, state, { page: homePage, asOf });
    const listed = state.resolved.pages.flatMap(({ definition, settings }): readonly ListedPage[] => {
      const manifest = currentManifest(options.folders, definition.slug);
      return manifest === null ? [] : [{ definition, settings, ...(JSON.parse(manifest.data) as ReleaseData).summary }];
    });
    const entries = options.siteFilesOf({ site, pages: listed, home: homeModel });
    const eventKey = digestOf(entries.map((entry) => entry.path));
    const input = {
      slug: SITE_SLUG,
      access: 'public',
      customDomain: null,
      asOf,
      eventKey,
      entries,
      data: '{}',
      previous,
    } as const;
    const { manifest, filesDrawn } = await publishEntries(options, input);
    return {
      ...base,
      kind: manifest === previous ? 'unchanged' : 'published',
      release: manifest.number,
      filesDrawn,
      filesTotal: entries.length,
      durationMs: performance.now() - started,
    };
  } catch (error) {
    return { ...base, kind: 'failed', message: messageOf(error), durationMs: performance.now() - started };
  }
}
