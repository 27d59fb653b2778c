/** Names of pages: slugs for URLs, and keys for stored data. */

import { SLUG } from './scalars.ts';

/** Folders of a status page. At the root of a site or domain, they would collide with the slugs of other pages. */
const PAGE_FOLDERS = [
  'api',
  'badges',
  'components',
  'embed',
  'groups',
  'history',
  'incidents',
  'log',
  'login',
  'logout',
  'maintenance',
  'reports',
  'subscribe',
  'uptime',
  'verify',
] as const;

/** A language tag as the first folder of a path. Of a page's own folders, only these two look like one. */
const LOCALE_FOLDER = /^(?!(?:api|log)\/)([a-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)\//;

/** Splits a path below a page into its language, if it starts with one, and the rest. */
export function splitLocale(path: string): { readonly locale: string | null; readonly rest: string } {
  const locale = LOCALE_FOLDER.exec(path)?.[1] ?? null;
  return { locale, rest: locale === null ? path : path.slice(locale.length + 1) };
}

/** Where to report vulnerabilities (RFC 9116). Every host of the site has this file at its root. */
export const SECURITY_TXT = '.well-known/security.txt';

/** The keys that sign the logs of the site's pages, at the root of each host. */
export const LOG_KEYS = '.well-known/pharos-key.json';

/** The site's results as a witness of other pages, at its root. */
export const WITNESS_PATH = '.well-known/pharos-witness.txt';

/** Files at the root of the site, for all its pages. A home page has its own versions only below its slug. */
export const SITE_FILES = [
  '404.html',
  'embed-resize.js',
  'embed.js',
  'llms.txt',
  'robots.txt',
  LOG_KEYS,
  WITNESS_PATH,
  SECURITY_TXT,
  'site-logo-dark.png',
  'site-logo-dark.svg',
  'site-logo.png',
  'site-logo.svg',
  'sitemap.xml',
] as const;

const FOLDERS_OF_PAGE: ReadonlySet<string> = new Set(PAGE_FOLDERS);
const FILES_OF_SITE: ReadonlySet<string> = new Set(SITE_FILES);

/** Whether a path at the root is the home page's: neither a file of the site itself nor in the folder of another page. */
export function isOfHome(path: string): boolean {
  const [first = ''] = path.split('/', 1);
  if (path === '' || FOLDERS_OF_PAGE.has(first)) return true;
  return path === first && path.includes('.') && !FILES_OF_SITE.has(path);
}

/** Scripts that pages in public load from files of their own: none of them is needed for what a page says. */
export const PAGE_SCRIPTS = ['days.js', 'enhance.js'] as const;

/** Files of a page besides its folders, also at the root of a site with a home page. */
const PAGE_FILES = [
  ...PAGE_SCRIPTS,
  'build.json',
  'favicon.svg',
  'feed.atom',
  'feed.json',
  'feed.rss',
  'history.atom',
  'history.rss',
  'icon.png',
  'index.html',
  'logo-dark.png',
  'logo-dark.svg',
  'logo.png',
  'logo.svg',
  'maintenance.ics',
  'og.png',
  'site.webmanifest',
] as const;

const ROOT_FILES: ReadonlySet<string> = new Set([...PAGE_FILES, ...SITE_FILES, '_headers', '_redirects']);

/** Whether Pharos has, or could have, a file of this name at the root of a site. */
export function isOwnRootFile(name: string): boolean {
  return ROOT_FILES.has(name.toLowerCase());
}

/** Types of files that operators can publish unchanged. Not HTML, which would be a page of this origin without our policy. */
export const PUBLIC_TYPES: Readonly<Record<string, string>> & { readonly '.txt': string } = {
  '.avif': 'image/avif',
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json; charset=utf-8',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml; charset=utf-8',
};

const RESERVED: ReadonlySet<string> = new Set(['-', 'assets', 'favicon', 'robots', 'sitemap', ...PAGE_FOLDERS]);

/** Whether a text can be the slug of a page: lower-case letters, digits and dashes, and not a reserved name. */
export function isSlug(text: string): boolean {
  return SLUG.test(text) && !RESERVED.has(text);
}

/** Paths without escapes and without hidden folders. */
const PATH = /^(?=\/)(?:\/[\w~@:+,=!-][\w~@:+,=!.-]*)*\/?$/;
const PATH_LENGTH_MAX = 300;
const OWN_PATH = /^\/(?:$|(?:-|login|logout)(?:\/|$))/;

/** Whether a text is a path below a page, such as `/issues/2024-api/`. */
export function isPagePath(text: string): boolean {
  return text.length <= PATH_LENGTH_MAX && PATH.test(text);
}

/** Whether the server itself answers at a path below a page. */
export function isOwnPath(text: string): boolean {
  return OWN_PATH.test(text);
}

// A slug is only an address: two pages can have the same one, one after the other.
declare const pageKey: unique symbol;

/**
 * Identifies one page for its whole life: its first slug and its era there, `acme~2`. All data of a page is stored
 * under its key, so a page that takes over a slug never finds its predecessor's data.
 */
export type PageKey = string & { readonly [pageKey]: true };

/** The identity of a page, besides its definition. */
export interface PageIdentity {
  readonly key: PageKey;
  /** Incremented whenever the page gets another kind of gate or loses it. */
  readonly gate: number;
}

/** The key of a page's era; the first is 1. Slugs contain no `~`. */
export function toPageKey(slug: string, era: number): PageKey {
  return `${slug}~${era}` as PageKey;
}

/** A key that no page has, for slugs without a page. */
export function noPageKey(slug: string): PageKey {
  return toPageKey(slug, 0);
}

/** The slug that a page began with, and its era. */
export function readPageKey(key: PageKey): { readonly slug: string; readonly era: number } {
  const end = key.lastIndexOf('~');
  return { slug: key.slice(0, end), era: Number(key.slice(end + 1)) };
}

/** The maximum length of an id, minus room for a suffix that makes it unique. */
const ID_CHARS_MAX = 48;
/** Turns a name into lower-case letters, digits and dashes; empty if there are none. */
export function toSlug(name: string, charsMax = ID_CHARS_MAX): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, charsMax)
    .replace(/-+$/, '');
}
