/** Who may see a page: the types of access, and which of several that are stated holds. */

import type { AccessType } from './observation.ts';

/** From the most private to the most open. */
export const BY_PRIVACY = ['closed', 'email-domain', 'password', 'public'] as const satisfies readonly AccessType[];

/** The most private of what is stated; `public` when nothing is. */
export function mostPrivate(stated: readonly AccessType[]): AccessType {
  return BY_PRIVACY.find((access) => stated.includes(access)) ?? 'public';
}

export interface AccessStatement {
  /** What is written as the type; null: nothing. */
  readonly type: AccessType | null;
  readonly hasPassword: boolean;
  readonly hasEmailDomains: boolean;
}

/**
 * What one source states of a page. A password and a list of domains are a gate by themselves, with or without a type;
 * null: the source says nothing.
 */
export function statedAccess({ type, hasPassword, hasEmailDomains }: AccessStatement): AccessType | null {
  const stated: AccessType[] = [
    ...(type === null ? [] : [type]),
    ...(hasPassword ? ['password' as const] : []),
    ...(hasEmailDomains ? ['email-domain' as const] : []),
  ];
  return stated.length === 0 ? null : mostPrivate(stated);
}
