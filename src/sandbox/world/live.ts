/** What happens after the start, by itself. */

import { type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';
import { noise, noiseBetween } from './noise.ts';
import type { Disturbance } from './past.ts';
import { LIVELY_SERVICES, type Service } from './services.ts';

/** How often something happens while a visitor of the first run may be watching: for two hours. */
const BUSY_CYCLE_MS = 5 * MINUTE_MS;
const BUSY_CYCLES = 24;
/** And later, so that a sandbox left running for weeks does not drown in incidents. */
const QUIET_CYCLE_MS = 30 * MINUTE_MS;
/** What happens after the start: one mishap in every cycle, around the lively services, failures and slowness in turn. */
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
