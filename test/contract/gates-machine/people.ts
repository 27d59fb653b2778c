/** The identity provider of the site: who has which groups there, and until when that may be believed. */

import { HOUR_MS, MINUTE_MS } from '../../../src/model/time.ts';
import { startProvider, type TestProvider } from '../../helpers/identity-provider.ts';
import type { Session } from './world.ts';

const ACCOUNTS = { ada: 'ada@a.example', bob: 'bob@b.example', wim: 'wim@a.example' } as const;
export type Account = keyof typeof ACCOUNTS;
export const ACCOUNT_NAMES = Object.keys(ACCOUNTS) as Account[];
const GROUPS = ['sre', 'ops', 'writers'] as const;
type Group = (typeof GROUPS)[number];

export interface People {
  readonly provider: TestProvider;
  readonly isAway: () => boolean;
  /**
   * Somebody joins or leaves a group or the provider, more often one who is in by it, or the provider goes away or comes back.
   *
   * @param held  sessions that open something now
   */
  readonly change: (
    chance: (count: number) => number,
    held: readonly Pick<Session, 'account' | 'gate'>[],
  ) => { readonly name: string; readonly isLeaving: boolean };
  /** Somebody joins every group, and the provider comes back. */
  readonly admit: (chance: (count: number) => number) => string;
  /** Whether somebody has an account at the provider. */
  readonly isThere: (account: Account) => boolean;
  /** Whether the provider lets somebody in to a gate now. */
  readonly isIn: (account: string, gate: string) => boolean;
  /** Whether a session must be over: nobody believes an answer of the provider for longer than an hour. */
  readonly isOver: (session: Pick<Session, 'account' | 'gate'>) => boolean;
  /** What the provider sends to end all sessions of somebody. */
  readonly logoutToken: (account: Account) => Promise<string>;
}

export async function startPeople(redirectUris: readonly string[]): Promise<People> {
  const provider = await startProvider(redirectUris);
  const groups = new Map<string, Set<Group>>([
    ['ada', new Set(['sre'])],
    ['bob', new Set(['ops'])],
    ['wim', new Set(['writers'])],
  ]);
  /** When somebody left a group last, or with all groups the provider. */
  const left = new Map<string, number>();
  let isAway = false;
  /** Until then it was away. */
  let backAt = 0;
  const tell = (account: Account): void => {
    const has = [...(groups.get(account) ?? [])];
    provider.accounts.set(account, { email: ACCOUNTS[account], email_verified: true, groups: has });
  };
  for (const account of ACCOUNT_NAMES) tell(account);

  const isThere = (account: Account): boolean => provider.accounts.has(account);
  const has = (account: Account, group: Group): boolean => isThere(account) && groups.get(account)?.has(group) === true;

  function leave(account: Account, group: Group | null): string {
    for (const one of group === null ? GROUPS : [group])
      if (has(account, one)) left.set(`${account} ${one}`, Date.now());
    if (group === null) {
      provider.accounts.delete(account);
      return `${account} is removed from the provider`;
    }
    groups.get(account)?.delete(group);
    tell(account);
    return `${account} leaves ${group}`;
  }

  function join(account: Account, group: Group): string {
    groups.get(account)?.add(group);
    tell(account);
    return `${account} joins ${group}`;
  }

  /** The group and the domains that a gate asks for; null: it asks for no provider. */
  function askedBy(gate: string): { group: Group; domains: readonly string[] } | null {
    const [, group, domains = ''] = /oidc:(\w+)(?:&(.*))?$/.exec(gate) ?? [];
    return group === undefined ? null : { group: group as Group, domains: domains === '' ? [] : domains.split(',') };
  }

  function isIn(account: string, gate: string): boolean {
    const asked = askedBy(gate);
    if (asked === null || !has(account as Account, asked.group)) return false;
    const domain = ACCOUNTS[account as Account].split('@')[1] ?? '';
    return asked.domains.length === 0 || asked.domains.includes(domain);
  }

  return {
    provider,
    isAway: () => isAway,
    change: (chance, held) => {
      if (chance(isAway ? 2 : 6) === 0) {
        isAway = !isAway;
        if (!isAway) backAt = Date.now();
        provider.break(isAway ? '/' : null, chance(2) === 0 ? 'status' : 'silence');
        return { name: `the provider is ${isAway ? 'away' : 'back'}`, isLeaving: false };
      }
      const one = held[chance(Math.max(1, held.length))];
      const [account, group] = [one?.account as Account | undefined, askedBy(one?.gate ?? '')?.group];
      if (account !== undefined && group !== undefined && chance(4) > 0)
        return { name: leave(account, chance(4) === 0 ? null : group), isLeaving: true };
      const other = ACCOUNT_NAMES[chance(ACCOUNT_NAMES.length)] as Account;
      const into = GROUPS[chance(GROUPS.length)] as Group;
      // Somebody is in each group most of the time.
      if (has(other, into) && chance(3) === 0) return { name: leave(other, into), isLeaving: true };
      return { name: join(other, into), isLeaving: false };
    },
    admit: (chance) => {
      const account = ACCOUNT_NAMES[chance(ACCOUNT_NAMES.length)] as Account;
      if (isAway) backAt = Date.now();
      isAway = false;
      provider.break(null);
      for (const group of GROUPS) join(account, group);
      return `${account} joins every group`;
    },
    isThere,
    isIn,
    isOver: ({ account, gate }) => {
      const asked = askedBy(gate);
      if (account === undefined || asked === null || isIn(account, gate) || isAway) return false;
      const leftAt = left.get(`${account} ${asked.group}`) ?? 0;
      // While it is away it is asked once a minute.
      return Date.now() >= Math.max(leftAt + HOUR_MS, backAt + MINUTE_MS);
    },
    logoutToken: (account) =>
      provider.sign({
        iss: provider.issuer,
        aud: 'pharos',
        iat: Math.floor(Date.now() / 1_000),
        jti: 'one',
        sub: account,
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      }),
  };
}
