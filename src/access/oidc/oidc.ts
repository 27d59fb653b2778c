/**
 * Sign-in with identity providers, for visitors and operators alike. The browser is sent to the provider with an
 * encrypted cookie, and returns to `/-/oidc/callback` with a code that is useless without that cookie.
 */

import { parseEmailAddress } from '../../mail/mail.ts';
import type { PageDefinition } from '../../model/observation.ts';
import { type EpochMs, MINUTE_MS, toEpochMs } from '../../model/time.ts';
import type { AccessPage, GateRequest } from '../access.ts';
import { readCookie, setCookie } from '../cookies.ts';
import { createSeal, type RandomBytes, type Revealing } from '../digest.ts';
import { domainsOf } from '../gate/stored-gate.ts';
import type { Identities } from './identities.ts';
import {
  beginSignIn,
  discover,
  finishSignIn,
  type OidcClient,
  type Person,
  ProviderFault,
  type ProviderFetch,
  type SignInChecks,
} from './provider.ts';

/** Below `/-/`: where providers send browsers back, and where they report ended sessions. */
export const CALLBACK_PATH = 'oidc/callback';
export const LOGOUT_PATH = 'oidc/backchannel-logout';

/** The redirect address registered at providers, on the site's host or a page's own domain. */
export function callbackAt(root: string): string {
  return `${root.replace(/\/$/, '')}/-/${CALLBACK_PATH}`;
}

type Purpose = 'visitors' | 'operators';

export interface Pending {
  /** Where the sign-in began, and where to go afterwards. */
  readonly place: { readonly purpose: Purpose; readonly slug: string; readonly base: string; readonly to: string };
  readonly checks: SignInChecks;
  readonly issuer: string;
  readonly expiresAt: EpochMs;
}

type Browser = Pick<GateRequest, 'cookie' | 'isSecure' | 'now'>;

interface OidcOptions {
  readonly clients: Readonly<Record<Purpose, () => OidcClient | null>>;
  readonly identities: Identities;
  readonly key: Revealing;
  readonly random: RandomBytes;
  readonly fetch: ProviderFetch;
}

const PENDING_MS = 15 * MINUTE_MS;
const PENDING_ID = 'browser';

export type Oidc = ReturnType<typeof createOidc>;

export function createOidc({ clients, identities, key, random, fetch }: OidcOptions) {
  const seal = createSeal(key, 'sign-ins by identity providers', random);
  return {
    identities,
    /** Null: none is configured. */
    client: (purpose: Purpose): OidcClient | null => clients[purpose](),
    /** @throws ProviderFault if the provider is unreachable */
    begin: async (
      client: OidcClient,
      place: Pending['place'],
      { redirectUri, isSecure, now }: Omit<Browser, 'cookie'> & { readonly redirectUri: string },
    ) => {
      const { url, checks } = await beginSignIn(await discover(client, fetch), client.scopes, redirectUri);
      const pending: Pending = { place, checks, issuer: client.issuer, expiresAt: toEpochMs(now + PENDING_MS) };
      const value = seal.seal(JSON.stringify(pending), PENDING_ID);
      return { url, cookie: setCookie('provider', isSecure, value, PENDING_MS / 1_000) };
    },
    /** The pending sign-in of a returning browser; null: none, or it has expired. */
    pending: ({ cookie, isSecure, now }: Browser): Pending | null => {
      const text = seal.open(readCookie(cookie, 'provider', isSecure) ?? '', PENDING_ID);
      const pending = text === null ? null : (JSON.parse(text) as Pending);
      return pending !== null && pending.expiresAt > now ? pending : null;
    },
    /** @throws ProviderFault if the provider is unreachable, or its answer is invalid */
    finish: async ({ place, checks, issuer }: Pending, query: URLSearchParams) => {
      const client = clients[place.purpose]();
      if (client?.issuer !== issuer) throw new ProviderFault(new Error('the configuration names another provider now'));
      return { ...(await finishSignIn(await discover(client, fetch), query, checks)), client };
    },
  };
}

/** Whether a person is on one of the lists. An email address counts only if the provider has verified it. */
export function isListed({ emails, domains, groups }: NonNullable<PageDefinition['oidc']>, person: Person): boolean {
  const email = person.email === null ? null : parseEmailAddress(person.email);
  return (
    groups.some((group) => person.groups.includes(group)) ||
    (email !== null && (domains.includes(email.domain) || emails.some((one) => isSameAddress(one, email.address))))
  );
}

/** Whether a page lets a person in. */
export function isAllowed(page: AccessPage, person: Person): boolean {
  if (page.oidc === undefined || !isListed(page.oidc, person)) return false;
  if (page.emailDomains.length === 0) return true;
  const email = person.email === null ? null : parseEmailAddress(person.email);
  return email !== null && domainsOf(page).includes(email.domain);
}

function isSameAddress(one: string, other: string): boolean {
  return parseEmailAddress(one)?.address.toLowerCase() === other.toLowerCase();
}
