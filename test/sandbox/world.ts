/** The world of the sandbox, in which a test can put a service into a status. */

import { StatusError } from '../../src/errors.ts';
import type { EpochMs } from '../../src/model/time.ts';
import type { Disturbance } from '../../src/sandbox/course.ts';
import type { Service, ServiceStatus } from '../../src/sandbox/services.ts';
import {
  createWorld,
  type World as PlainWorld,
  type ServiceState,
  type WorldIncident,
  type WorldMaintenance,
  type WorldOptions,
  type WorldReport,
} from '../../src/sandbox/world.ts';
import { createForces } from './forces.ts';

interface WorldState {
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

export interface World extends PlainWorld {
  readonly seed: number;
  readonly startedAt: EpochMs;
  /** Everything at one instant; the same instant gives the same answer. */
  at(now: EpochMs): WorldState;
  /** By id; only updates written up to `now`. */
  reportsAt(now: EpochMs): readonly WorldReport[];
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

/**
 * @param options `now` says when `force` acts; default: always `startedAt`. With `isCalm`, nothing is open at the start and
 * nothing happens by itself afterwards
 */
export function createTestWorld({
  now,
  isCalm = false,
  ...options
}: Omit<WorldOptions, 'adjust'> & { readonly now?: () => EpochMs; readonly isCalm?: boolean }): World {
  const { startedAt } = options;
  const forces = createForces();
  const isPast = ({ from, to }: Disturbance): boolean => from < startedAt && (to === null || to <= startedAt);
  const { maintenances, reports, ...world } = createWorld({
    ...options,
    adjust: (service, natural) => forces.applyTo(service, isCalm ? natural.filter(isPast) : natural),
  });
  const shown = {
    maintenances: maintenances.filter(({ from, to }) => !isCalm || from > startedAt || to < startedAt),
    reports: reports.filter(({ updates }) => !isCalm || updates.every(({ at }) => at < startedAt)),
  };
  const reportsAt = (at: EpochMs) => reportsUntil(shown.reports, at);
  const find = (monitorKey: string): Service | undefined => {
    const number = /^[^/]+\/(\d+)$/.exec(monitorKey)?.[1];
    return number === undefined
      ? world.services.find(({ key }) => key === monitorKey)
      : world.services[Number(number) - 1];
  };
  return {
    ...world,
    ...shown,
    seed: options.seed,
    startedAt: options.startedAt,
    reportsAt,
    at: (at) => ({
      now: at,
      services: world.services.map((service) => world.stateOf(service, at)),
      incidents: world.incidentsAt(at),
      reports: reportsAt(at),
      maintenances: shown.maintenances,
    }),
    find,
    force(monitorKey, status) {
      const service = find(monitorKey);
      if (service === undefined) {
        throw new StatusError({ code: 'NOT_FOUND', message: `There is no service "${monitorKey}" in this world.` });
      }
      forces.set(service, status, now?.() ?? options.startedAt);
    },
  };
}

/** Reports as they stood at an instant: without what was written later. */
function reportsUntil(reports: readonly WorldReport[], at: EpochMs): readonly WorldReport[] {
  return reports.flatMap((report) => {
    const [first, ...later] = report.updates.filter((update) => update.at <= at);
    return first === undefined ? [] : [{ ...report, updates: [first, ...later] as const }];
  });
}
