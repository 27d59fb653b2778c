/** What happens to the services of the world: ninety days of past as a script, mishaps after the start, and checks counted. */

import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';
import acme from './acme.json' with { type: 'json' };
import {
  LIVELY_SERVICES,
  noise,
  noiseBetween,
  PAUSED_SERVICE_KEY,
  type Service,
  type ServiceStatus,
} from './services.ts';

/** A stretch in which a service was not well. */
export interface Disturbance {
  /** Only of outages (`down`): the number of its incident. */
  readonly incidentId: number | null;
  readonly serviceId: number;
  readonly status: Exclude<ServiceStatus, 'up'>;
  readonly from: EpochMs;
  /** Null: open end. */
  readonly to: EpochMs | null;
  readonly title: string;
  readonly description: string | null;
}

const PAST_DAYS = 90;

/**
 * Every disturbance that began before the world did, oldest first; outages are numbered from 1 in that order.
 *
 * @param extra  outages beside the scripted ones
 */
export function pastDisturbances(
  seed: number,
  startedAt: EpochMs,
  services: readonly Service[],
  extra: number,
): readonly Disturbance[] {
  const byKey = new Map(services.map((service) => [service.key, service]));
  const scripted = acme.disturbances.flatMap((plan) => {
    const service = byKey.get(plan.service);
    return service === undefined ? [] : [fromPlan(plan, service, startedAt)];
  });
  const sorted = [...scripted, ...extraOutages(seed, startedAt, services, extra)].sort(
    (a, b) => a.from - b.from || a.serviceId - b.serviceId,
  );
  let incidentId = 0;
  const numbered = sorted.map((one) => (one.status === 'down' ? { ...one, incidentId: ++incidentId } : one));
  const paused = byKey.get(PAUSED_SERVICE_KEY);
  return paused === undefined ? numbered : [pausedForGood(paused, startedAt), ...numbered];
}

function fromPlan(plan: (typeof acme.disturbances)[number], service: Service, startedAt: EpochMs): Disturbance {
  const from = toEpochMs(startedAt - plan.minutesBefore * MINUTE_MS);
  return {
    incidentId: null,
    serviceId: service.id,
    status: plan.status as 'down' | 'degraded',
    from,
    to: toEpochMs(from + plan.minutes * MINUTE_MS),
    title: plan.title,
    description: plan.description ?? null,
  };
}

function pausedForGood(service: Service, startedAt: EpochMs): Disturbance {
  const from = toEpochMs(startedAt - 20 * DAY_MS);
  const about = { title: `${service.name} is paused`, description: null };
  return { incidentId: null, serviceId: service.id, status: 'paused', from, to: null, ...about };
}

/** One in each of as many equal slots of the ninety days, so that a service never has two at once. */
function extraOutages(seed: number, startedAt: EpochMs, services: readonly Service[], count: number): Disturbance[] {
  const slotMs = ((PAST_DAYS - 1) * DAY_MS) / Math.max(count, 1);
  return Array.from({ length: count }, (_, slot) => {
    const serviceId = 1 + noiseBetween(0, services.length, noise(seed, 'extra service', slot));
    const lastsMs = Math.min(noiseBetween(2, 60, noise(seed, 'extra length', slot)) * MINUTE_MS, slotMs / 2);
    const from = toEpochMs(startedAt - PAST_DAYS * DAY_MS + slot * slotMs + noise(seed, 'extra start', slot) * lastsMs);
    const title = `${services[serviceId - 1]?.name ?? 'Service'} is down`;
    const to = toEpochMs(from + lastsMs);
    return { incidentId: null, serviceId, status: 'down', from, to, title, description: null };
  });
}

/** How often something happens while a visitor of the first run may be watching: for two hours. */
const BUSY_CYCLE_MS = 5 * MINUTE_MS;
const BUSY_CYCLES = 24;
/** And later, so that a sandbox left running for weeks does not drown in incidents. */
const QUIET_CYCLE_MS = HOUR_MS;
/** What happens after the start: one outage in every cycle, of the lively services in turn. */
export function createLive(
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
      const startsMs = cycleStartMs(cycle) + noiseBetween(45, 100, noise(seed, 'live start', cycle)) * SECOND_MS;
      const lastsMs = noiseBetween(90, 180, noise(seed, 'live length', cycle)) * SECOND_MS;
      incidentId += 1;
      known.push({
        incidentId,
        serviceId: service.id,
        status: 'down',
        from: toEpochMs(startedAt + startsMs),
        to: toEpochMs(startedAt + startsMs + lastsMs),
        title: `${service.name} is down`,
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

/** Checks run at every whole minute, except while paused. Counts the minutes by the worst status of each; disturbances may overlap. */
export function countChecks(disturbances: readonly Disturbance[], from: EpochMs, to: EpochMs) {
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
