/** Whether a request that changes something comes from a page of ours. */

import type { GateRequest } from './access.ts';

/**
 * Browsers say where a POST comes from; what they say is believed. Sec-Fetch-Site decides where there is one: it is
 * right behind proxies that rewrite Host too. A client that sends neither header is no browser, so nobody else's cookie
 * travels with it, and SameSite keeps the cookies of old browsers at home.
 */
export function isSameOrigin(request: Pick<GateRequest, 'origin' | 'fetchSite' | 'ownOrigin'>): boolean {
  const { origin, fetchSite, ownOrigin } = request;
  if (fetchSite !== null) return fetchSite === 'same-origin';
  return origin === null || origin === ownOrigin;
}

/**
 * The same for a form that carries a secret of its own, and whose page therefore sends no referrer: such a page posts
 * `Origin: null` to itself.
 */
export function isSameOriginOrOpaque(request: Pick<GateRequest, 'origin' | 'fetchSite' | 'ownOrigin'>): boolean {
  return isSameOrigin(request) || (request.fetchSite === null && request.origin === 'null');
}
