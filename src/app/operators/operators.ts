/** The operators' page over a composed Pharos: what it shows, and what its buttons do. */

import { systemRandom } from '../../access/digest.ts';
import { rollbackTo } from '../../publish/releases/rollback.ts';
import { createOperatorGuard, type OperatorGuard } from '../../server/operators/ops-guard.ts';
import { createOpsRoutes, type OpsActions, type OpsPage } from '../../server/operators/ops-routes.ts';
import { createOperatorSessionService } from '../../server/operators/ops-session.ts';
import { createOperatorSessions } from '../../store/operator-sessions.ts';
import type { ServeParts } from '../build-serve.ts';
import { now, sleep } from '../clock.ts';
import type { Pharos } from '../compose.ts';
import { redact } from '../log.ts';
import { createOpsFacts } from './ops-facts.ts';
import { createForms } from './writing.ts';

interface Operators {
  readonly guard: OperatorGuard;
  readonly routes: ReturnType<typeof createOpsRoutes>;
}

/** Makes the page and the guard that it shares with the other addresses for operators. */
export function createOperators(pharos: Pharos): Operators {
  const { database } = pharos.base.store;
  const token = () => pharos.base.live.config().operators.token ?? null;
  const guard = createOperatorGuard(token);
  const facts = createOpsFacts(pharos, (text) => redact(text, pharos.base.live.config().secrets));
  const routes = createOpsRoutes({
    hasToken: () => token() !== null,
    guard,
    sessions: createOperatorSessionService({ sessions: createOperatorSessions(database), token, random: systemRandom }),
    events: pharos.serving.events,
    facts: facts.facts,
    render: (page) => drawn(pharos.serving, page),
    actions: actionsOf(pharos),
    forms: createForms(pharos),
    now,
  });
  return { guard, routes };
}

function drawn({ draw }: ServeParts, page: OpsPage): ReturnType<ServeParts['draw']> {
  if (page.kind === 'ops') return draw('ops', page.view);
  if (page.kind === 'ops-write') return draw('ops-write', page.view);
  return page.kind === 'status-page' ? draw('status-page', page.view) : draw('ops-sign-in', page.view);
}

function actionsOf(pharos: Pharos): OpsActions {
  const { audit } = pharos.base;
  const { engine } = pharos.publishing;
  const by = (address: string) => ({ actor: 'operator', client: audit.clientOf(address) });
  return {
    pull: (upstreamId, address) => {
      if (pharos.publishing.publisher === null) return false;
      if (upstreamId !== null && !pharos.base.live.upstreams().some(({ id }) => id === upstreamId)) return false;
      const upstreams = upstreamId === null ? {} : { upstreams: [upstreamId] };
      engine.submit({ trigger: 'rebuild', isUrgent: true, ...by(address), ...upstreams });
      return true;
    },
    rebuild: (slug, address) => {
      if (pharos.publishing.publisher === null || pharos.serving.access.pageOf(slug) === null) return false;
      engine.submit({ trigger: 'rebuild', page: slug, ...by(address) });
      return true;
    },
    rollback: async (slug, release, address) => {
      const { number } = await rollbackTo(
        { database: pharos.base.store.database, folders: pharos.base.folders, now, sleep },
        { slug, release },
      );
      audit.note({ ...by(address), action: 'rollback', subject: slug, outcome: `release ${number}` });
    },
    signedIn: async (address) => audit.note({ ...by(address), action: 'sign-in' }),
    signedOut: async (address) => audit.note({ ...by(address), action: 'sign-out' }),
  };
}
