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
  /** Somebody joins or leaves a group, more often one of those who are in by it, or the provider goes away or comes back. */
  readonly change: (
    chance: (count: number) => number,
    sessions: readonly Pick<Session, 'account' | 'gate'>[],
  ) => string;
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
  const left = new Map<string, number>();
  let isAway = false;
  /** Until then it was away. */
  let backAt = 0;
  const tell = (account: Account): void => {
    const has = [...(groups.get(account) ?? [])];
    provider.accounts.set(account, { email: ACCOUNTS[account], email_verified: true, groups: has });
  };
  for (const account of ACCOUNT_NAMES) tell(account);

  /** The group and the domains that a gate asks for; null: it asks for no provider. */
  function askedBy(gate: string): { group: Group; domains: readonly string[] } | null {
    const [, group, domains = ''] = /oidc:(\w+)(?:&(.*))?$/.exec(gate) ?? [];
    return group === undefined ? null : { group: group as Group, domains: domains === '' ? [] : domains.split(',') };
  }

  function isIn(account: string, gate: string): boolean {
    const asked = askedBy(gate);
    if (asked === null || groups.get(account)?.has(asked.group) !== true) return false;
    const domain = ACCOUNTS[account as Account].split('@')[1] ?? '';
    return asked.domains.length === 0 || asked.domains.includes(domain);
  }

  return {
    provider,
    isAway: () => isAway,
    change: (chance, sessions) => {
      if (chance(5) === 0) {
        isAway = !isAway;
        if (!isAway) backAt = Date.now();
        provider.break(isAway ? '/' : null, chance(2) === 0 ? 'status' : 'silence');
        return `the provider is ${isAway ? 'away' : 'back'}`;
      }
      const held = chance(3) === 0 ? undefined : sessions[chance(Math.max(1, sessions.length))];
      const account = (held?.account ?? ACCOUNT_NAMES[chance(ACCOUNT_NAMES.length)]) as Account;
      const group = askedBy(held?.gate ?? '')?.group ?? (GROUPS[chance(GROUPS.length)] as Group);
      const has = groups.get(account) ?? new Set();
      const isLeaving = has.delete(group);
      if (isLeaving) left.set(`${account} ${group}`, Date.now());
      else has.add(group);
      tell(account);
      return `${account} ${isLeaving ? 'leaves' : 'joins'} ${group}`;
    },
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
