/** The sandbox as a vendor's status page: the world in the v2 shape. */

import { type EpochMs, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { Service, ServiceStatus } from '../../../src/sandbox/services.ts';
import type { WorldMaintenance, WorldReport } from '../../../src/sandbox/world.ts';
import { statuspage } from '../../../src/sync/connectors/statuspage/connector.ts';
import { json, type Upstream } from '../exchange.ts';
import type { SandboxKind } from '../kind.ts';
import type { World } from '../world.ts';

const NAME = 'statuspage';

export const statuspageSandbox: SandboxKind = {
  connector: statuspage,
  upstreams: [{ name: NAME, ids: ['vendor'], entry: (url) => ({ ...statuspage.example, url }) }],
  variables: () => ({}),
  start: ({ world }) => ({ [NAME]: createPage(world) }),
};

const WORDS: Readonly<Record<ServiceStatus, string>> = {
  up: 'operational',
  degraded: 'degraded_performance',
  down: 'major_outage',
  pending: 'degraded_performance',
  paused: 'under_maintenance',
};
const IMPACTS: Readonly<Record<WorldReport['impact'], string>> = {
  degraded_performance: 'minor',
  partial_outage: 'major',
  major_outage: 'critical',
};
const GROUP_ID = 'g1';

function createPage(world: World): Upstream {
  return ({ method, path, now }) => {
    if (method !== 'GET') return json(405, { error: 'Method not allowed' });
    const document = DOCUMENTS[path];
    if (document === undefined) return json(404, { error: 'Not found' });
    const page = {
      id: 'acme',
      name: 'Acme Cloud',
      url: 'https://status.acme.example',
      time_zone: 'Etc/UTC',
      updated_at: toIso(now),
    };
    return json(200, { page, ...document(world, now) });
  };
}

type Document = (world: World, now: EpochMs) => Readonly<Record<string, unknown>>;
const DOCUMENTS: Readonly<Record<string, Document>> = {
  '/api/v2/summary.json': (world, now) => ({
    components: [groupOf(world), ...world.services.map((service) => componentOf(world, service, now))],
    incidents: incidentsOf(world, now).filter(({ status }) => status !== 'resolved'),
    scheduled_maintenances: maintenancesOf(world, now).filter(({ status }) => status !== 'completed'),
    status: { indicator: 'none', description: 'All Systems Operational' },
  }),
  '/api/v2/incidents.json': (world, now) => ({ incidents: incidentsOf(world, now) }),
  '/api/v2/scheduled-maintenances.json': (world, now) => ({ scheduled_maintenances: maintenancesOf(world, now) }),
};

function groupOf({ services, startedAt }: World): Record<string, unknown> {
  return {
    ...component(GROUP_ID, 'Platform', startedAt),
    status: 'operational',
    group: true,
    components: services.slice(0, 3).map(({ id }) => `c${id}`),
  };
}

function component(id: string, name: string, createdAt: EpochMs): Record<string, unknown> {
  const at = toIso(createdAt);
  return {
    id,
    name,
    created_at: at,
    updated_at: at,
    position: 1,
    description: null,
    showcase: true,
    start_date: null,
    group_id: null,
    page_id: 'acme',
    group: false,
    only_show_if_degraded: false,
  };
}

function componentOf(world: World, service: Service, now: EpochMs): Record<string, unknown> {
  return {
    ...component(`c${service.id}`, service.name, service.createdAt),
    description: service.description,
    group_id: service.id <= 3 ? GROUP_ID : null,
    status: WORDS[world.stateOf(service, now).status],
  };
}

/** Newest first, with their updates newest first. */
function incidentsOf(world: World, now: EpochMs) {
  return world
    .reportsAt(now)
    .map(({ id, title, impact, serviceIds, updates }) => {
      const first = toIso(updates[0]?.at ?? now);
      const last = updates.at(-1);
      return {
        ...event(`i${id}`, title, { world, serviceIds, now }),
        status: last?.status ?? 'investigating',
        impact: IMPACTS[impact],
        created_at: first,
        started_at: first,
        updated_at: toIso(last?.at ?? now),
        resolved_at: last?.status === 'resolved' ? toIso(last.at) : null,
        incident_updates: updates
          .map(({ id: updateId, status, at, message }) =>
            update(`u${updateId}`, `i${id}`, { status, at, body: message }),
          )
          .toReversed(),
      };
    })
    .toReversed();
}

function maintenancesOf(world: World, now: EpochMs) {
  return world.maintenances
    .map((maintenance) => {
      const { id, title, message, serviceIds, from, to } = maintenance;
      const status = statusOf(maintenance, now);
      const announced = toEpochMs(from - 86_400_000);
      return {
        ...event(`m${id}`, title, { world, serviceIds, now }),
        status,
        impact: 'maintenance',
        created_at: toIso(announced),
        started_at: toIso(from),
        updated_at: toIso(announced),
        resolved_at: status === 'completed' ? toIso(to) : null,
        scheduled_for: toIso(from),
        scheduled_until: toIso(to),
        incident_updates: [update(`v${id}`, `m${id}`, { status: 'scheduled', at: announced, body: message })],
      };
    })
    .toReversed();
}

function statusOf({ from, to }: WorldMaintenance, now: EpochMs): string {
  return now < from ? 'scheduled' : now < to ? 'in_progress' : 'completed';
}

function event(
  id: string,
  name: string,
  { world, serviceIds, now }: { readonly world: World; readonly serviceIds: readonly number[]; readonly now: EpochMs },
) {
  return {
    id,
    name,
    page_id: 'acme',
    monitoring_at: null,
    shortlink: `https://status.acme.example/${id}`,
    components: world.services
      .filter((service) => serviceIds.includes(service.id))
      .map((service) => componentOf(world, service, now)),
  };
}

function update(
  id: string,
  incidentId: string,
  { status, at, body }: { readonly status: string; readonly at: EpochMs; readonly body: string },
): Record<string, unknown> {
  const time = toIso(at);
  return {
    id,
    status,
    body,
    incident_id: incidentId,
    created_at: time,
    updated_at: time,
    display_at: time,
    affected_components: null,
  };
}
