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

/** Whom to tell of a weakness (RFC 9116): by every host of the site, since it is looked for at the root of each. */
export const SECURITY_TXT = '.well-known/security.txt';

/** Files that the site has at its root for all of its pages; a home page has its own of these only below its slug. */
export const SITE_FILES = [
  '404.html',
  'embed-resize.js',
  'embed.js',
  'llms.txt',
  'robots.txt',
  SECURITY_TXT,
  'sitemap.xml',
] as const;

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
