/** Publishes the site's own files: the index of pages, the 404 page, and files for crawlers. */

import { readRecords, readVerifiers } from '../transparency/page-log.ts';
import { HEARTBEAT_MS, heartbeatBefore } from '../views/model/page-model.ts';
import type { ListedPage } from '../views/site/index-of-pages.ts';
import type { ResolvedPage } from './definitions/definitions.ts';
import type { SiteState } from './definitions/site-state.ts';
import { type FileEntry, PRIORITIES } from './files/file-entry.ts';
import { fingerprintOf } from './fingerprint.ts';
import { type PagePublisher, type PageReleaseDeps, prepareRelease } from './page-release.ts';
import { type PageReport, pageReport } from './publish-control.ts';
import { currentNumber, SITE_SLUG } from './releases/folders.ts';
import { currentManifest, type PageAtSlug, releasePage } from './releases/manifest.ts';
import { type PageSummary, readReleaseData, releaseDataText } from './releases/release-data.ts';
import type { Fence } from './releases/switch.ts';

export interface SiteFilesInput {
  readonly site: SiteState['site'];
  /** Every published page with the summary of its last release. */
  readonly pages: readonly ListedPage[];
  /** Public keys of the pages' logs, the latest first. Default: none. */
  readonly logKeys?: readonly string[];
  /** What the site says as a witness of others; null: nothing. Default: null. */
  readonly witness?: string | null;
}

export type ListSiteFiles = (site: SiteFilesInput) => readonly FileEntry[];

export type SitePublisher = ReturnType<typeof createSitePublisher>;

export function createSitePublisher(
  deps: PageReleaseDeps & { readonly listSiteFiles: ListSiteFiles },
  pages: PagePublisher,
) {
  let lastKey: string | null = null;
  let dueAt = 0;
  const isServed = (): boolean => currentNumber(deps.folders, SITE_SLUG) !== null;

  let last: Promise<unknown> = Promise.resolve();

  async function publish(state: SiteState, fence: Fence, findSummary: (page: ResolvedPage) => PageSummary | null) {
    const started = performance.now();
    const listed = state.resolved.pages.flatMap((page) => {
      const summary = findSummary(page) ?? publishedSummary(deps, page);
      return summary === null ? [] : [{ ...page, ...summary }];
    });
    const logKeys = await readVerifiers(deps.store.database);
    const word = (await readRecords(deps.store.database)).find(({ kind }) => kind === 'word')?.text ?? null;
    const key = fingerprintOf([state.site, listed.map(listNews), logKeys, word]);
    if (key === lastKey && state.now < dueAt && isServed()) return null;
    const number = currentNumber(deps.folders, SITE_SLUG);
    const previous = number === null ? null : pages.manifests.get(SITE_SLUG, number);
    const entries = deps.listSiteFiles({
      site: state.site,
      pages: listed,
      logKeys,
      witness: word,
    });
    const input = {
      slug: SITE_SLUG,
      access: 'public',
      customDomain: null,
      asOf: state.now,
      eventKey: key,
      entries,
      data: () => releaseDataText({ listed: openPages(listed) }),
    } as const;
    const { manifest, filesDrawn } = await prepareRelease(deps, input, {
      previous,
      draw: { renderer: deps.renderer, priorities: PRIORITIES },
    });
    if (manifest !== null) await pages.switchTo(manifest, { number, listed: openPages(listed) }, fence);
    lastKey = key;
    dueAt = heartbeatBefore(state.now, SITE_SLUG) + HEARTBEAT_MS;
    return pageReport(SITE_SLUG, manifest === null ? 'unchanged' : 'published', {
      release: manifest?.number ?? number,
      filesDrawn,
      filesTotal: entries.length,
      durationMs: performance.now() - started,
    });
  }

  return {
    /** Publishes the site's own files if what they show has changed, or if their heartbeat is due. Null: neither. */
    publish: (...init: Parameters<typeof publish>): Promise<PageReport | null> => {
      const mine = last.then(() => publish(...init));
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}

function openPages(pages: readonly ResolvedPage[]): readonly PageAtSlug[] {
  return pages.flatMap(({ definition: { slug, access }, identity: { key } }) =>
    access === 'public' ? [{ slug, page: key }] : [],
  );
}

/** What counts as news of a page for the site's own files. The age of its data waits for the next heartbeat. */
function listNews({ definition, settings, state, since }: ListedPage): unknown {
  const { slug, title, description, access, published } = definition;
  return [slug, title, description, access, published, state, since, settings.url, settings.allowIndex];
}

/** The summary in the served release of a page that this process hasn't published yet. Null: the index leaves the page out. */
function publishedSummary({ folders }: PageReleaseDeps, { definition: { slug }, identity }: ResolvedPage) {
  const manifest = currentManifest(folders, slug);
  if (manifest === null || releasePage(manifest) !== identity.key) return null;
  const { number } = manifest;
  return readReleaseData(folders, slug, number)?.summary ?? null;
}
