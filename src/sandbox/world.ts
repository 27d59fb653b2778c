/** A small world that changes over time: a function of its seed and the instant, and of what a test forces upon it. */

import { StatusError } from '../errors.ts';
import { type EpochMs, toEpochMs } from '../model/time.ts';
import { type Checks, countChecks } from './checks.ts';
import { createLive } from './live.ts';
import { noise } from './noise.ts';
import { type Disturbance, pastDisturbances } from './past.ts';
import { maintenancesOf, reportsOf, reportsUntil, type WorldMaintenance, type WorldReport } from './posts.ts';
import { createServices, LIVELY_SERVICES, SERVICES_DEFAULT, type Service, type ServiceStatus } from './services.ts';
import { createPages, type WorldPage } from './world-pages.ts';

export type { Checks } from './checks.ts';
export type { WorldMaintenance, WorldReport } from './posts.ts';
export { SERVICE_STATUSES, type Service, type ServiceStatus } from './services.ts';
export type { WorldPage } from './world-pages.ts';

export interface WorldOptions {
  readonly seed: number;
  /** The past lies before it; things keep happening after it. */
  readonly startedAt: EpochMs;
  /** Default nine; more are made up by number. */
  readonly services?: number;
  /** Outages in the ninety days beside the scripted dozen. Default: one for every eight services beyond the nine. */
  readonly extraOutages?: number;
  /** True: nothing is open at the start and nothing happens by itself afterwards. */
  readonly isCalm?: boolean;
  /** When `force` acts. Default: always `startedAt`. */
  readonly now?: () => EpochMs;
}

export interface ServiceState {
  readonly service: Service;
  readonly status: ServiceStatus;
  /** Since when; the service's creation when it was always up. */
  readonly since: EpochMs;
}

/** The record of one outage. */
export interface WorldIncident {
  readonly id: number;
  readonly service: Service;
  readonly startedAt: EpochMs;
  /** Null while open. */
  readonly endedAt: EpochMs | null;
  readonly title: string;
  readonly description: string | null;
}

export interface WorldState {
  readonly now: EpochMs;
  /** By id. */
  readonly services: readonly ServiceState[];
  /** Newest first. */
  readonly incidents: readonly WorldIncident[];
  /** By id; only updates written so far. */
  readonly reports: readonly WorldReport[];
  /** By id; those ahead too. */
  readonly maintenances: readonly WorldMaintenance[];
}

export interface World {
  readonly seed: number;
  readonly startedAt: EpochMs;
  /** By id. */
  readonly services: readonly Service[];
  readonly pages: readonly WorldPage[];
  /** Everything at one instant; the same instant gives the same answer. */
  at(now: EpochMs): WorldState;
  /** One service at one instant. */
  stateOf(service: Service, now: EpochMs): ServiceState;
  /** Outages up to `now`, newest first. */
  incidentsAt(now: EpochMs): readonly WorldIncident[];
  /** Checks of a service in `[from, to)`. */
  checksOf(service: Service, from: EpochMs, to: EpochMs): Checks;
  /** What the check at `at` measured, in milliseconds; null when it got no answer. */
  responseTimeAt(service: Service, at: EpochMs): number | null;
  /** By its key (`api`), or by the number in a monitor's name (`edge/2`, `svc/2`). */
  find(monitorKey: string): Service | undefined;
  /**
   * Puts a service into a status from now on, whatever was going on; `down` opens an incident and the next call
   * closes it. Null gives the service back to its own course, well until its next mishap.
   *
   * @throws NOT_FOUND when there is no such service
   */
  force(monitorKey: string, status: ServiceStatus | null): void;
}

/** Incidents of forced outages are numbered from here, so that they never meet the others. */
const FORCED_INCIDENT_ID_MIN = 1_000_000;
/** Services beyond the named ones for each extra outage of the past. */
const SERVICES_PER_EXTRA_OUTAGE = 8;
const DEGRADED_SLOWER_BY = 4;

interface Forced {
  readonly serviceId: number;
  readonly status: ServiceStatus;
  readonly from: EpochMs;
  to: EpochMs | null;
  readonly incidentId: number;
}

/** Makes a world. Nothing runs in it: it is asked how it is at an instant. */
export function createWorld(options: WorldOptions): World {
  const { seed, startedAt, isCalm = false, now = () => startedAt } = options;
  const services = createServices(seed, options.services ?? SERVICES_DEFAULT, startedAt);
  const extraOutages =
    options.extraOutages ?? Math.max(0, Math.floor((services.length - SERVICES_DEFAULT) / SERVICES_PER_EXTRA_OUTAGE));
  const past = pastDisturbances({ seed, startedAt, services, extraOutages, isCalm });
  const maintenances = maintenancesOf(startedAt, isCalm);
  const reports = reportsOf(startedAt, isCalm);
  const forced: Forced[] = [];
  const live = isCalm ? () => [] : createLive(seed, startedAt, services, past);
  const pastByService = groupByService(past);

  /** What happened to one service up to `at`, with forced stretches put in, oldest first. */
  function disturbancesOf(service: Service, at: EpochMs): readonly Disturbance[] {
    const natural = [
      ...(pastByService.get(service.id) ?? []),
      ...(service.id <= LIVELY_SERVICES ? live(at).filter(({ serviceId }) => serviceId === service.id) : []),
    ];
    const mine = forced.filter(({ serviceId }) => serviceId === service.id);
    const all = mine.length === 0 ? natural : [...natural.flatMap((one) => cut(one, mine)), ...mine.flatMap(disturb)];
    return all.filter(({ from }) => from <= at).sort((a, b) => a.from - b.from);
  }

  function disturb({ serviceId, status, from, to, incidentId }: Forced): Disturbance[] {
    if (status === 'up') return [];
    const title = `${services[serviceId - 1]?.name ?? 'Service'} is ${status}`;
    const id = status === 'down' ? incidentId : null;
    return [{ incidentId: id, serviceId, status, from, to, title, description: null }];
  }

  function stateOf(service: Service, at: EpochMs): ServiceState {
    let state: ServiceState = { service, status: 'up', since: service.createdAt };
    let upSince: EpochMs = service.createdAt;
    for (const { from, to, status } of disturbancesOf(service, at)) {
      if (to !== null && to <= at) upSince = toEpochMs(Math.max(upSince, to));
      else if (SEVERITY[status] > SEVERITY[state.status]) state = { service, status, since: from };
    }
    return state.status === 'up' ? { ...state, since: upSince } : state;
  }

  function incidentsAt(at: EpochMs): readonly WorldIncident[] {
    const incidents = services.flatMap((service) =>
      disturbancesOf(service, at).flatMap(({ incidentId, from, to, title, description }) =>
        incidentId === null
          ? []
          : [
              {
                id: incidentId,
                service,
                startedAt: from,
                endedAt: to !== null && to <= at ? to : null,
                title,
                description,
              },
            ],
      ),
    );
    return incidents.sort((a, b) => b.startedAt - a.startedAt || b.id - a.id);
  }

  const world: World = {
    seed,
    startedAt,
    services,
    pages: createPages(services),
    stateOf,
    incidentsAt,
    at: (at) => ({
      now: at,
      services: services.map((service) => stateOf(service, at)),
      incidents: incidentsAt(at),
      reports: reportsUntil(reports, at),
      maintenances,
    }),
    checksOf: (service, from, to) => countChecks(disturbancesOf(service, to), from, to),
    responseTimeAt(service, at) {
      const { status } = stateOf(service, at);
      if (status === 'down' || status === 'paused' || status === 'pending') return null;
      const slower = status === 'degraded' ? DEGRADED_SLOWER_BY : 1;
      return Math.round(service.responseTimeMs * slower * (0.85 + 0.3 * noise(seed, 'check', service.id, at)));
    },
    find: (monitorKey) => findService(services, monitorKey),
    force(monitorKey, status) {
      const service = findService(services, monitorKey);
      if (service === undefined) {
        throw new StatusError({ code: 'NOT_FOUND', message: `There is no service "${monitorKey}" in this world.` });
      }
      const at = now();
      const open = forced.find(({ serviceId, to }) => serviceId === service.id && to === null);
      if (open?.status === status) return;
      if (open !== undefined) open.to = at;
      const incidentId = FORCED_INCIDENT_ID_MIN + forced.length + 1;
      if (status !== null) forced.push({ serviceId: service.id, status, from: at, to: null, incidentId });
    },
  };
  return world;
}

/** Which of two disturbances at once shows. */
const SEVERITY: Readonly<Record<ServiceStatus, number>> = { up: 0, degraded: 1, pending: 2, down: 3, paused: 4 };

function findService(services: readonly Service[], monitorKey: string): Service | undefined {
  const number = /^[^/]+\/(\d+)$/.exec(monitorKey)?.[1];
  return number === undefined ? services.find(({ key }) => key === monitorKey) : services[Number(number) - 1];
}

function groupByService(disturbances: readonly Disturbance[]): ReadonlyMap<number, readonly Disturbance[]> {
  return Map.groupBy(disturbances, ({ serviceId }) => serviceId);
}

/** A natural disturbance ends where a forced stretch begins, and does not happen at all inside one. */
function cut(one: Disturbance, forced: readonly Forced[]): Disturbance[] {
  let { to } = one;
  for (const stretch of forced) {
    if (one.from >= stretch.from && (stretch.to === null || one.from < stretch.to)) return [];
    if (one.from < stretch.from && (to === null || to > stretch.from)) to = stretch.from;
  }
  return [{ ...one, to }];
}
