/** Checks that a request that changes something was sent from our own pages. */

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
