/**
 * `_headers` and `_redirects` for hosts that read them (Netlify, Cloudflare Pages).
 *
 * Both add up the headers of all rules that match, and one of them joins values of one name with a comma. So no file gets
 * a name from two rules; placeholders keep their number the same however many pages there are, below the 100 that
 * Cloudflare takes. Scripts of pages have none: both hosts let browsers ask whether theirs is still the same. What HTML may
 * do is in the documents (`<meta>`); who may frame them only a header can say.
 *
 * @see https://developers.cloudflare.com/pages/configuration/headers/ and https://docs.netlify.com/manage/routing/headers/,
 *   read 2026-11
 */

import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { BADGE_HEADERS } from '../../badges/files.ts';
import type { SourceFreshness } from '../../model/page.ts';
import { LOG_FOLDER } from '../../transparency/entries.ts';
import { jsonText, type NowFacts, nowDocument } from '../../views/json/state-json.ts';
import { MANIFEST_PATH, NOW_JSON_PATH } from '../../views/text/addresses.ts';
import { singleDocuments } from '../../views/v2/documents.ts';
import { fileKeys, inFolder } from '../files/file-entry.ts';
import { badgeFiles } from '../files/files.ts';
import { KINDS, type PageRenderer } from '../files/kinds.ts';
import { fingerprintOf } from '../fingerprint.ts';
import { filesFolder, type ReleaseFolders } from '../releases/folders.ts';
import {
  EVERY_ANSWER,
  frameAncestors,
  HSTS,
  INERT_CSP,
  type Manifest,
  NOW_CACHE,
  PUBLIC_CACHE,
} from '../releases/manifest.ts';
import { readReleaseData } from '../releases/release-data.ts';
import { fileOfRelease, type StaticFile, textFile } from './static-file.ts';

/** Folders below a page with nothing but documents in them, in folders of their own too. */
const ALL_DOCUMENTS = ['history/', 'incidents/', 'maintenance/', 'uptime/', 'embed/', 'verify/'];
/** Folders with a document in them, beside other files. */
const DOCUMENT_FOLDERS = ['', 'components/:id/', 'reports/', 'reports/:month/', 'badges/'];
const FEEDS = ['feed.atom', 'feed.rss', 'feed.json', 'maintenance.ics'];
const DATA = [
  // Not api/*: at the root that would be a page called components and its component called api.
  'api/v2/*',
  'api/state.json',
  'api/uptime.json',
  'build.json',
  'favicon.svg',
  'og.png',
  'icon.png',
  MANIFEST_PATH,
  'robots.txt',
  'sitemap.xml',
  'llms.txt',
  'reports/:month/report.json',
  'reports/:month/report.csv',
  ...FEEDS,
  'history.atom',
  'history.rss',
  ...FEEDS.map((feed) => `components/:id/${feed}`),
  `${LOG_FOLDER}*`,
];
/** Not with `*`, which the gallery in the same folder would match as well. */
const BADGES = ['badges/:file', 'components/:id/badges/:file', 'groups/:id/badges/:file'];
const SITE_DATA = [
  'robots.txt',
  'sitemap.xml',
  'llms.txt',
  'embed.js',
  'embed-resize.js',
  // What an operator brings along.
  'assets/*',
  '.well-known/*',
];

/** Documents of trees in other languages that are no page's in its default language, whatever the tree is taken for. */
const IN_TREES = ['components/:id/', 'components/:id/index.html', 'badges/', '404.html'];

type Headers = Readonly<Record<string, string>>;

/**
 * @param isHttps  whether site.url is; then browsers are told to stay with it, as by our own server
 * @param hasHome  whether the files of a page stand at the root too
 * @param locales  folders of pages that are trees in other languages
 */
export function headersFile(isHttps: boolean, hasHome: boolean, locales: readonly string[] = []): string {
  const html = (path: string): Headers => ({
    'content-security-policy': frameAncestors(path),
    'cache-control': PUBLIC_CACHE,
  });
  const open = { 'access-control-allow-origin': '*', 'content-security-policy': INERT_CSP };
  const data: Headers = { ...open, 'cache-control': PUBLIC_CACHE };
  const now: Headers = { ...open, 'cache-control': NOW_CACHE };
  const badge: Headers = { ...open, 'cache-control': BADGE_CACHE };
  const tree = { 'access-control-allow-origin': '*', 'cache-control': PUBLIC_CACHE };
  const framing = (path: string, folder = ''): readonly [string, Headers] => [
    `/:page/${path}`,
    { 'content-security-policy': frameAncestors(folder) },
  ];
  const language = (locale: string): Headers => ({ 'content-language': locale });
  // A folder right below the root is matched as if it were a page.
  const homeRules = [
    ...DOCUMENT_FOLDERS.filter((folder) => folder.includes('/:')).flatMap((folder) =>
      ['', 'index.html'].map((file) => [`/${folder}${file}`, html(folder)] as const),
    ),
    ...ALL_DOCUMENTS.slice(0, 3).map((folder) => [`/${folder}:id/*`, html(folder)] as const),
    ...DATA.filter((path) => !SITE_DATA.includes(path)).map((path) => [`/${path}`, data] as const),
    [`/${NOW_JSON_PATH}`, now] as const,
    ...BADGES.map((path) => [`/${path}`, badge] as const),
  ];
  const rules: (readonly [string, Headers])[] = [
    ['/*', { ...EVERY_ANSWER, ...(isHttps ? { 'strict-transport-security': HSTS } : {}) }],
    ...ALL_DOCUMENTS.map((folder) => [`/:page/${folder}*`, html(folder)] as const),
    ...DOCUMENT_FOLDERS.map((folder) => [`/:page/${folder}`, html(folder)] as const),
    // In the folder of badges that name is taken by the rule of badges.
    ...DOCUMENT_FOLDERS.filter((folder) => folder !== 'badges/').map(
      (folder) => [`/:page/${folder}index.html`, html(folder)] as const,
    ),
    ['/:page/404.html', html('')],
    ...DATA.map((path) => [`/:page/${path}`, data] as const),
    [`/:page/${NOW_JSON_PATH}`, now],
    ...BADGES.map((path) => [`/:page/${path}`, badge] as const),
    // After the pages, whose addresses one host takes for the same with and without a slash.
    ...['', 'index.html', '404.html'].map((path) => [`/${path}`, html('')] as const),
    ...SITE_DATA.map((path) => [`/${path}`, data] as const),
    ...(hasHome ? homeRules : []),
    ...(locales.length === 0
      ? []
      : [...ALL_DOCUMENTS, 'reports/'].map((folder) => framing(`:tree/${folder}*`, folder))),
    ...(locales.length === 0 ? [] : IN_TREES.map((path) => framing(`:tree/${path}`))),
    ...locales.flatMap((locale) => ['', 'index.html'].map((file) => framing(`${locale}/${file}`))),
    // At the root, a language is matched as if it were a page. They come last, since they are what can be missed.
    ...locales.flatMap((locale) => [
      [`/:page/${locale}/*`, { ...language(locale), ...tree }] as const,
      ...(hasHome ? [[`/${locale}/*`, language(locale)] as const] : []),
    ]),
  ];
  return `${rules.map(([pattern, headers]) => [pattern, ...Object.entries(headers).map(([name, value]) => `  ${titled(name)}: ${value}`)].join('\n')).join('\n')}\n`;
}

interface PageAddresses {
  readonly slug: string;
  /** Null: it has no custom domain. */
  readonly domain: string | null;
  /** Files that lead on, and where, both below the page. */
  readonly redirects: readonly (readonly [path: string, location: string])[];
  /** Whether its files stand at the root too. */
  readonly isHome: boolean;
}

/**
 * Domains of single pages, which Netlify maps to their folder and others pass over, and addresses that lead on: Cloudflare
 * answers with the new one, Netlify with the document that stands there. Slashes at the end of addresses are left to the
 * hosts, who add them by themselves and would go in circles if they were told to.
 *
 * @returns null: there is nothing to redirect
 */
export function redirectsFile(pages: readonly PageAddresses[]): string | null {
  const domains = pages.flatMap(({ domain, slug }) =>
    domain === null ? [] : `https://${domain}/* /${slug}/:splat 200!\n`,
  );
  const others = pages.flatMap(({ slug, redirects, isHome }) =>
    [`/${slug}/`, ...(isHome ? ['/'] : [])].flatMap((base) =>
      redirects.map(
        ([path, location]) => `${base}${path.replace(/(^|\/)index\.html$/, '$1')} ${base}${location} 301\n`,
      ),
    ),
  );
  return domains.length + others.length === 0 ? null : [...domains, ...others].join('');
}

function titled(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

// Files that a static host needs in addition to those of releases: what the server creates on demand, and sealed
// pages.

/** The password that seals a page, and the language of its password form. */
export interface PageLock {
  readonly password: { readonly reveal: () => string };
  readonly locale: string;
}

const BADGE_CACHE = BADGE_HEADERS['Cache-Control'] ?? '';

const NO_RENDERER: PageRenderer = {
  render: () => Promise.reject(new Error('badges are drawn without the renderer')),
};

/** What the server creates on demand: badges, and single components and incidents. Paths are relative to the page. */
export function listExtras(folders: ReleaseFolders, manifest: Manifest, version: string): readonly StaticFile[] {
  return [...listBadges(folders, manifest, version), ...listSingles(folders, manifest)];
}

/** Every badge, from the release's data. Rendered when it is read. */
function listBadges(
  folders: ReleaseFolders,
  { slug, number, locales = [] }: Manifest,
  version: string,
): readonly StaticFile[] {
  const onDemand = readReleaseData(folders, slug, number)?.onDemand ?? null;
  if (onDemand === null) return [];
  const keyOf = fileKeys(version);
  const entries = [
    ...badgeFiles(onDemand.subjects, onDemand),
    ...locales.slice(1).flatMap((locale) => {
      const spoken = { ...onDemand, options: { ...onDemand.options, locale } };
      return badgeFiles(onDemand.subjects, spoken).map((entry) => inFolder(`${locale}/`, entry));
    }),
  ];
  return entries.map((entry) => ({
    path: entry.path,
    identity: keyOf(entry),
    contentType: entry.kind.contentType,
    cacheControl: BADGE_CACHE,
    read: async () => {
      // Images take milliseconds each. Requests of visitors are answered in between.
      await turn();
      const { body } = await entry.draw(NO_RENDERER);
      return typeof body === 'string' ? Buffer.from(body) : body;
    },
  }));
}

/** Single components and incidents of the v2 API, taken from its lists. */
function listSingles(folders: ReleaseFolders, { slug, number, files }: Manifest): readonly StaticFile[] {
  const read = (path: string): unknown =>
    Object.hasOwn(files, path)
      ? JSON.parse(fileOfRelease(join(filesFolder(folders, slug, number), path), slug).toString('utf8'))
      : null;
  return [...singleDocuments(read)].map(([path, document]) =>
    textFile(path, jsonText(document), KINDS.json.contentType),
  );
}

/** `api/now.json` of a page, with the times at the moment when it is read. */
export function nowFile(facts: NowFacts, number: number, sources: () => readonly SourceFreshness[]): StaticFile {
  return {
    path: NOW_JSON_PATH,
    identity: fingerprintOf([NOW_JSON_PATH, number, facts]),
    contentType: KINDS.json.contentType,
    cacheControl: NOW_CACHE,
    read: async () => Buffer.from(`${JSON.stringify(nowDocument(facts, { release: number, sources: sources() }))}\n`),
  };
}
