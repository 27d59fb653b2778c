/** A small world that changes over time: a function of its seed and the instant. */

import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../model/time.ts';
import acme from './acme.json' with { type: 'json' };
import { countChecks, createLive, type Disturbance, pastDisturbances } from './course.ts';
import {
  createPages,
  createServices,
  LIVELY_SERVICES,
  noise,
  SERVICES_DEFAULT,
  type Service,
  type ServiceStatus,
} from './services.ts';

export interface WorldOptions {
  readonly seed: number;
  /** The past lies before it; things keep happening after it. */
  readonly startedAt: EpochMs;
  /** Default nine; more are made up by number. */
  readonly services?: number;
  /** Outages in the ninety days beside the scripted dozen. Default: one for every eight services beyond the nine. */
  readonly extraOutages?: number;
  /** Changes what happens to a service, as tests do. Default: nothing. */
  readonly adjust?: (service: Service, natural: readonly Disturbance[]) => readonly Disturbance[];
}

export type ServiceState = ReturnType<typeof stateFrom>;

/** The record of one outage. */
export type WorldIncident = ReturnType<typeof incidentsFrom>[number];

export type WorldMaintenance = ReturnType<typeof worldMaintenances>[number];

/** What people wrote about one disturbance. */
export interface WorldReport extends Omit<PlannedReport, 'impact' | 'updates'> {
  readonly impact: 'degraded_performance' | 'partial_outage' | 'major_outage';
  /** Oldest first; the last one says how it stands. */
  readonly updates: readonly [WorldUpdate, ...WorldUpdate[]];
}

type PlannedReport = (typeof acme.reports)[number];

interface WorldUpdate extends Pick<PlannedReport['updates'][number], 'id' | 'message'> {
  readonly status: 'investigating' | 'identified' | 'monitoring' | 'resolved';
  readonly at: EpochMs;
}

export type World = ReturnType<typeof createWorld>;

/** Services beyond the named ones for each extra outage of the past. */
const SERVICES_PER_EXTRA_OUTAGE = 8;
const DEGRADED_SLOWER_BY = 4;
/** Which of two disturbances at once shows. */
const SEVERITY: Readonly<Record<ServiceStatus, number>> = { up: 0, degraded: 1, pending: 2, down: 3, paused: 4 };

/** Makes a world. Nothing runs in it: it is asked how it is at an instant, and the same instant gives the same answer. */
export function createWorld(options: WorldOptions) {
  const { seed, startedAt } = options;
  const services = createServices(seed, options.services ?? SERVICES_DEFAULT, startedAt);
  const disturbancesOf = createCourse(options, services);
  const stateOf = (service: Service, at: EpochMs) => stateFrom(service, disturbancesOf(service, at), at);
  return {
    /** By id. */
    services,
    pages: createPages(services),
    /** By id; past, running and ahead. */
    maintenances: worldMaintenances(startedAt),
    /** By id, with the updates of the future. */
    reports: writeReports(startedAt),
    /** One service at one instant. */
    stateOf,
    /** Outages up to an instant, newest first; of one service, or of all. */
    incidentsAt: (at: EpochMs, one?: Service): readonly WorldIncident[] =>
      (one === undefined ? services : [one])
        .flatMap((service) => incidentsFrom(service, disturbancesOf(service, at), at))
        .sort((a, b) => b.startedAt - a.startedAt || b.id - a.id),
    /** Checks of a service in `[from, to)`. */
    checksOf: (service: Service, from: EpochMs, to: EpochMs) => countChecks(disturbancesOf(service, to), from, to),
    /** What the check at `at` measured, in milliseconds; null when it got no answer. */
    responseTimeAt: (service: Service, at: EpochMs) => responseTime(seed, stateOf(service, at), at),
    /** The mean of one check an hour in `[from, to)`; null when none got an answer. */
    responseTimeBetween: (service: Service, from: EpochMs, to: EpochMs) => {
      const disturbances = disturbancesOf(service, to);
      return mean(wholeHours(from, to).map((at) => responseTime(seed, stateFrom(service, disturbances, at), at)));
    },
  };
}

/** What happens to one service up to an instant: its past, its own course since, and what `adjust` makes of it; oldest first. */
function createCourse(
  { seed, startedAt, extraOutages, adjust = (_, natural) => natural }: WorldOptions,
  services: readonly Service[],
): (service: Service, at: EpochMs) => readonly Disturbance[] {
  const beyondNamed = Math.max(0, services.length - SERVICES_DEFAULT);
  const extra = extraOutages ?? Math.floor(beyondNamed / SERVICES_PER_EXTRA_OUTAGE);
  const past = pastDisturbances(seed, startedAt, services, extra);
  const pastByService = Map.groupBy(past, ({ serviceId }) => serviceId);
  const live = createLive(seed, startedAt, services, past);
  return (service, at) => {
    const since = service.id <= LIVELY_SERVICES ? live(at).filter(({ serviceId }) => serviceId === service.id) : [];
    return adjust(service, [...(pastByService.get(service.id) ?? []), ...since])
      .filter(({ from }) => from <= at)
      .sort((a, b) => a.from - b.from);
  };
}

/** `since`: the service's creation when it was always up. */
function stateFrom(service: Service, disturbances: readonly Disturbance[], at: EpochMs) {
  let state = { service, status: 'up' as ServiceStatus, since: service.createdAt };
  let upSince: EpochMs = service.createdAt;
  for (const { from, to, status } of disturbances) {
    if (from > at) break;
    if (to !== null && to <= at) upSince = toEpochMs(Math.max(upSince, to));
    else if (SEVERITY[status] > SEVERITY[state.status]) state = { service, status, since: from };
  }
  return state.status === 'up' ? { ...state, since: upSince } : state;
}

function incidentsFrom(service: Service, disturbances: readonly Disturbance[], at: EpochMs) {
  return disturbances.flatMap(({ incidentId, from, to, title, description }) => {
    if (incidentId === null) return [];
    // Null while open.
    const endedAt = to !== null && to <= at ? to : null;
    return [{ id: incidentId, service, startedAt: from, endedAt, title, description }];
  });
}

function responseTime(seed: number, { service, status }: ServiceState, at: EpochMs): number | null {
  if (status === 'down' || status === 'paused' || status === 'pending') return null;
  const slower = status === 'degraded' ? DEGRADED_SLOWER_BY : 1;
  return Math.round(service.responseTimeMs * slower * (0.85 + 0.3 * noise(seed, 'check', service.id, at)));
}

function wholeHours(from: EpochMs, to: EpochMs): readonly EpochMs[] {
  const first = Math.ceil(from / HOUR_MS) * HOUR_MS;
  return Array.from({ length: Math.max(0, Math.ceil((to - first) / HOUR_MS)) }, (_, hour) =>
    toEpochMs(first + hour * HOUR_MS),
  );
}

function mean(measured: readonly (number | null)[]): number | null {
  const answered = measured.filter((one) => one !== null);
  return answered.length === 0 ? null : answered.reduce((sum, one) => sum + one, 0) / answered.length;
}

// What people wrote: maintenance windows and reports about disturbances.

/** Maintenance windows by id: two past (the first overlaps an outage), one running, one ahead. */
function worldMaintenances(startedAt: EpochMs) {
  return acme.maintenances.map(({ fromMinute, toMinute, ...about }) => ({
    ...about,
    from: toEpochMs(startedAt + fromMinute * MINUTE_MS),
    to: toEpochMs(startedAt + toMinute * MINUTE_MS),
  }));
}

/** What people wrote, oldest first by id, with updates of the future. */
function writeReports(startedAt: EpochMs): readonly WorldReport[] {
  const at = (minute: number): EpochMs => toEpochMs(startedAt + minute * MINUTE_MS);
  return acme.reports.map((report) => ({
    ...report,
    updates: report.updates.map(({ minute, ...update }) => ({ ...update, at: at(minute) })),
  })) as unknown as readonly WorldReport[];
}
