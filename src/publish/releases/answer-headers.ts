/** Headers of public files, the same from our own server, on hosts that read `_headers`, and in buckets. */

import { splitLocale } from '../../model/slugs.ts';

/**
 * Long enough to absorb a crowd, and short enough that news, or a page that becomes private, takes effect in every cache within
 * a minute. While we are unreachable, an old copy is better than none.
 */
export const PUBLIC_CACHE = 'public, max-age=30, stale-while-revalidate=30, stale-if-error=86400';

/** For `api/now.json`, which says how long ago a page was checked: one answer serves many visitors, but is never old. */
export const NOW_CACHE = 'public, max-age=10';

/** Keeps content of an SVG or JSON file from running in our origin. */
export const INERT_CSP = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** One host for a year. Subdomains may belong to someone else. */
export const HSTS = 'max-age=31536000';

/** In every response. */
export const EVERY_ANSWER: Readonly<Record<string, string>> = Object.freeze({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
});

/** A policy in a document can't restrict framing, so a header does: only embed pages may be framed. */
export function frameAncestors(path: string): string {
  return `frame-ancestors ${splitLocale(path).rest.startsWith('embed/') ? '*' : "'none'"}`;
}
