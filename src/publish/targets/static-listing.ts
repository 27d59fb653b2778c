/** Lists what a static host gets: public pages, sealed pages, and the site's own files. */

import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { sealPage } from '../../access/sealed/seal.ts';
import type { SourceFreshness } from '../../model/page.ts';
import { type PageKey, SITE_FILES, toPageKey } from '../../model/slugs.ts';
import { sealWords } from '../../views/login/login.ts';
import { fingerprintOf } from '../fingerprint.ts';
import {
  filesFolder,
  publishedSlugs,
  type ReleaseFolders,
  releaseFolder,
  SITE_SLUG,
  servedRelease,
} from '../releases/folders.ts';
import { currentManifest, type Manifest, readManifest, releasePage } from '../releases/manifest.ts';
import { readReleaseData } from '../releases/release-data.ts';
import { headersFile, listExtras, nowFile, type PageLock, redirectsFile } from './host-files.ts';
import { HOME_SLUG } from './ledger.ts';
import {
  fileOfRelease,
  NoLongerPublicError,
  ReleaseGoneError,
  type StaticFile,
  textFile,
  writingStage,
} from './static-file.ts';

interface ListingOptions {
  readonly folders: ReleaseFolders;
  /** Slug of the home page; null: the root is the index of pages. */
  readonly home: () => string | null;
  /** How fresh each upstream is when a file is written. */
  readonly sources: () => readonly SourceFreshness[];
  /** Passwords of pages to seal, by slug; other private pages are left out. */
  readonly sealed: ReadonlyMap<string, PageLock>;
  /** `_headers` and `_redirects`; null: this host reads neither. */
  readonly hostFiles: { readonly isHttps: boolean } | null;
  /** Version of the program, for badges, which aren't part of a release. */
  readonly version: string;
}

export type StaticPage = Readonly<ReturnType<typeof listPage>>;
export type StaticListing = ReturnType<typeof createStaticListing>;
export type StaticSite = ReturnType<typeof listSite>;
type KnownPage = ReturnType<typeof describePage>;
type KnownPages = Map<string, KnownPage>;

/** Creates the listing over a data folder. It remembers a few words about each page between calls. */
export function createStaticListing(options: ListingOptions) {
  const known: KnownPages = new Map();
  return {
    /** Lists what is published. Pages that didn't change since the last call aren't read. */
    look: () => listSite(options, known),
  };
}

function listSite(options: ListingOptions, known: KnownPages) {
  const { folders, home, sealed } = options;
  const unreadable = new Set<string>();
  const gated: string[] = [];
  const open: KnownPage[] = [];
  const closed: StaticPage[] = [];
  for (const slug of publishedSlugs(folders)) {
    const served = servedRelease(folders, slug);
    const found = served === null ? null : readPage(options, known, slug, served.number);
    const lock = sealed.get(slug);
    if (served?.isPublic === true) {
      if (found?.access === 'public') open.push(found);
      else unreadable.add(slug);
    } else if (found?.access === 'password' && lock !== undefined) closed.push(listSealedPage(folders, found, lock));
    else gated.push(slug);
  }
  const others = open.filter(({ slug }) => slug !== SITE_SLUG);
  const homes = others.filter(({ slug }) => slug === home()).map((page) => listHomePage(options, page));
  const site = open
    .filter(({ slug }) => slug === SITE_SLUG)
    .map((found) => listSiteFiles(options, found, others, homes.length > 0));
  return {
    /** The site's own files come last, because they link to all other pages. */
    pages: [...others.map((page) => listPage(options, page)), ...closed, ...homes, ...site],
    /** Full paths of the copies at the root. */
    homePaths: () => new Set(homes.flatMap(({ files }) => files()).map(({ path }) => path)),
    /** Public pages whose release can't be read. Their files on the host stay. */
    unreadable,
    /** Pages on this disk that a static host must not get. */
    gated,
    /** Full paths of a page's current release, to remove them if there is no ledger. */
    pathsOf: (slug: string) => pathsOnDisk(options, slug),
  };
}

/** Null: its manifest can't be read. */
function readPage(options: ListingOptions, known: KnownPages, slug: string, number: number): KnownPage | null {
  const from = releaseStamp(options.folders, slug, number);
  const before = known.get(slug);
  if (before?.from === from) return before;
  known.delete(slug);
  const manifest = readManifest(options.folders, slug, number);
  if (manifest === null) return null;
  const found = describePage(options, manifest, from);
  known.set(slug, found);
  return found;
}

/** @param from  which manifest it is */
function describePage({ folders, version }: ListingOptions, manifest: Manifest, from: string) {
  const { slug, number, access, customDomain, asOf, files, locales = [] } = manifest;
  return {
    ...{ slug, number, from, access, customDomain, asOf },
    page: releasePage(manifest),
    mark: fingerprintOf([LISTING_FORMAT, version, manifest]).slice(0, 32),
    // New in every process, because encrypting a page again gives different bytes.
    sealedMark: randomUUID(),
    redirects: Object.entries(files).flatMap(([path, { location }]) =>
      location === undefined ? [] : [[path, location] as const],
    ),
    // Languages of its files beside the default.
    locales: locales.slice(1),
    // Of `api/now.json`; null: the release has none, or can't be read.
    now: readReleaseData(folders, slug, number)?.now ?? null,
  };
}

/** `api/now.json` of a page, in a list; empty: none is written. */
function listNow({ folders, sources }: ListingOptions, page: KnownPage): readonly StaticFile[] {
  if (page.now === null) return [];
  const file = nowFile(page.now, page.number, sources);
  return [{ ...file, path: pagePrefix(page.slug) + file.path, read: () => whilePublic(folders, [page], file.read) }];
}

function listPage(options: ListingOptions, page: KnownPage) {
  const { slug, mark, number } = page;
  // The file `api/now.json`, if there is one: it has new bytes each time, even with the same mark.
  const now = (): readonly StaticFile[] => listNow(options, page);
  return {
    /** `_site` for the site's own files, `_home` for the copy of the home page at the root. */
    slug,
    /** The page that the files are of, as in the ledger; undefined: the first that had the slug, or the site's own files. */
    page: laterPage(page),
    /** The same mark means the same files. `number`: of its release. */
    ...{ mark, number, isSealed: false, now },
    /** Files by full path, each once. Nothing is rendered yet. */
    files: (): StaticFile[] => [...publicFiles(options, page), ...now()],
  };
}

/** The page where it isn't the first that had the slug. */
function laterPage({ slug, page }: KnownPage): PageKey | undefined {
  return page === toPageKey(slug, 1) ? undefined : page;
}

/** Each of its languages is one encrypted document. Nothing else of the page is written. */
function listSealedPage(folders: ReleaseFolders, page: KnownPage, lock: PageLock): StaticPage {
  const { slug, number, sealedMark: mark } = page;
  const files = (): StaticFile[] => [null, ...page.locales].map((locale) => sealedFile(folders, page, lock, locale));
  return { slug, page: laterPage(page), mark, number, isSealed: true, files, now: () => [] };
}

/**
 * The page in one of its languages (null: the default) as a document that its password opens in the browser.
 */
function sealedFile(
  folders: ReleaseFolders,
  { slug, number, sealedMark }: KnownPage,
  { password, locale: spoken }: PageLock,
  locale: string | null,
): StaticFile {
  const path = join(locale ?? '', 'index.html');
  return {
    path: `${slug}/${path}`,
    identity: sealedMark,
    contentType: 'text/html; charset=utf-8',
    stage: 'index',
    read: async () => {
      const html = fileOfRelease(join(filesFolder(folders, slug, number), path), slug).toString('utf8');
      return Buffer.from(await sealPage(html, password.reveal(), { words: sealWords(locale ?? spoken) }));
    },
  };
}

/** The same files again for the root, except those that the site itself has there. */
function listHomePage(options: ListingOptions, page: KnownPage): StaticPage {
  const prefix = pagePrefix(page.slug);
  const atRoot = (file: StaticFile): StaticFile => ({ ...file, path: file.path.slice(prefix.length) });
  const now = (): readonly StaticFile[] => listNow(options, page).map(atRoot);
  const files = (): StaticFile[] => {
    const own = publicFiles(options, page).map(atRoot);
    return [...own.filter(({ path }) => !FILES_OF_SITE.has(path)), ...now()];
  };
  const mark = fingerprintOf([HOME_SLUG, page.slug, page.mark]).slice(0, 32);
  // The copy isn't a release.
  return { slug: HOME_SLUG, page: page.page, mark, number: 0, isSealed: false, files, now };
}

function listSiteFiles(options: ListingOptions, site: KnownPage, others: KnownPage[], hasHome: boolean): StaticPage {
  const { hostFiles, home } = options;
  const { number } = site;
  const texts = hostFiles === null ? [] : hostTexts(hostFiles.isHttps, others, hasHome ? home() : null);
  const mark = fingerprintOf([site.mark, texts, hasHome]).slice(0, 32);
  const files = (): StaticFile[] => {
    const own = publicFiles(options, site, others);
    return [
      ...texts.map(([path, text]) => textFile(path, text)),
      ...own.filter(({ path }) => !hasHome || path !== 'index.html'),
    ];
  };
  return { slug: SITE_SLUG, page: undefined, number, mark, isSealed: false, files, now: () => [] };
}

const FILES_OF_SITE: ReadonlySet<string> = new Set(SITE_FILES);

/** Increase this when more files of a release are listed, so that hosts get them. */
const LISTING_FORMAT = 5;

/** Identifies the manifest by more than its number, because a restored data folder may reuse numbers. */
function releaseStamp(folders: ReleaseFolders, slug: string, number: number): string {
  const file = statSync(join(releaseFolder(folders, slug, number), 'manifest.json'), { throwIfNoEntry: false });
  return `${number} ${file?.ino ?? ''} ${file?.mtimeMs ?? ''} ${file?.size ?? ''}`;
}

/** @param others pages that the site's own files tell of: once one of them is closed, these must not leave either */
function publicFiles({ folders, version }: ListingOptions, page: KnownPage, others: KnownPage[] = []): StaticFile[] {
  const { slug, number } = page;
  const manifest = readManifest(folders, slug, number);
  if (manifest === null) throw new ReleaseGoneError(slug);
  const prefix = pagePrefix(slug);
  const source = filesFolder(folders, slug, number);
  const guarded = (read: () => Uint8Array | Promise<Uint8Array>): Promise<Uint8Array> =>
    whilePublic(folders, [page, ...others], read);
  const files = Object.entries(manifest.files).map(
    ([path, { sha256, contentType }]): StaticFile => ({
      path: prefix + path,
      identity: sha256,
      contentType,
      stage: writingStage(path, contentType),
      read: () => guarded(() => fileOfRelease(join(source, path), slug)),
    }),
  );
  const extras = slug === SITE_SLUG ? [] : listExtras(folders, manifest, version);
  return [
    ...files,
    ...extras.map((extra) => ({ ...extra, path: prefix + extra.path, read: () => guarded(extra.read) })),
  ];
}

/** @throws NoLongerPublicError when one of the pages is not public by now, or another page has its slug */
async function whilePublic(
  folders: ReleaseFolders,
  pages: readonly KnownPage[],
  read: () => Uint8Array | Promise<Uint8Array>,
): Promise<Uint8Array> {
  for (const { slug, number, page } of pages) {
    const served = servedRelease(folders, slug);
    const current = served?.number === number ? null : currentManifest(folders, slug);
    const isSame = served?.number === number || (current !== null && releasePage(current) === page);
    if (served?.isPublic !== true || !isSame) throw new NoLongerPublicError(slug);
  }
  return read();
}

function hostTexts(isHttps: boolean, pages: readonly KnownPage[], home: string | null): (readonly [string, string])[] {
  // A page on hold still names the domain that another page has by now.
  const isTaken = ({ customDomain, asOf }: KnownPage): boolean =>
    customDomain !== null && pages.some((other) => other.customDomain === customDomain && other.asOf > asOf);
  const redirects = redirectsFile(
    pages.map((page) => ({ ...page, domain: isTaken(page) ? null : page.customDomain, isHome: page.slug === home })),
  );
  return [
    ['_headers', headersFile(isHttps, home !== null, [...new Set(pages.flatMap(({ locales }) => locales))].sort())],
    ...(redirects === null ? [] : [['_redirects', redirects] as const]),
  ];
}

function pathsOnDisk({ folders, version }: ListingOptions, slug: string): readonly string[] {
  const manifest = currentManifest(folders, slug);
  if (manifest === null) return [];
  const paths = Object.keys(manifest.files);
  try {
    paths.push(...listExtras(folders, manifest, version).map(({ path }) => path));
  } catch {
    // Its data can't be read, so only the files in its manifest are known.
  }
  return paths.map((path) => pagePrefix(slug) + path);
}

function pagePrefix(slug: string): string {
  return slug === SITE_SLUG ? '' : `${slug}/`;
}
