/**
 * The cookies: a visitor's session; the nonce that ties a mailed link to the browser that requested it; the state of a
 * sign-in with an identity provider; an operator's session.
 */

import { parseCookie, stringifySetCookie } from 'cookie';

type CookieRole = 'session' | 'asking' | 'operator' | 'provider';

const NAMES: Readonly<Record<CookieRole, string>> = {
  session: 'pharos',
  asking: 'pharos-asking',
  operator: 'pharos-operator',
  provider: 'pharos-provider',
};
/**
 * `lax` for visitors, who arrive by links from other sites; `strict` for operators, so that their cookie is never sent
 * with a request made by another site.
 */
const SAME_SITE = { session: 'lax', asking: 'lax', operator: 'strict', provider: 'lax' } as const;

/**
 * With `__Host-`, browsers refuse the cookie from a subdomain or over http. Loopback http cannot use that prefix, so
 * the plain name is used there; a session created under one name is never found under the other.
 */
function cookieName(role: CookieRole, isSecure: boolean): string {
  return isSecure ? `__Host-${NAMES[role]}` : NAMES[role];
}

/**
 * @param value  empty: deletes the cookie
 * @param maxAgeSeconds  null: until the browser closes
 */
export function setCookie(role: CookieRole, isSecure: boolean, value: string, maxAgeSeconds: number | null): string {
  const maxAge = value === '' ? 0 : maxAgeSeconds;
  return stringifySetCookie({
    name: cookieName(role, isSecure),
    value,
    path: '/',
    httpOnly: true,
    sameSite: SAME_SITE[role],
    secure: isSecure,
    ...(maxAge === null ? {} : { maxAge }),
  });
}

/** The value of one of our cookies in a Cookie header; the first one if there are several. */
export function readCookie(header: string | null, role: CookieRole, isSecure: boolean): string | null {
  return parseCookie(header ?? '')[cookieName(role, isSecure)] ?? null;
}
