/** What a test forces upon services: stretches that overrule their own course. */

import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import type { Disturbance } from '../../src/sandbox/course.ts';
import type { Service, ServiceStatus } from '../../src/sandbox/services.ts';

interface Stretch {
  readonly service: Service;
  readonly status: ServiceStatus;
  readonly from: EpochMs;
  /** Null: still. */
  readonly to: EpochMs | null;
  readonly incidentId: number;
}

export interface Forces {
  /** Ends the open stretch of a service and begins another; null only ends. The same status again changes nothing. */
  set(service: Service, status: ServiceStatus | null, at: EpochMs): void;
  /** The natural disturbances of a service with its forced stretches put in. */
  applyTo(service: Service, natural: readonly Disturbance[]): readonly Disturbance[];
}

/** Incidents of forced outages are numbered from here, so that they never meet the others. */
const INCIDENT_ID_MIN = 1_000_001;

export function createForces(): Forces {
  const stretches = new Map<number, readonly Stretch[]>();
  let incidentId = INCIDENT_ID_MIN;
  return {
    set(service, status, at) {
      const mine = stretches.get(service.id) ?? [];
      const open = mine.find(({ to }) => to === null);
      if (open?.status === status) return;
      const ended = mine.map((one) => (one === open ? { ...one, to: at } : one));
      const begun = status === null ? [] : [{ service, status, from: at, to: null, incidentId }];
      if (status === 'down') incidentId += 1;
      stretches.set(service.id, [...ended, ...begun]);
    },
    applyTo(service, natural) {
      const mine = stretches.get(service.id);
      return mine === undefined ? natural : [...natural.flatMap((one) => cut(one, mine)), ...mine.flatMap(disturbance)];
    },
  };
}

/** A natural disturbance ends where a forced stretch begins, and does not happen at all inside one. */
function cut(one: Disturbance, stretches: readonly Stretch[]): Disturbance[] {
  let end = one.to ?? Number.POSITIVE_INFINITY;
  for (const { from, to } of stretches) {
    if (one.from >= from && (to === null || one.from < to)) return [];
    if (one.from < from) end = Math.min(end, from);
  }
  return [{ ...one, to: end === Number.POSITIVE_INFINITY ? null : toEpochMs(end) }];
}

/** Nothing for a stretch of health, or for one that ended at the instant it began. */
function disturbance({ service, status, from, to, incidentId }: Stretch): Disturbance[] {
  if (status === 'up' || from === to) return [];
  const title = `${service.name} is ${status}`;
  const id = status === 'down' ? incidentId : null;
  return [{ incidentId: id, serviceId: service.id, status, from, to, title, description: null }];
}
