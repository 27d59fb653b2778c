/** What checks mean, and what their flips tell of the past. */

import type { MonitorDetail, MonitorId, MonitorObservation, Problem } from '../../../model/observation.ts';
import type { Span } from '../../../model/span.ts';
import type { EpochMs } from '../../../model/time.ts';
import { projectMonitorLists, unknownMonitor } from '../items.ts';
import { type StateWords, stateFromWord } from '../wire.ts';
import { type Check, CheckSchema, type Flips, ID_FIELD } from './schema.ts';

/** In grace: it is late, and not given up yet. */
export const STATE_WORDS: StateWords = {
  up: 'operational',
  grace: 'degraded',
  down: 'major_outage',
  paused: 'paused',
  new: 'unknown',
};

/** Checks as monitors, sorted by id. Never throws. */
export function projectChecks(
  items: readonly unknown[],
  upstreamId: string,
): { monitors: MonitorObservation[]; problems: Problem[] } {
  return projectMonitorLists<Check>([
    {
      place: 'checks',
      items,
      schema: CheckSchema,
      idField: ID_FIELD,
      project: ({ unique_key: id, name, slug, desc, status }, place) => {
        const { state, problems } = stateFromWord(STATE_WORDS, status, `${place}.status`);
        const words = [name, slug, 'Unnamed check'].find((one) => one != null && one !== '') ?? id;
        const monitor = {
          ...unknownMonitor(upstreamId, id, 'check'),
          name: words.slice(0, 500),
          description: desc,
          state,
        };
        return { monitor, problems };
      },
      placeholder: (externalId) => unknownMonitor(upstreamId, externalId, 'check'),
    },
  ]);
}

/** From the first flip on; a flip to down is one at the end of the time that a check had. */
export function projectFlips(id: MonitorId, flips: Flips, now: EpochMs): MonitorDetail {
  const inOrder = flips.filter(({ timestamp }) => timestamp < now).toSorted((a, b) => a.timestamp - b.timestamp);
  const reportedSpans = inOrder.flatMap(({ timestamp, up }, index): Span[] => {
    const to = inOrder[index + 1]?.timestamp ?? now;
    return to > timestamp ? [{ state: Number(up) === 1 ? 'operational' : 'major_outage', from: timestamp, to }] : [];
  });
  return { id, fetchedAt: now, uptime: null, responseTimes: [], reportedSpans, reportedDays: [] };
}
