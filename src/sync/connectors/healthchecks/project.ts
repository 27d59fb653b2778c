/** What checks mean, and what their flips tell of the past. Addresses to ping are not named here, so they are never kept. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { MonitorDetail, MonitorId, MonitorObservation, Problem } from '../../../model/observation.ts';
import type { Span } from '../../../model/span.ts';
import type { EpochMs } from '../../../model/time.ts';
import { projectMonitorLists, unknownMonitor } from '../items.ts';
import { IdSchema, InstantSchema, type StateWords, stateFromWord, TextSchema } from '../wire.ts';

/** Names a check in its list; not the part of its address to ping. */
export const ID_FIELD = 'unique_key';

export const ChecksSchema = z.object({
  checks: z.array(z.unknown()).transform((items) => items.map(withUniqueKey)),
});

const CheckSchema = z.object({
  unique_key: IdSchema,
  name: z.string(),
  slug: z.string().nullish().catch(null),
  desc: TextSchema,
  status: z.unknown().optional(),
});
type Check = z.output<typeof CheckSchema>;

export const FlipsSchema = z.array(
  z.object({ timestamp: InstantSchema, up: z.union([z.literal([0, 1]), z.enum(['0', '1'])]) }),
);
export type Flips = z.output<typeof FlipsSchema>;

/**
 * A key that may write is told the id that checks are pinged by, and not the one that a read-only key is told. That is made
 * of it there, and here, so that the names of monitors do not change with the key and let nobody ping.
 */
function withUniqueKey(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || ID_FIELD in item || !('uuid' in item)) return item;
  const { uuid, ...rest } = item;
  const digits = typeof uuid === 'string' ? uuid.replaceAll('-', '') : '';
  if (!/^[0-9a-f]{32}$/.test(digits)) return rest;
  return { ...rest, [ID_FIELD]: createHash('sha1').update(digits.slice(0, 16)).digest('hex') };
}

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
