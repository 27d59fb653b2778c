/** The server-monitor API as documented: read-only, one key, an envelope around everything, times without a zone. */

import type { IncomingHttpHeaders } from 'node:http';
import { DAY_MS, type EpochMs, MINUTE_MS, toEpochMs } from '../model/time.ts';
import type { Service, ServiceStatus } from './services.ts';
import type { ServiceState, World, WorldIncident } from './world.ts';

// What every upstream of the sandbox is: a function from a request to a reply. The server does the sockets.

export interface Request {
  readonly method: string;
  /** After the upstream's prefix, beginning with a slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly now: EpochMs;
}

export type Reply = ReturnType<typeof json>;

/** A reply in JSON. */
export function json(status: number, value: unknown, own: Readonly<Record<string, string>> = {}) {
  const headers: Readonly<Record<string, string>> = { 'content-type': 'application/json', ...own };
  return { status, headers, body: JSON.stringify(value) };
}

/** The token of `Authorization: Bearer …`; null without one. */
export function bearerToken(headers: IncomingHttpHeaders): string | null {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

interface ServerMonitorOptions {
  readonly world: World;
  readonly apiKey: string;
  /** Of its clock, east of UTC. Default: 120. */
  readonly offsetMinutes?: number;
}

type Route = (request: Pick<Request, 'query' | 'now'>, id: string) => Reply;
type ServerMonitorRecord = Readonly<Record<string, unknown>>;

const CLIENT_ID = 7;

/** It has no word for slow: a degraded service answers, so it is up. */
const WORDS: Readonly<Record<ServiceStatus, 'up' | 'down' | 'pending' | 'paused'>> = {
  up: 'up',
  degraded: 'up',
  down: 'down',
  pending: 'pending',
  paused: 'paused',
};

export function createServerMonitor(options: ServerMonitorOptions) {
  const routes = new Map(Object.entries(createRoutes(options)));
  return (request: Request): Reply => {
    const key = request.headers['x-api-key'] ?? bearerToken(request.headers);
    if (key !== options.apiKey) return failure(401, 'Invalid or missing API key');
    const [, resource = '', id = '', ...rest] = request.path.replace(/\/$/, '').split('/');
    const route = rest.length > 0 ? undefined : routes.get(id === '' ? resource : `${resource}/{id}`);
    if (route === undefined) return failure(404, 'Endpoint not found');
    if (request.method !== 'GET') return failure(405, 'Method not allowed', { allow: 'GET' });
    return route(request, id);
  };
}

function createRoutes({ world, offsetMinutes = 120 }: ServerMonitorOptions): Record<string, Route> {
  const naive = (at: EpochMs): string => naiveTime(at, offsetMinutes);
  const monitorRecord = ({ service, status, since }: ServiceState) => ({
    id: service.id,
    name: service.host,
    type: service.kind,
    target: service.target,
    status: WORDS[status],
    is_active: status === 'paused' ? 0 : 1,
    created_at: naive(service.createdAt).replace('T', ' '),
    updated_at: naive(since).replace('T', ' '),
  });
  const incidentRecord = ({ id, service, startedAt, endedAt, title, description }: WorldIncident) => ({
    id,
    monitor_id: service.id,
    monitor_name: service.host,
    target: service.target,
    started_at: naive(startedAt),
    ended_at: endedAt === null ? null : naive(endedAt),
    title,
    description,
  });
  return {
    status: ({ now }) => {
      const active = world.incidentsAt(now).filter(({ endedAt }) => endedAt === null);
      return success({
        status: countStates(world, now),
        active_incidents: active.map(incidentRecord),
        timestamp: offsetTime(now, offsetMinutes),
      });
    },
    monitors: ({ query, now }) => {
      const monitors = world.services
        .map((service) => monitorRecord(world.stateOf(service, now)))
        .filter(
          ({ status, type }) => status === (query.get('status') ?? status) && type === (query.get('type') ?? type),
        );
      return success({ monitors, count: monitors.length });
    },
    'monitors/{id}': ({ query, now }, id) => {
      const service = /^\d+$/.test(id) ? world.services[Number(id) - 1] : undefined;
      if (service === undefined) return failure(404, 'Monitor not found');
      const limit = readCount(query, 'logs_limit', 50, 100);
      const days = readCount(query, 'uptime_days', 30, 90);
      if (limit === null) return failure(400, 'Invalid value for logs_limit');
      if (days === null) return failure(400, 'Invalid value for uptime_days');
      const monitor = monitorRecord(world.stateOf(service, now));
      const uptime = query.get('include_uptime') === '1' ? { uptime: uptimeRecord(world, service, days, now) } : {};
      const logs = query.get('include_logs') === '1' ? { logs: logRecords(world, service, limit, now, naive) } : {};
      return success({ monitor: { ...monitor, ...uptime, ...logs } });
    },
    incidents: (request) => listIncidents(world, request, incidentRecord),
    'incidents/{id}': ({ now }, id) => {
      const incident = world.incidentsAt(now).find((one) => String(one.id) === id);
      if (incident === undefined) return failure(404, 'Incident not found');
      return success({ incident: incidentRecord(incident) });
    },
    test: () => success({ message: 'API connection successful', client_id: CLIENT_ID }),
  };
}

function countStates(world: World, now: EpochMs): ServerMonitorRecord {
  const counts = { up: 0, down: 0, pending: 0, paused: 0 };
  for (const service of world.services) counts[WORDS[world.stateOf(service, now).status]] += 1;
  return {
    total: world.services.length,
    ...counts,
    overall_status: counts.down === 0 ? 'operational' : 'degraded',
    uptime_percentage: toPercent(counts.up, counts.up + counts.down),
  };
}

function listIncidents(
  world: World,
  { query, now }: Pick<Request, 'query' | 'now'>,
  toRecord: (incident: WorldIncident) => ServerMonitorRecord,
): Reply {
  const page = readCount(query, 'page', 1, Number.MAX_SAFE_INTEGER);
  const perPage = readCount(query, 'per_page', 25, 100);
  if (page === null) return failure(400, 'Invalid value for page');
  if (perPage === null) return failure(400, 'Invalid value for per_page');
  const monitorId = query.get('monitor_id');
  const isActiveOnly = !['', '0', 'false'].includes(query.get('active') ?? '');
  const all = world
    .incidentsAt(now)
    .filter(
      ({ service, endedAt }) =>
        (monitorId === null || String(service.id) === monitorId) && (!isActiveOnly || endedAt === null),
    );
  return success({
    incidents: all.slice((page - 1) * perPage, page * perPage).map(toRecord),
    pagination: {
      total: all.length,
      per_page: perPage,
      current_page: page,
      total_pages: Math.ceil(all.length / perPage),
    },
  });
}

function uptimeRecord(world: World, service: Service, days: number, now: EpochMs): ServerMonitorRecord {
  const from = toEpochMs(now - days * DAY_MS);
  const { total, up } = world.checksOf(service, from, now);
  return {
    period_days: days,
    total_checks: total,
    up_checks: up,
    uptime_percentage: toPercent(up, total),
    avg_response_time: Math.round((world.responseTimeBetween(service, from, now) ?? 0) * 100) / 100,
  };
}

/** The newest checks first. The document does not show this record; the fields are ours. */
function logRecords(world: World, service: Service, limit: number, now: EpochMs, naive: (at: EpochMs) => string) {
  const last = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  return Array.from({ length: limit }, (_, index) => {
    const at = toEpochMs(last - index * MINUTE_MS);
    const { status } = world.stateOf(service, at);
    return {
      id: at / MINUTE_MS,
      monitor_id: service.id,
      status: WORDS[status],
      response_time: world.responseTimeAt(service, at),
      status_code: service.kind === 'http' ? (status === 'down' ? 503 : 200) : null,
      checked_at: naive(at).replace('T', ' '),
    };
  });
}

/** `YYYY-MM-DDTHH:MM:SS` on a clock `offsetMinutes` east of UTC, without saying so. */
export function naiveTime(at: EpochMs, offsetMinutes: number): string {
  return new Date(at + offsetMinutes * MINUTE_MS).toISOString().slice(0, 19);
}

/** `YYYY-MM-DDTHH:MM:SS+02:00`. */
export function offsetTime(at: EpochMs, offsetMinutes: number): string {
  const size = Math.abs(offsetMinutes);
  const digits = (value: number): string => String(value).padStart(2, '0');
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60))}:${digits(size % 60)}`;
  return `${naiveTime(at, offsetMinutes)}${offset}`;
}

/** Above `max` it is cut to `max`; null when it is anything but a positive whole number. */
function readCount(query: URLSearchParams, name: string, fallback: number, max: number): number | null {
  const text = query.get(name);
  if (text === null) return fallback;
  return /^[1-9]\d*$/.test(text) ? Math.min(Number(text), max) : null;
}

function toPercent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
}

function success(data: ServerMonitorRecord): Reply {
  return json(200, { success: true, data });
}

export function failure(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return json(status, { success: false, error }, headers);
}
