/** Headers of what everybody may read, the same from our own server, from hosts that read `_headers`, and in buckets. */

/**
 * Long enough to carry a crowd, short enough that news is seen, and that a page which turned private is gone from every
 * cache in front within a minute; an old copy is better than none when we are away.
 */
export const PUBLIC_CACHE = 'public, max-age=30, stale-while-revalidate=30, stale-if-error=86400';

/** Of `api/now.json`, which says how long ago a page was checked: one answer for a crowd, and never an old one. */
export const NOW_CACHE = 'public, max-age=10';

/** Content of an SVG or JSON file must never run in our origin. */
export const INERT_CSP = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Of one host and a year; what is below it is not ours to decide about. */
export const HSTS = 'max-age=31536000';

/** Of every answer. */
export const EVERY_ANSWER: Readonly<Record<string, string>> = Object.freeze({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
});

/** A policy in a document cannot say who may frame it, so a header adds that: only embed pages may be framed. */
export function frameAncestors(path: string): string {
  return `frame-ancestors ${path.startsWith('embed/') ? '*' : "'none'"}`;
}
