/** The sandbox as a status page of Uptime Kuma: numbers for states, times in UTC that do not say so. */

import { DAY_MS, type EpochMs, MINUTE_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import type { Service, ServiceStatus } from '../../../src/sandbox/services.ts';
import { uptimeKuma } from '../../../src/sync/connectors/uptime-kuma/connector.ts';
import { json, type Upstream } from '../exchange.ts';
import type { SandboxKind } from '../kind.ts';
import type { World } from '../world.ts';

const NAME = 'uptime-kuma';
const SLUG = 'acme';
const BEATS = 100;

export const uptimeKumaSandbox: SandboxKind = {
  connector: uptimeKuma,
  upstreams: [{ name: NAME, ids: ['kuma'], entry: (url) => ({ id: 'kuma', kind: 'uptime-kuma', url, page: SLUG }) }],
  variables: () => ({}),
  start: ({ world }) => ({ [NAME]: createKuma(world) }),
};

const STATUS: Readonly<Record<Exclude<ServiceStatus, 'paused'>, number>> = { up: 1, degraded: 1, down: 0, pending: 2 };

function createKuma(world: World): Upstream {
  return ({ method, path, now }) => {
    if (method !== 'GET') return json(404, { status: 'fail', msg: 'Not found' });
    if (path === `/api/status-page/${SLUG}`) return json(200, page(world, now));
    if (path === `/api/status-page/${SLUG}/incident-history`) return json(200, incidentHistory(world, now));
    if (path === `/api/status-page/heartbeat/${SLUG}`) return json(200, heartbeats(world, now));
    return json(404, { status: 'fail', msg: 'Status Page Not Found' });
  };
}

const utc = (at: EpochMs): string => toIso(at).replace('T', ' ').replace('Z', '');

function page(world: World, now: EpochMs) {
  const group = (id: number, name: string, services: readonly Service[]) => ({
    id,
    name,
    weight: id,
    monitorList: services.map((service) => ({ id: service.id, name: service.name, sendUrl: 0, type: service.kind })),
  });
  return {
    config: { slug: SLUG, title: 'Acme', description: null, published: true },
    incidents: incidentsOf(world, now).filter(({ pin }) => pin),
    publicGroupList: [group(101, 'Shop', world.services.slice(0, 4)), group(102, 'Inside', world.services.slice(4))],
    maintenanceList: world.maintenances
      .filter(({ from, to }) => from <= now && now < to)
      .map(({ id, title, message, from, to }) => ({
        id: 200 + id,
        title,
        description: message,
        strategy: 'single',
        status: 'under-maintenance',
        timezone: 'UTC',
        timeslotList: [{ startDate: utc(from), endDate: utc(to) }],
      })),
  };
}

/** Those that are over were unpinned when they were. */
function incidentsOf(world: World, now: EpochMs) {
  const time = (at: EpochMs): string => utc(at).slice(0, 19);
  return world.reportsAt(now).map(({ id, title, updates }) => {
    const newest = updates.at(-1) ?? updates[0];
    const isOpen = newest.status !== 'resolved';
    return {
      id: 300 + id,
      style: 'warning',
      title,
      content: newest.message,
      pin: isOpen,
      active: isOpen,
      createdDate: time(updates[0].at),
      lastUpdatedDate: isOpen ? null : time(newest.at),
      status_page_id: 1,
    };
  });
}

/** Newest first, a page of ten. */
function incidentHistory(world: World, now: EpochMs) {
  const incidents = incidentsOf(world, now).toReversed();
  return { ok: true, incidents: incidents.slice(0, 10), total: incidents.length, nextCursor: null, hasMore: false };
}

/** One a minute; a monitor that is paused had its last a day ago. */
function heartbeats(world: World, now: EpochMs) {
  const last = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const beatsOf = (service: Service) =>
    Array.from({ length: BEATS }, (_, index) => {
      const at = toEpochMs(last - (BEATS - 1 - index) * MINUTE_MS);
      const { status } = world.stateOf(service, at);
      const isPaused = status === 'paused';
      return {
        status: isPaused ? 1 : STATUS[status],
        time: utc(isPaused ? toEpochMs(at - DAY_MS) : at),
        msg: '',
        ping: world.responseTimeAt(service, at),
      };
    });
  return {
    heartbeatList: Object.fromEntries(world.services.map((service) => [service.id, beatsOf(service)])),
    uptimeList: Object.fromEntries(world.services.map(({ id }) => [`${id}_24`, 1])),
  };
}
