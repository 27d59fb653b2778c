/** Who operators are, and what each may do: the one decision for page, form, API and metrics. Closed unless a role opens it. */

import { isListed } from '../../access/oidc/oidc.ts';
import type { Person } from '../../access/oidc/provider.ts';
import type { ConfigFile } from '../../config/file-schema.ts';
import type { PageKey } from '../../model/slugs.ts';
import type { Secret } from '../../schema/secret.ts';
import type { ApiScope, ApiToken } from '../../store/written/tokens.ts';

/** A page by the slug that a role names, and the identity that an API token names. */
interface PageNamed {
  readonly slug: string;
  readonly key: PageKey;
}

export interface Operator {
  /** In the audit and in the history of incidents; visitors never see it. */
  readonly actor: string;
  readonly isAdmin: boolean;
  /** Whether they see `/-/ops` and the metrics. */
  readonly seesAll: boolean;
  /** `elsewhere`: nothing on this page, which is answered as if it didn't exist. */
  readonly may: (page: PageNamed, scope: ApiScope) => 'granted' | 'elsewhere' | 'scope';
}

type Operators = ConfigFile['operators'];

/** A token of the configuration. */
export interface OperatorToken extends Operator {
  readonly credential: string;
  readonly token: Secret;
}

const ADMIN: Omit<Operator, 'actor'> = { isAdmin: true, seesAll: true, may: () => 'granted' };
const READER: Omit<Operator, 'actor'> = {
  isAdmin: false,
  seesAll: true,
  may: (_page, scope) => (scope === 'read' ? 'granted' : 'scope'),
};

function writerOn(pages: readonly string[]): Omit<Operator, 'actor'> {
  const may: Operator['may'] = ({ slug }, scope) => {
    if (!pages.includes(slug)) return 'elsewhere';
    return scope === 'incidents' || scope === 'read' ? 'granted' : 'scope';
  };
  return { isAdmin: false, seesAll: false, may };
}

/** Whoever holds a token of the configuration. */
export function tokenOperators({ token, tokens }: Operators): readonly OperatorToken[] {
  const named = tokens.map(({ name, token: secret, role, pages = [] }) => ({
    ...{ admin: ADMIN, reader: READER, writer: writerOn(pages) }[role],
    actor: `token:${name}`,
    credential: `named:${name}`,
    token: secret,
  }));
  return token === undefined ? named : [{ ...ADMIN, actor: 'operator', credential: 'operator', token }, ...named];
}

/** Whoever holds a token of the API: on its page, what its scopes say. */
export function apiOperator({ id, name, page, scopes }: ApiToken): Operator {
  return {
    actor: `token:${name}/${id}`,
    isAdmin: false,
    seesAll: false,
    may: ({ key }, scope) => {
      if (key !== page) return 'elsewhere';
      return scope === 'read' || scopes.includes(scope) ? 'granted' : 'scope';
    },
  };
}

/** Whoever signed in by the identity provider; null: no role is theirs. */
export function personOperator({ roles }: Operators, person: Person): Operator | null {
  const actor = `oidc:${person.email ?? person.name}`;
  if (roles.admin !== undefined && isListed(roles.admin, person)) return { ...ADMIN, actor };
  const pages = (roles.writer ?? []).filter((writer) => isListed(writer, person)).flatMap((writer) => writer.pages);
  const isReader = roles.reader !== undefined && isListed(roles.reader, person);
  if (pages.length === 0) return isReader ? { ...READER, actor } : null;
  const writer = writerOn(pages);
  if (!isReader) return { ...writer, actor };
  const may: Operator['may'] = (page, scope) =>
    writer.may(page, scope) === 'granted' ? 'granted' : READER.may(page, scope);
  return { ...READER, actor, may };
}
