/** Checks of a service over a stretch of time, counted from its disturbances. */

import { type EpochMs, MINUTE_MS } from '../../model/time.ts';
import type { Disturbance } from './past.ts';
import type { ServiceStatus } from './services.ts';

/** Checks run at every whole minute, except while paused. */
export interface Checks {
  readonly total: number;
  readonly up: number;
  readonly degraded: number;
}

/** Counts whole minutes by the worst status of each; disturbances may overlap. */
export function countChecks(disturbances: readonly Disturbance[], from: EpochMs, to: EpochMs): Checks {
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
