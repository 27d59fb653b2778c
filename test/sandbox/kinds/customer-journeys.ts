/** The customer journeys of the sandbox. How their listing pages is not documented, so that can be chosen. */

import { DAY_MS, type EpochMs, HOUR_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import { noise, noiseBetween } from '../../../src/sandbox/services.ts';
import { customerJourneys } from '../../../src/sync/connectors/customer-journeys/connector.ts';
import { bearerToken, json, type Reply, type Request, type Upstream } from '../exchange.ts';
import { shifted } from '../faults.ts';
import type { SandboxKind } from '../kind.ts';
import type { World } from '../world.ts';

interface JourneysSettings {
  readonly count: number;
  readonly pageSize: number;
  /** What a page behind the last one holds: nothing, or the last one again. */
  readonly pastEnd: 'empty' | 'repeat';
}

const SETTINGS: JourneysSettings = { count: 23, pageSize: 15, pastEnd: 'empty' };
const NAME = 'journeys';

export function customerJourneysSandbox(settings: Partial<JourneysSettings> = {}): SandboxKind {
  return {
    connector: customerJourneys,
    upstreams: [
      {
        name: NAME,
        ids: ['crm'],
        entry: (url) => ({ ...customerJourneys.example, tenantBaseUrl: url }),
        isUsual: true,
      },
    ],
    variables: ({ secret }) => ({ CRM_TOKEN: secret(NAME) }),
    start: ({ world, secret }) => ({
      [NAME]: createJourneys({ world, token: secret(NAME), ...SETTINGS, ...settings }),
    }),
  };
}

interface JourneysOptions extends JourneysSettings {
  readonly world: World;
  readonly token: string;
}

const PATH = '/api/v1/customer360/journeys';
const STATUSES = ['active', 'active', 'active', 'draft', 'paused', 'archived'] as const;
const TOPICS = ['Welcome', 'Abandoned basket', 'Birthday', 'Win back', 'First order', 'Review', 'Refill'] as const;

function createJourneys(options: JourneysOptions): Upstream {
  return (request) => {
    if (request.path !== PATH) return json(404, { message: 'Not found.' });
    if (request.method !== 'GET') return json(405, { message: 'Method not allowed.' }, { allow: 'GET' });
    if (bearerToken(request.headers) !== options.token) return json(401, { message: 'Unauthenticated.' });
    // A client that does not ask for JSON would be sent to a page for people.
    if (!(request.headers.accept ?? '').includes('application/json')) return json(406, { message: 'Not acceptable.' });
    return list(request, options);
  };
}

function list({ query, now, pagingShift }: Request, options: JourneysOptions): Reply {
  const { world, count, pageSize, pastEnd } = options;
  const newestUpdated = Array.from({ length: count }, (_, index) => index + 1)
    .map((id) => ({ id, updatedAt: updatedAt(world, id, now) }))
    .sort((a, b) => b.updatedAt - a.updatedAt || a.id - b.id);
  const journeys = shifted(newestUpdated, pagingShift);
  const pages = Math.max(1, Math.ceil(journeys.length / pageSize));
  const asked = Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1);
  const page = pastEnd === 'repeat' ? Math.min(asked, pages) : asked;
  const data = journeys.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => journeyRecord(world, id));
  return json(200, { data });
}

/** Somebody touches each journey every few hours, so that the order is never the same for long. */
function updatedAt(world: World, id: number, now: EpochMs): number {
  const everyMs = noiseBetween(60, 540, noise(world.seed, 'journey', id)) * (HOUR_MS / 60);
  return Math.floor((now - id * HOUR_MS) / everyMs) * everyMs + id * HOUR_MS;
}

function journeyRecord(world: World, id: number): Record<string, unknown> {
  const topic = TOPICS[id % TOPICS.length] ?? 'Journey';
  const hasSegment = id % 5 !== 0;
  const isPlain = id % 7 === 0;
  const segment = { id: 100 + (id % 4), name: `Segment ${id % 4}`, description: 'Customers who match' };
  return {
    id,
    name: `${topic} ${Math.ceil(id / TOPICS.length)}`,
    description: isPlain ? null : `${topic}, sent by itself`,
    segment_id: hasSegment ? segment.id : null,
    status: STATUSES[noiseBetween(0, STATUSES.length, noise(world.seed, 'journey status', id))],
    trigger_rules: isPlain ? null : [{ event: 'order.created', condition: { total: { gte: 10 * id } } }],
    export_targets: isPlain ? null : [{ channel: 'email', template: `template-${id}` }],
    created_by: id % 3 === 0 ? null : 40 + (id % 3),
    created_at: toIso(toEpochMs(world.startedAt - (300 - id) * DAY_MS)),
    segment: hasSegment ? segment : null,
  };
}
