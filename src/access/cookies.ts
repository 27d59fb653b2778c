/**
 * The cookies: the session of a visitor, the nonce that ties a mailed link to the browser that asked for it, what a
 * browser must bring back from an identity provider, and the session of an operator.
 */

import { parseCookie, stringifySetCookie } from 'cookie';

type CookieRole = 'session' | 'asking' | 'operator' | 'provider';

const NAMES: Readonly<Record<CookieRole, string>> = {
  session: 'pharos',
  asking: 'pharos-asking',
  operator: 'pharos-operator',
  provider: 'pharos-provider',
};
/** A visitor comes in by links from elsewhere; an operator's cookie never travels with a request that another site made. */
const SAME_SITE = { session: 'lax', asking: 'lax', operator: 'strict', provider: 'lax' } as const;

/**
 * `__Host-` makes browsers refuse the cookie from a subdomain or over http. Loopback http cannot have it, so there the
 * plain name stands, and a session that was made under one name is never found under the other.
 */
function cookieName(role: CookieRole, isSecure: boolean): string {
  return isSecure ? `__Host-${NAMES[role]}` : NAMES[role];
}

interface CookieInit {
  readonly role: CookieRole;
  readonly isSecure: boolean;
  /** Empty: the browser forgets the cookie. */
  readonly value: string;
  /** Null: until the browser closes. */
  readonly maxAgeSeconds: number | null;
}

export function setCookie({ role, isSecure, value, maxAgeSeconds }: CookieInit): string {
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

/** The value of one of our cookies in a Cookie header; the first where a browser sends several. */
export function readCookie(header: string | null, role: CookieRole, isSecure: boolean): string | null {
  return parseCookie(header ?? '')[cookieName(role, isSecure)] ?? null;
}
