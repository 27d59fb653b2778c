/** Names in addresses: what a page may be called. */

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
  'login',
  'logout',
  'maintenance',
  'reports',
  'uptime',
] as const;

/** Files that the site has at its root for all of its pages; a home page has its own of these only below its slug. */
export const SITE_FILES = [
  '404.html',
  'embed-resize.js',
  'embed.js',
  'llms.txt',
  'robots.txt',
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
