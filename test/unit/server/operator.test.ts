import { describe, expect, it } from 'vitest';
import type { Person } from '../../../src/access/oidc/provider.ts';
import { toPageKey } from '../../../src/model/slugs.ts';
import { Secret } from '../../../src/schema/secret.ts';
import { apiOperator, type Operator, personOperator, tokenOperators } from '../../../src/server/operators/operator.ts';

const ACME = { slug: 'acme', key: toPageKey('acme', 1) };
const OTHER = { slug: 'other', key: toPageKey('other', 1) };
const rights = (operator: Operator | null) =>
  operator && {
    isAdmin: operator.isAdmin,
    seesAll: operator.seesAll,
    acme: operator.may(ACME, 'incidents'),
    other: operator.may(OTHER, 'incidents'),
    reads: operator.may(OTHER, 'read'),
  };
const ADMIN = { isAdmin: true, seesAll: true, acme: 'granted', other: 'granted', reads: 'granted' };
const WRITER = { isAdmin: false, seesAll: false, acme: 'granted', other: 'elsewhere', reads: 'elsewhere' };
const READER = { isAdmin: false, seesAll: true, acme: 'scope', other: 'scope', reads: 'granted' };

describe('a token of the configuration', () => {
  it('may what its role may', () => {
    const all = tokenOperators({
      token: new Secret('of the operator'),
      roles: {},
      tokens: [
        { name: 'ada', token: new Secret('a'), role: 'admin' },
        { name: 'wim', token: new Secret('w'), role: 'writer', pages: ['acme'] },
        { name: 'rob', token: new Secret('r'), role: 'reader' },
      ],
    });
    expect(all.map((one) => [one.actor, rights(one)])).toEqual([
      ['operator', ADMIN],
      ['token:ada', ADMIN],
      ['token:wim', WRITER],
      ['token:rob', READER],
    ]);
  });

  it('of the API may on its own page what its scopes say', () => {
    const token = { id: 'i', name: 'ci', page: ACME.key, createdAt: 0 as never, expiresAt: null, revokedAt: null };
    expect(rights(apiOperator({ ...token, scopes: ['incidents'] }))).toEqual(WRITER);
    expect(rights(apiOperator({ ...token, scopes: ['read'] }))).toEqual({ ...WRITER, acme: 'scope' });
  });
});

describe('a person', () => {
  const allow = (groups: readonly string[]) => ({ emails: [], domains: [], groups: [...groups] });
  const roles = {
    admin: { ...allow(['sre']), emails: ['boss@corp.example'] },
    writer: [
      { ...allow(['support']), pages: ['acme'] },
      { ...allow(['web']), pages: ['other'] },
    ],
    reader: allow(['staff']),
  };
  const person = (over: Partial<Person>): Person => ({ subject: 's', name: 'n', email: null, groups: [], ...over });
  const of = (over: Partial<Person>) => rights(personOperator({ roles, tokens: [] }, person(over)));

  it('has the roles of their groups and addresses, together', () => {
    expect(of({ groups: ['sre', 'staff'] })).toEqual(ADMIN);
    expect(of({ email: 'Boss@corp.example' })).toEqual(ADMIN);
    expect(of({ groups: ['support'] })).toEqual(WRITER);
    expect(of({ groups: ['support', 'web'] })).toEqual({ ...WRITER, other: 'granted', reads: 'granted' });
    expect(of({ groups: ['staff'] })).toEqual(READER);
    expect(of({ groups: ['staff', 'support'] })).toEqual({ ...READER, acme: 'granted' });
  });

  it('without a role is nobody', () => {
    expect(of({ groups: ['SRE', 'sre ', 'sales'] })).toBeNull();
    expect(of({ name: 'sre', email: 'boss@else.example' })).toBeNull();
    expect(rights(personOperator({ roles: {}, tokens: [] }, person({ groups: ['sre'] })))).toBeNull();
  });
});
