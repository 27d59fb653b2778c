/** Checks of what requests say: that a form was sent from our own pages, and where to go after signing in. */

import type { GateRequest } from './access.ts';

/**
 * Trusts what browsers say about the origin of a POST. Sec-Fetch-Site decides if present: it is correct even behind
 * proxies that rewrite Host. A client that sends neither header is not a current browser: other programs carry no
 * visitor's cookies, and SameSite protects the cookies of old browsers.
 */
export function isSameOrigin(request: Pick<GateRequest, 'origin' | 'fetchSite' | 'ownOrigin'>): boolean {
  const { origin, fetchSite, ownOrigin } = request;
  if (fetchSite !== null) return fetchSite === 'same-origin';
  return origin === null || origin === ownOrigin;
}

/**
 * The same for a form with a secret of its own, whose page sends no referrer: such a page posts `Origin: null` to
 * itself.
 */
export function isSameOriginOrOpaque(request: Pick<GateRequest, 'origin' | 'fetchSite' | 'ownOrigin'>): boolean {
  return isSameOrigin(request) || (request.fetchSite === null && request.origin === 'null');
}

const TO_LENGTH_MAX = 512;
/** Plain segments: excludes schemes, `//`, `\`, `%`, control characters and dot segments. */
const INSIDE = /^(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*\/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)?$/;

/** The path if it is inside the page; otherwise empty, the page itself. */
export function safeReturnTo(path: string | null): string {
  if (path === null || path.length > TO_LENGTH_MAX || !INSIDE.test(path)) return '';
  return /^log(?:in|out)(?:\/|$)/.test(path) ? '' : path.replace(/(^|\/)index\.html$/, '$1');
}

/** A path prefix that is safe in a Location header and a form; `/` for anything else. */
export function safeBase(base: string): string {
  return /^\/(?:[A-Za-z0-9_.~-]+\/)*$/.test(base) && !/\/\.{1,2}\//.test(base) ? base : '/';
}
