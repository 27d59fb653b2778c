/** The operators' page over a composed Pharos: what it shows, and what its buttons do. */

import { createAttempts } from '../../access/attempts/attempts.ts';
import { systemRandom } from '../../access/digest.ts';
import { rollbackTo } from '../../publish/releases/rollback.ts';
import { createOperatorGuard, type OperatorGuard } from '../../server/operators/ops-guard.ts';
import { createOpsRoutes, type OpsActions, type OpsPage } from '../../server/operators/ops-routes.ts';
import { createOperatorSessionService } from '../../server/operators/ops-session.ts';
import { createOperatorSessions } from '../../store/operator-sessions.ts';
import { now, type Pharos, sleep } from '../compose.ts';
import { redact } from '../log.ts';
import { createOpsFacts } from './ops-facts.ts';
import { createForms } from './writing.ts';

interface Operators {
  readonly guard: OperatorGuard;
  readonly routes: ReturnType<typeof createOpsRoutes>;
}

/** Makes the page and the guard that it shares with the other addresses for operators. */
export function createOperators(pharos: Pharos): Operators {
  const { database } = pharos.store;
  const token = () => pharos.config.operators.token ?? null;
  const guard = createOperatorGuard({
    token,
    attempts: createAttempts({ database, random: systemRandom, key: pharos.key }),
  });
  const facts = createOpsFacts(pharos, (text) => redact(text, pharos.config.secrets));
  const routes = createOpsRoutes({
    hasToken: () => token() !== null,
    guard,
    sessions: createOperatorSessionService({ sessions: createOperatorSessions(database), token, random: systemRandom }),
    events: pharos.events,
    facts: facts.facts,
    render: (page) => drawn(pharos, page),
    actions: actionsOf(pharos),
    forms: createForms(pharos),
    now,
  });
  return { guard, routes };
}

function drawn({ draw }: Pharos, page: OpsPage): ReturnType<Pharos['draw']> {
  if (page.kind === 'ops') return draw('ops', page.view);
  if (page.kind === 'ops-write') return draw('ops-write', page.view);
  return page.kind === 'status-page' ? draw('status-page', page.view) : draw('ops-sign-in', page.view);
}

function actionsOf(pharos: Pharos): OpsActions {
  const { engine, audit } = pharos;
  const by = (address: string) => ({ actor: 'operator', client: audit.clientOf(address) });
  return {
    pull: (upstreamId, address) => {
      if (pharos.publisher === null) return false;
      if (upstreamId !== null && !pharos.upstreams.some(({ id }) => id === upstreamId)) return false;
      const upstreams = upstreamId === null ? {} : { upstreams: [upstreamId] };
      engine.submit({ trigger: 'rebuild', isUrgent: true, ...by(address), ...upstreams });
      return true;
    },
    rebuild: (slug, address) => {
      if (pharos.publisher === null || pharos.access.pageOf(slug) === null) return false;
      engine.submit({ trigger: 'rebuild', page: slug, ...by(address) });
      return true;
    },
    rollback: async (slug, release, address) => {
      const { number } = await rollbackTo(
        { database: pharos.store.database, folders: pharos.folders, now, sleep },
        { slug, release },
      );
      audit.note({ ...by(address), action: 'rollback', subject: slug, outcome: `release ${number}` });
    },
    signedIn: async (address) => audit.note({ ...by(address), action: 'sign-in' }),
    signedOut: async (address) => audit.note({ ...by(address), action: 'sign-out' }),
  };
}
