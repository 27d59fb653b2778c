/** The server-monitor API: read-only, an envelope around everything, two sliding limits per key. */

import { bearerToken, headerOf, json, type Reply, type Request, type Upstream } from '../../../../sandbox/exchange.ts';
import { shifted } from '../../../../sandbox/faults.ts';
import type { World } from '../../../../sandbox/world/world.ts';
import { naiveTime } from './naive-time.ts';
import { incidentRecord, logRecords, monitorRecord, statusRecord, uptimeRecord } from './records.ts';
import { createRequestLimiter, type RequestLimits } from './request-limits.ts';

export interface ServerMonitorSettings {
  /** Null: none. Default: the documented 60 a minute and 1,000 an hour, for each key. */
  readonly limits: RequestLimits | null;
  /** Of its clock, east of UTC. Default 120. */
  readonly offsetMinutes: number;
  /** Whether `/maintenance` and `/metrics`, which the document only announces, are there. Default: no. */
  readonly hasFutureEndpoints: boolean;
}

interface ServerMonitorOptions extends ServerMonitorSettings {
  readonly world: World;
  readonly apiKey: string;
  /** A key that exists and may nothing. */
  readonly forbiddenKey: string;
}

type Route = (request: Request, id: string) => Reply;

const CLIENT_ID = 7;

export function createApi(options: ServerMonitorOptions): Upstream {
  const limiter = createRequestLimiter(options.limits);
  const routes = routesOf(options);
  return (request) => {
    const key = headerOf(request.headers, 'x-api-key') ?? bearerToken(request.headers);
    if (key === options.forbiddenKey) return failure(403, 'This API key has no permission to read');
    if (key !== options.apiKey) return failure(401, 'Invalid or missing API key');
    const verdict = limiter(key, request.now);
    if (verdict.kind === 'refused') {
      const headers = { 'retry-after': String(verdict.retryAfterSeconds), 'x-ratelimit-remaining': '0' };
      return failure(429, 'Rate limit exceeded', headers);
    }
    const reply = answer(request, routes);
    return options.limits === null
      ? reply
      : { ...reply, headers: { ...reply.headers, 'x-ratelimit-remaining': String(verdict.remaining) } };
  };
}

function answer(request: Request, routes: ReadonlyMap<string, Route>): Reply {
  const [, resource = '', id = '', ...rest] = request.path.replace(/\/$/, '').split('/');
  const route = rest.length > 0 ? undefined : routes.get(id === '' ? resource : `${resource}/{id}`);
  if (route === undefined) return failure(404, 'Endpoint not found');
  if (request.method !== 'GET') return failure(405, 'Method not allowed', { allow: 'GET' });
  return route(request, id);
}

function routesOf(options: ServerMonitorOptions): ReadonlyMap<string, Route> {
  const { world, offsetMinutes } = options;
  const known: Record<string, Route> = {
    status: ({ now }) => success(statusRecord(world, now, offsetMinutes)),
    monitors: (request) => listMonitors(options, request),
    'monitors/{id}': (request, id) => getMonitor(options, request, id),
    incidents: (request) => listIncidents(options, request),
    'incidents/{id}': ({ now }, id) => {
      const incident = world.incidentsAt(now).find((one) => String(one.id) === id);
      if (incident === undefined) return failure(404, 'Incident not found');
      return success({ incident: incidentRecord(incident, offsetMinutes) });
    },
    test: () => success({ message: 'API connection successful', client_id: CLIENT_ID }),
  };
  return new Map(Object.entries(options.hasFutureEndpoints ? { ...known, ...futureRoutes(options) } : known));
}

function listMonitors({ world, offsetMinutes }: ServerMonitorOptions, { query, now }: Request): Reply {
  const monitors = world.services
    .map((service) => monitorRecord(world.stateOf(service, now), offsetMinutes))
    .filter(({ status, type }) => status === (query.get('status') ?? status) && type === (query.get('type') ?? type));
  return success({ monitors, count: monitors.length });
}

function getMonitor({ world, offsetMinutes }: ServerMonitorOptions, { query, now }: Request, id: string): Reply {
  const service = /^\d+$/.test(id) ? world.services[Number(id) - 1] : undefined;
  if (service === undefined) return failure(404, 'Monitor not found');
  const limit = positiveInteger(query, 'logs_limit', { fallback: 50, max: 100 });
  const days = positiveInteger(query, 'uptime_days', { fallback: 30, max: 90 });
  if (limit === null) return badParameter('logs_limit');
  if (days === null) return badParameter('uptime_days');
  const hasUptime = query.get('include_uptime') === '1';
  const hasLogs = query.get('include_logs') === '1';
  const monitor = {
    ...monitorRecord(world.stateOf(service, now), offsetMinutes),
    ...(hasUptime ? { uptime: uptimeRecord(world, service, days, now) } : {}),
    ...(hasLogs ? { logs: logRecords(world, service, { limit, now, offsetMinutes }) } : {}),
  };
  return success({ monitor });
}

function listIncidents({ world, offsetMinutes }: ServerMonitorOptions, request: Request): Reply {
  const { query, now, pagingShift } = request;
  const page = positiveInteger(query, 'page', { fallback: 1, max: Number.MAX_SAFE_INTEGER });
  const perPage = positiveInteger(query, 'per_page', { fallback: 25, max: 100 });
  if (page === null) return badParameter('page');
  if (perPage === null) return badParameter('per_page');
  const monitorId = query.get('monitor_id');
  const isActiveOnly = !['', '0', 'false'].includes(query.get('active') ?? '');
  const all = shifted(world.incidentsAt(now), pagingShift).filter(
    ({ service, endedAt }) =>
      (monitorId === null || String(service.id) === monitorId) && (!isActiveOnly || endedAt === null),
  );
  const incidents = all.slice((page - 1) * perPage, page * perPage);
  return success({
    incidents: incidents.map((incident) => incidentRecord(incident, offsetMinutes)),
    pagination: {
      total: all.length,
      per_page: perPage,
      current_page: page,
      total_pages: Math.ceil(all.length / perPage),
    },
  });
}

/** What they will answer is not known; these are guesses that a reader must be able to ignore. */
function futureRoutes({ world, offsetMinutes }: ServerMonitorOptions): Record<string, Route> {
  return {
    maintenance: () => {
      const windows = world.maintenances.map(({ id, title, serviceIds, from, to }) => ({
        id,
        title,
        monitor_ids: serviceIds,
        starts_at: naiveTime(from, offsetMinutes),
        ends_at: naiveTime(to, offsetMinutes),
      }));
      return success({ maintenance: windows });
    },
    metrics: () => success({ metrics: { monitors: world.services.length } }),
  };
}

function badParameter(name: string): Reply {
  return failure(400, `Invalid value for ${name}`);
}

/** Above `max` it is cut to `max`; null when it is anything but a positive whole number. */
function positiveInteger(
  query: URLSearchParams,
  name: string,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number | null {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^[1-9]\d*$/.test(text)) return null;
  return Math.min(Number(text), max);
}

function success(data: Readonly<Record<string, unknown>>): Reply {
  return json(200, { success: true, data });
}

function failure(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return json(status, { success: false, error }, headers);
}
