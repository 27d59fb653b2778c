/** The REST half of the real uptime service, `/v1`: numbers are numbers here, and words have no prefix. */

import { DAY_MS, toEpochMs, toIso } from '../../../../../src/model/time.ts';
import type { Service, WorldPage } from '../../../../../src/sandbox/services.ts';
import type { WorldIncident, WorldMaintenance, WorldReport } from '../../../../../src/sandbox/world.ts';
import { json, type Reply, type Request } from '../../../exchange.ts';
import { uptimeMonitor } from '../../../monitor-record.ts';
import type { World } from '../../../world.ts';
import { restError } from './connect-errors.ts';
import { pageOf } from './records.ts';

type Entity = Record<string, unknown>;
/** One kind of resource: every entity of it, by id. */
type Listing = (world: World, request: Request, pagePassword: string) => readonly Entity[];

const LISTINGS: ReadonlyMap<string, Listing> = new Map<string, Listing>([
  ['monitor', (world, { now }) => world.services.map((service) => monitorEntity(world, service, now))],
  ['page', (world, _request, pagePassword) => world.pages.map((page) => pageEntity(page, pagePassword))],
  ['incident', (world, { now }) => world.incidentsAt(now).map(incidentEntity).toReversed()],
  ['status_report', (world, { now }) => world.reportsAt(now).map((report) => reportEntity(world, report))],
  ['status_report_update', (world, { now }) => world.reportsAt(now).flatMap(updateEntities)],
  ['maintenance', (world) => world.maintenances.map((one) => maintenanceEntity(world, one))],
]);

/** Days that a summary counts. */
const SUMMARY_DAYS = 45;

/** Answers a GET below `/v1/`; null where there is nothing of that name. */
export function readRest(
  request: Request,
  { world, pagePassword }: { readonly world: World; readonly pagePassword: string },
  requestId: string,
): Reply | null {
  const [, resource = '', id, part] = /^\/v1\/([a-z_]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(request.path) ?? [];
  const listing = LISTINGS.get(resource);
  if (listing === undefined) return null;
  const headers = { 'x-request-id': requestId };
  const entities = listing(world, request, pagePassword);
  if (id === undefined) return json(200, entities, headers);
  const entity = entities.find((one) => String(one['id']) === id);
  if (entity === undefined) return restError(404, 'NOT_FOUND', `${resource} ${id} not found`, requestId);
  if (part === undefined) return json(200, entity, headers);
  const service = resource === 'monitor' && part === 'summary' ? world.services[Number(id) - 1] : undefined;
  return service === undefined ? null : json(200, { data: serviceSummary(world, service, request) }, headers);
}

function monitorEntity(world: World, service: Service, now: Request['now']): Entity {
  const { name, description, periodicity, active, retry, timeout, degradedAt, regions, ...rest } = uptimeMonitor(
    world.stateOf(service, now),
  );
  return {
    id: service.id,
    periodicity,
    url: service.target,
    regions: regions.map((region) => region.slice(region.indexOf('-') + 1)),
    name,
    externalName: null,
    description,
    method: 'GET',
    body: '',
    headers: [],
    assertions: [],
    active,
    public: rest.public,
    degradedAfter: degradedAt,
    timeout,
    retry,
    followRedirects: true,
    jobType: service.kind,
  };
}

function pageEntity(page: WorldPage, pagePassword: string): Entity {
  const isGated = page.accessType === 'password';
  return {
    id: page.id,
    title: page.title,
    description: page.description ?? '',
    slug: page.slug,
    icon: '',
    passwordProtected: isGated,
    accessType: page.accessType,
    password: isGated ? pagePassword : null,
    authEmailDomains: page.emailDomains.length === 0 ? null : page.emailDomains,
    showMonitorValues: true,
    monitors: page.components.flatMap(({ serviceId }) => (serviceId === null ? [] : [serviceId])),
  };
}

function incidentEntity({ id, service, startedAt, endedAt }: WorldIncident): Entity {
  return {
    id,
    startedAt: toIso(startedAt),
    monitorId: service.id,
    acknowledgedAt: null,
    acknowledgedBy: null,
    resolvedAt: endedAt === null ? null : toIso(endedAt),
    resolvedBy: null,
  };
}

function reportEntity(world: World, report: WorldReport): Entity {
  return {
    id: report.id,
    title: report.title,
    status: report.updates.at(-1)?.status ?? 'investigating',
    statusReportUpdateIds: report.updates.map(({ id }) => id),
    monitorIds: report.serviceIds,
    pageId: pageOf(world, report.serviceIds)?.id ?? null,
  };
}

/** Its id is text here, unlike all the others: so it was recorded. */
function updateEntities({ id: statusReportId, updates }: WorldReport): readonly Entity[] {
  return updates.map(({ id, status, at, message }) => ({
    id: String(id),
    status,
    date: toIso(at),
    message,
    statusReportId,
  }));
}

function maintenanceEntity(world: World, { id, title, message, from, to, serviceIds }: WorldMaintenance): Entity {
  const pageId = pageOf(world, serviceIds)?.id ?? null;
  return { id, title, message, from: toIso(from), to: toIso(to), monitorIds: serviceIds, pageId };
}

/** Newest day first, unlike the daily summary of pages. */
function serviceSummary(world: World, service: Service, { now }: Request): readonly Entity[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return Array.from({ length: SUMMARY_DAYS }, (_, index) => {
    const day = toEpochMs(today - index * DAY_MS);
    const { total, up } = world.checksOf(service, day, toEpochMs(Math.min(day + DAY_MS, now)));
    return { day: toIso(day), count: total, ok: up };
  });
}
