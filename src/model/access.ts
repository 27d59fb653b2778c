/** Who may see a page: the types of access, and which one applies if several are given. */

import type { AccessType } from './observation.ts';

// What the sign-in page shows. It reveals nothing about the page behind it, not even whether that exists.

/**
 * `sign-in`: the forms. `sent`: a field for the code; the same answer for any address. `confirm`: the last step of a
 * mailed link. `sign-out`: the sign-out button. `signed-out`: signed out here, but not yet at the identity provider.
 */

export const LOGIN_STEPS = ['sign-in', 'sent', 'confirm', 'sign-out', 'signed-out'] as const;
export type LoginStep = (typeof LOGIN_STEPS)[number];

/**
 * `other-browser`: a mailed link was opened in another browser than the one that asked for it. `refused`: the form was
 * sent from another site.
 */
export const LOGIN_FAULTS = [
  'wrong',
  'wrong-code',
  'limited',
  'invalid',
  'expired',
  'other-browser',
  'refused',
  'unavailable',
  'not-allowed',
  'provider-refused',
  'provider-away',
] as const;
export type LoginFault = (typeof LOGIN_FAULTS)[number];

/**
 * All texts are safe in a document after the usual escaping. Forms post to addresses below `base`: `login/` with
 * `username` and `password`, or with `email`; `login/code/` with `code`; `login/link/` with `token`; `logout`. All
 * except `logout` carry `to`. A link leads to `login/oidc/`.
 */
export interface LoginPrompt {
  /** Derived from the address to return to, whether that page exists or not; null: the site's language. */
  readonly locale: string | null;
  readonly step: LoginStep;
  readonly fault: LoginFault | null;
  /** How long to wait (`limited`), or how long a link is valid. */
  readonly minutes: number;
  /** Which forms the site needs; the same for all its pages. */
  readonly hasPassword: boolean;
  readonly hasEmail: boolean;
  readonly hasOidc: boolean;
  readonly base: string;
  /** The address of the site; null if the page is at its root. */
  readonly home: string | null;
  /** The address to return to, relative to `base`. */
  readonly to: string;
  /** For password managers, which store passwords by site and username. */
  readonly username: string;
  /** The token of a mailed link, or empty. */
  readonly token: string;
  /** The sign-out address of the identity provider, or empty. */
  readonly next: string;
}

/** The text of a sealed page before it is opened, in one language. It reveals nothing of the contents. */
export interface SealWords {
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  readonly title: string;
  readonly label: string;
  readonly submit: string;
  readonly working: string;
  readonly wrong: string;
  readonly noScript: string;
  readonly noCrypto: string;
}

/** The contents of a sign-in mail. */
export interface MailFacts {
  readonly locale: string;
  /** The title of the status page, on one line. */
  readonly title: string;
  readonly link: string;
  /** In groups of four digits. */
  readonly code: string;
  readonly minutes: number;
}

/** From most private to most open. */
const BY_PRIVACY: readonly AccessType[] = ['closed', 'oidc', 'email-domain', 'password', 'ip', 'public'];

/** The most private of the given types; `public` if there are none. */
export function mostPrivate(stated: readonly AccessType[]): AccessType {
  return BY_PRIVACY.find((access) => stated.includes(access)) ?? 'public';
}

/**
 * The access that one source asks for. A password or a list of domains closes the page even without a type. Null: the
 * source says nothing about access.
 */
export function statedAccess(statement: {
  /** The type as written; null if it isn't given. */
  readonly type: AccessType | null;
  readonly hasPassword: boolean;
  readonly hasEmailDomains: boolean;
  readonly hasAddresses?: boolean;
  readonly hasOidc?: boolean;
}): AccessType | null {
  const { type, hasPassword, hasEmailDomains, hasAddresses = false, hasOidc = false } = statement;
  const implied: Partial<Record<AccessType, boolean>> = {
    password: hasPassword,
    'email-domain': hasEmailDomains,
    oidc: hasOidc,
    ip: hasAddresses,
  };
  return BY_PRIVACY.find((access) => access === type || implied[access] === true) ?? null;
}
