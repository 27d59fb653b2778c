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
  'subscribe',
  'uptime',
] as const;

/** Files that the site has at its root for all of its pages; a home page has its own of these only below its slug. */
export const SITE_FILES = ['404.html', 'embed-resize.js', 'embed.js', 'llms.txt', 'robots.txt', 'sitemap.xml'] as const;

const RESERVED: ReadonlySet<string> = new Set(['-', 'assets', 'favicon', 'robots', 'sitemap', ...PAGE_FOLDERS]);

/** Whether a text may be the slug of a page: small letters, digits and dashes, and no name that is taken already. */
export function isSlug(text: string): boolean {
  return SLUG.test(text) && !RESERVED.has(text);
}
