/** Who may see a page: the types of access, and which of several that are stated holds. */

import type { AccessType } from './observation.ts';

/** What the gates say and ask. It knows nothing of the page behind: not its title, not whether it exists. */

/**
 * `sign-in`: the forms. `sent`: the same answer to any address, with a field for the code. `confirm`: the last step of a
 * mailed link. `sign-out`: the button that ends the session. `signed-out`: it ended here, and not yet at the identity provider.
 */

export const LOGIN_STEPS = ['sign-in', 'sent', 'confirm', 'sign-out', 'signed-out'] as const;
export type LoginStep = (typeof LOGIN_STEPS)[number];

/** `other-browser`: a mailed link was opened elsewhere than where it was asked for. `refused`: sent from another site. */
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
 * Everything in it is safe to put into a document after the usual escaping. Forms post to addresses below `base`:
 * `login/` with `username` and `password`, or with `email`; `login/code/` with `code`; `login/link/` with `token`;
 * `logout`. All but the last carry `to`. A link leads to `login/oidc/`.
 */
export interface LoginPrompt {
  /** By the address of the way back, whether there is such a page or not; null: that of the site. */
  readonly locale: string | null;
  readonly step: LoginStep;
  readonly fault: LoginFault | null;
  /** Of the wait (`limited`), or of a link's life. */
  readonly minutes: number;
  /** Which forms the site has a use for; the same for all of its pages. */
  readonly hasPassword: boolean;
  readonly hasEmail: boolean;
  readonly hasOidc: boolean;
  readonly base: string;
  /** Of the site that the page is a part of; null: the page is at the root. */
  readonly home: string | null;
  /** The way back, relative to `base`. */
  readonly to: string;
  /** For password managers, which keep one password per site and name. */
  readonly username: string;
  /** Of a mailed link; empty otherwise. */
  readonly token: string;
  /** Where one signs out at the identity provider; empty: nowhere. */
  readonly next: string;
}

/** What a sealed page says before it is open, in one language. It names nothing that is inside. */
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

/** What the mail says that lets somebody in. */
export interface MailFacts {
  readonly locale: string;
  /** Of the status page, on one line. */
  readonly title: string;
  readonly link: string;
  /** In groups of four digits. */
  readonly code: string;
  readonly minutes: number;
}

/** From the most private to the most open. */
const BY_PRIVACY = [
  'closed',
  'oidc',
  'email-domain',
  'password',
  'ip',
  'public',
] as const satisfies readonly AccessType[];

/** The most private of what is stated; `public` when nothing is. */
export function mostPrivate(stated: readonly AccessType[]): AccessType {
  return BY_PRIVACY.find((access) => stated.includes(access)) ?? 'public';
}

export interface AccessStatement {
  /** What is written as the type; null: nothing. */
  readonly type: AccessType | null;
  readonly hasPassword: boolean;
  readonly hasEmailDomains: boolean;
  readonly hasAddresses?: boolean;
  readonly hasOidc?: boolean;
}

/**
 * What one source states of a page. A password and a list of domains are a gate by themselves, with or without a type;
 * null: the source says nothing.
 */
export function statedAccess({
  type,
  hasPassword,
  hasEmailDomains,
  hasAddresses,
  hasOidc,
}: AccessStatement): AccessType | null {
  const stated: AccessType[] = [
    ...(type === null ? [] : [type]),
    ...(hasPassword ? ['password' as const] : []),
    ...(hasEmailDomains ? ['email-domain' as const] : []),
    ...(hasOidc === true ? ['oidc' as const] : []),
    ...(hasAddresses === true ? ['ip' as const] : []),
  ];
  return stated.length === 0 ? null : mostPrivate(stated);
}
