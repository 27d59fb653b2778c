/** The operators' page over a composed Pharos: what it shows, and what its buttons do. */

import { systemRandom } from '../../access/digest.ts';
import { callbackAt } from '../../access/oidc/oidc.ts';
import { ProviderFault } from '../../access/oidc/provider.ts';
import type { Config } from '../../config/load.ts';
import type { EpochMs } from '../../model/time.ts';
import { rollbackTo } from '../../publish/releases/rollback.ts';
import type { Answer, OwnRequest } from '../../server/answer.ts';
import {
  apiOperator,
  createOperatorGuard,
  createOperatorSessionService,
  type Operator,
  personOperator,
  TOKEN_PREFIX,
  tokenHash,
  tokenOperators,
} from '../../server/operators/operator.ts';
import {
  beginReturned,
  createOpsRoutes,
  type OpsActions,
  type OpsProvider,
} from '../../server/operators/ops-routes.ts';
import { createApiTokens, isInForce } from '../../store/written.ts';
import { now, sleep } from '../clock.ts';
import type { Pharos } from '../compose.ts';
import { redact } from '../log.ts';
import { sitePageLog } from '../transparency.ts';
import { createOpsFacts } from './ops-facts.ts';
import { createForms, servesOperators } from './writing.ts';

/** Makes the page and the guard that it shares with the other addresses for operators. */
export function createOperators(pharos: Pharos) {
  const { database } = pharos.base.store;
  const { oidc } = pharos.serving;
  const configured = () => pharos.base.live.config().operators;
  const tokens = () => tokenOperators(configured());
  const apiTokens = createApiTokens(database);
  const guard = createOperatorGuard(tokens);
  const facts = createOpsFacts(pharos, (text) => redact(text, pharos.base.live.config().secrets));

  /** Who a credential of a session stands for now. */
  async function resolve(credential: string, at: EpochMs): Promise<Operator | null> {
    const [, kind, id = ''] = /^(api|oidc):(.*)$/.exec(credential) ?? [];
    if (kind === 'oidc') {
      const person = await oidc.identities.current(oidc.client('operators'), id, at);
      return person === null ? null : personOperator(configured(), person);
    }
    const token = kind === 'api' ? await apiTokens.findById(id) : null;
    return token !== null &&
      isInForce(token, at) &&
      (token.scopes.includes('incidents') || token.scopes.includes('components'))
      ? apiOperator(token)
      : null;
  }

  const options: Parameters<typeof createOpsRoutes>[0] = {
    hasOperators: () => servesOperators(pharos),
    authenticate: async (given, client) => {
      const isOurs = given.startsWith(TOKEN_PREFIX) ? await apiTokens.find(tokenHash(given)) : null;
      const credential = isOurs === null ? null : `api:${isOurs.id}`;
      const operator = credential === null ? null : await resolve(credential, client.now);
      if (credential !== null && operator !== null) return { kind: 'right', credential, operator };
      const verdict = guard.check(given, client);
      return verdict.kind === 'right' ? { ...verdict, credential: verdict.operator.credential } : verdict;
    },
    provider: createProvider(pharos),
    sessions: createOperatorSessionService(database, systemRandom, tokens, resolve),
    events: pharos.serving.events,
    facts: facts.facts,
    render: pharos.serving.draw,
    actions: createActions(pharos),
    forms: createForms(pharos),
    now,
  };
  return {
    guard,
    routes: createOpsRoutes(options),
    /** Answers an operator's browser that comes back from the identity provider. */
    returned: async (request: OwnRequest): Promise<Answer> =>
      beginReturned(options, request, await identifyOperator(pharos, request, configured())),
  };
}

/** Who came back from the identity provider, as an operator. */
async function identifyOperator(
  { base, serving: { oidc } }: Pharos,
  { query, headers, isSecure }: OwnRequest,
  operators: Config['operators'],
): Promise<Parameters<typeof beginReturned>[2]> {
  const at = now();
  const pending = oidc.pending({ cookie: headers.cookie ?? null, isSecure, now: at });
  if (pending?.place.purpose !== 'operators') return 'refused';
  try {
    const { client, ...known } = await oidc.finish(pending, query);
    const operator = personOperator(operators, known.person);
    if (operator === null) return 'no-role';
    const id = await base.database.transaction((tx) => oidc.identities.keep(tx, client, known, at));
    return { credential: `oidc:${id}`, operator };
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    base.log.error({ where: 'identity provider' }, error.message);
    return error.kind;
  }
}

function createProvider({ base, serving: { oidc } }: Pharos): OpsProvider {
  const redirectUri = (): string => callbackAt(base.live.siteUrl());
  return {
    isOn: () => oidc.client('operators') !== null,
    begin: async ({ isSecure }) => {
      const client = oidc.client('operators');
      if (client === null) return null;
      const place = { purpose: 'operators', slug: '', base: '/', to: '' } as const;
      try {
        return await oidc.begin(client, place, { isSecure, now: now(), redirectUri: redirectUri() });
      } catch (error) {
        if (!(error instanceof ProviderFault)) throw error;
        base.log.error({ where: 'identity provider' }, error.message);
        return null;
      }
    },
    signOut: async (credential) => {
      const client = oidc.client('operators');
      if (client === null || !credential.startsWith('oidc:')) return null;
      const id = credential.slice('oidc:'.length);
      const url = await oidc.identities.signOutUrl(client, id, redirectUri());
      await oidc.identities.end(id);
      return url;
    },
  };
}

function createActions(pharos: Pharos): OpsActions {
  const { audit } = pharos.base;
  const { engine } = pharos.publishing;
  const noted = ({ operator, address }: Parameters<OpsActions['signedIn']>[0]) => ({
    actor: operator.actor,
    client: audit.clientOf(address),
  });
  return {
    pull: (upstreamId, by) => {
      if (pharos.publishing.publisher === null) return false;
      if (upstreamId !== null && !pharos.base.live.upstreams().some(({ id }) => id === upstreamId)) return false;
      const upstreams = upstreamId === null ? {} : { upstreams: [upstreamId] };
      engine.submit({ trigger: 'rebuild', isUrgent: true, ...noted(by), ...upstreams });
      return true;
    },
    rebuild: (slug, by) => {
      if (pharos.publishing.publisher === null || pharos.serving.access.pageOf(slug) === null) return false;
      engine.submit({ trigger: 'rebuild', page: slug, ...noted(by) });
      return true;
    },
    rollback: async (slug, release, by) => {
      const { base } = pharos;
      const { restores } = await rollbackTo(
        { database: base.store.database, folders: base.folders, log: sitePageLog(base), now, sleep },
        { slug, release },
      );
      audit.note({ ...noted(by), action: 'rollback', subject: slug, outcome: `release ${restores}` });
    },
    signedIn: async (by) => audit.note({ ...noted(by), action: 'sign-in' }),
    signedOut: async (by) => audit.note({ ...noted(by), action: 'sign-out' }),
  };
}
