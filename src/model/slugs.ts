/** Names of pages: slugs for addresses, and keys for whatever is kept. */

import { SLUG } from './scalars.ts';

/** Folders of a status page, which at the root of a site or a domain stand where other pages have their slugs. */
export const PAGE_FOLDERS = [
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

/** The first folder of a path below a page, where it may be a language: no folder of pages looks like one but `api`. */
const LOCALE_FOLDER = /^(?!api\/)([a-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)\//;

/** The language whose tree a path below a page is in, as far as the path tells, and the path in that tree. */
export function splitLocale(path: string): { readonly locale: string | null; readonly rest: string } {
  const locale = LOCALE_FOLDER.exec(path)?.[1] ?? null;
  return { locale, rest: locale === null ? path : path.slice(locale.length + 1) };
}

/** Whom to tell of a weakness (RFC 9116): by every host of the site, since it is looked for at the root of each. */
export const SECURITY_TXT = '.well-known/security.txt';

/** The keys that sign the logs of the site's pages, at the root of each host. */
export const LOG_KEYS = '.well-known/pharos-key.json';

/** What the site says as a witness of other pages, at its root. */
export const WITNESS_PATH = '.well-known/pharos-witness.txt';

/** Files that the site has at its root for all of its pages; a home page has its own of these only below its slug. */
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

/** Files that a page has beside its folders, also at the root of a site that has a home page. */
const PAGE_FILES = [
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

/** Whether Pharos has, or may have, a file of its own of that name at the root of a site. */
export function isOwnRootFile(name: string): boolean {
  return ROOT_FILES.has(name.toLowerCase());
}

/** Types of files that an operator may have served as they are. No HTML: that would be a page of this origin that no policy holds. */
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

/** Whether a text may be the slug of a page: small letters, digits and dashes, and no name that is taken already. */
export function isSlug(text: string): boolean {
  return SLUG.test(text) && !RESERVED.has(text);
}

/** Parts that a path has as they are, none of them hidden. */
const PATH = /^(?=\/)(?:\/[\w~@:+,=!-][\w~@:+,=!.-]*)*\/?$/;
const PATH_LENGTH_MAX = 300;
const OWN_PATH = /^\/(?:$|(?:-|login|logout)(?:\/|$))/;

/** Whether a text is an address below a page that begins with `/`, such as `/issues/2024-api/`. */
export function isPagePath(text: string): boolean {
  return text.length <= PATH_LENGTH_MAX && PATH.test(text);
}

/** Whether an address below a page is one at which the server answers by itself. */
export function isOwnPath(text: string): boolean {
  return OWN_PATH.test(text);
}

// A slug is only an address: two pages can have it one after the other.
declare const pageKey: unique symbol;

/**
 * One page for as long as it is the same page: the slug it began with and its era there, `acme~2`. Whatever is kept for a
 * page is kept under its key, so a page that takes over a slug finds nothing of the page before.
 */
export type PageKey = string & { readonly [pageKey]: true };

/** What a page is known by besides its definition. */
export interface PageIdentity {
  readonly key: PageKey;
  /** Grows whenever the page gets another kind of gate, or loses its gate. */
  readonly gate: number;
}

/** The key of a page's era; the first is 1. Slugs contain no `~`. */
export function toPageKey(slug: string, era: number): PageKey {
  return `${slug}~${era}` as PageKey;
}

/** A key that no page has, for addresses without a page. */
export function noPageKey(slug: string): PageKey {
  return toPageKey(slug, 0);
}

/** The slug with which a page began, and its era there. */
export function readPageKey(key: PageKey): { readonly slug: string; readonly era: number } {
  const end = key.lastIndexOf('~');
  return { slug: key.slice(0, end), era: Number(key.slice(end + 1)) };
}

/** As long as an id may be, with room for what tells two of one name apart. */
const ID_CHARS_MAX = 48;
/** Small letters, digits and dashes; empty where a name has no letter or digit of these. */
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
