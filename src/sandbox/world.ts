/** A small world that changes over time: a function of its seed and the instant, and of what a test forces upon it. */

import { StatusError } from '../errors.ts';
import { type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import { noise, noiseBetween } from './noise.ts';
import {
  type Disturbance,
  maintenancesOf,
  pastDisturbances,
  reportsOf,
  type WorldMaintenance,
  type WorldReport,
} from './past.ts';
import {
  createPages,
  createServices,
  LIVELY_SERVICES,
  SERVICES_DEFAULT,
  type Service,
  type ServiceStatus,
  type WorldPage,
} from './services.ts';

export type { WorldMaintenance, WorldReport } from './past.ts';
export { SERVICE_STATUSES, type Service, type ServiceStatus, type WorldPage } from './services.ts';

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

/** Checks run at every whole minute, except while paused. */
export interface Checks {
  readonly total: number;
  readonly up: number;
  readonly degraded: number;
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

/** How often something happens while a visitor of the first run may be watching: for two hours. */
const BUSY_CYCLE_MS = 5 * MINUTE_MS;
const BUSY_CYCLES = 24;
/** And later, so that a sandbox left running for weeks does not drown in incidents. */
const QUIET_CYCLE_MS = 30 * MINUTE_MS;
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

/** What happens after the start: one mishap in every cycle, around the lively services, failures and slowness in turn. */
function createLive(
  seed: number,
  startedAt: EpochMs,
  services: readonly Service[],
  past: readonly Disturbance[],
): (at: EpochMs) => readonly Disturbance[] {
  const lively = services.slice(0, LIVELY_SERVICES);
  // Three on from the last one, so that neighbours on a page do not fail in a row; ends with Search, which begins slow.
  const step = lively.length % 3 === 0 ? 1 : 3;
  let incidentId = past.filter(({ status }) => status === 'down').length;
  const known: Disturbance[] = [];
  return (at) => {
    for (let cycle = known.length; startedAt + cycleStartMs(cycle) <= at; cycle += 1) {
      const service = lively[(cycle * step) % lively.length];
      if (service === undefined) break;
      const isDown = (cycle + Math.floor(cycle / LIVELY_SERVICES)) % 2 === 0;
      const startsMs = cycleStartMs(cycle) + noiseBetween(45, 100, noise(seed, 'live start', cycle)) * SECOND_MS;
      const lastsMs = noiseBetween(90, 180, noise(seed, 'live length', cycle)) * SECOND_MS;
      if (isDown) incidentId += 1;
      known.push({
        incidentId: isDown ? incidentId : null,
        serviceId: service.id,
        status: isDown ? 'down' : 'degraded',
        from: toEpochMs(startedAt + startsMs),
        to: toEpochMs(startedAt + startsMs + lastsMs),
        title: `${service.name} is ${isDown ? 'down' : 'slow'}`,
        description: null,
      });
    }
    return known;
  };
}

/** Milliseconds after the start. */
function cycleStartMs(cycle: number): number {
  const busy = Math.min(cycle, BUSY_CYCLES);
  return busy * BUSY_CYCLE_MS + (cycle - busy) * QUIET_CYCLE_MS;
}

function reportsUntil(reports: readonly WorldReport[], at: EpochMs): readonly WorldReport[] {
  return reports
    .map((report) => ({ ...report, updates: report.updates.filter((update) => update.at <= at) }))
    .filter(({ updates }) => updates.length > 0);
}

/** Counts whole minutes by the worst status of each; disturbances may overlap. */
function countChecks(disturbances: readonly Disturbance[], from: EpochMs, to: EpochMs): Checks {
  const minutes = (status: ServiceStatus): ReadonlySet<number> => {
    const covered = new Set<number>();
    for (const one of disturbances) {
      if (one.status !== status) continue;
      const end = Math.min(one.to ?? to, to);
      for (let at = nextMinute(Math.max(one.from, from)); at < end; at += MINUTE_MS) covered.add(at);
    }
    return covered;
  };
  const idle = minutes('paused').union(minutes('pending'));
  const down = minutes('down').difference(idle);
  const degraded = minutes('degraded').difference(idle).difference(down);
  const total = Math.max(0, Math.ceil((to - nextMinute(from)) / MINUTE_MS)) - idle.size;
  return { total, up: total - down.size, degraded: degraded.size };
}

function nextMinute(at: number): number {
  return Math.ceil(at / MINUTE_MS) * MINUTE_MS;
}
