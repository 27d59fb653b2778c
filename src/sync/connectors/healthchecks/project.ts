/** Turns checks into monitors, and flips into their past. Ping addresses aren't in the schemas, so they are never stored. */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { MonitorDetail, MonitorObservation } from '../../../model/observation.ts';
import type { Span } from '../../../model/overlap.ts';
import type { State } from '../../../model/state.ts';
import type { EpochMs } from '../../../model/time.ts';
import { type Origin, projectMonitorLists } from '../items.ts';
import { createDetail, toSpans } from '../measurements.ts';
import { FlagSchema, IdSchema, InstantSchema, type StateWords, stateFromWord, TextSchema } from '../wire.ts';

/** The field that identifies a check; it isn't part of the ping address. */
export const ID_FIELD = 'unique_key';

export const ChecksSchema = z.object({ checks: z.array(z.unknown()).transform((items) => items.map(withUniqueKey)) });

const CheckSchema = z.object({
  unique_key: IdSchema,
  name: z.string(),
  slug: z.string().nullish().catch(null),
  desc: TextSchema,
  status: z.unknown().optional(),
});

/** The documentation shows a plain list, but the program returns an object with it; newest first, without fractions of seconds. */
export const FlipsSchema = z.preprocess(
  (answer) => (Array.isArray(answer) ? { flips: answer } : answer),
  z.object({ flips: z.array(z.object({ timestamp: InstantSchema, up: FlagSchema })) }).transform(({ flips }) => flips),
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

/** In grace: late, but not down yet. */
export const STATE_WORDS: StateWords = {
  up: 'operational',
  grace: 'degraded',
  down: 'major_outage',
  paused: 'paused',
  new: 'unknown',
};

/** Turns checks into monitors, sorted by id. Never throws. */
export function projectChecks(items: readonly unknown[], origin: Origin): MonitorObservation[] {
  const list = {
    place: 'checks',
    items,
    kind: 'check',
    schema: CheckSchema,
    idField: ID_FIELD,
    project: ({ name, slug, desc, status }: z.output<typeof CheckSchema>, place: string) => ({
      name: (name || slug || 'Unnamed check').slice(0, 500),
      description: desc,
      state: stateFromWord(STATE_WORDS, status, `${place}.status`, origin.problems),
    }),
  };
  return projectMonitorLists(origin, [list]);
}

/**
 * What flips tell from the first one on. Going down, pausing and resuming are all told as `up: 0`, so only one that stands
 * alone between two `up: 1` is an outage; of several in a row nobody knows which is which. Of the newest, what the check is
 * now says what it meant. A first `up: 0` may be any of them.
 */
export function projectFlips({ id, state: stateNow }: MonitorObservation, flips: Flips, now: EpochMs): MonitorDetail {
  const isOldestFirst = (flips[0]?.timestamp ?? 0) < (flips.at(-1)?.timestamp ?? 0);
  // Sorting is stable, so flips within a second keep their order.
  const ordered = (isOldestFirst ? flips : flips.toReversed())
    .filter(({ timestamp }) => timestamp < now)
    .toSorted((a, b) => a.timestamp - b.timestamp);
  const stateFrom = (index: number): State => {
    if (ordered[index]?.up === true) return 'operational';
    const next = ordered[index + 1];
    if (next === undefined) return stateNow === 'major_outage' || stateNow === 'paused' ? stateNow : 'unknown';
    return next.up && ordered[index - 1]?.up === true ? 'major_outage' : 'unknown';
  };
  const pieces = ordered.map(
    ({ timestamp: from }, index): Span => ({ state: stateFrom(index), from, to: ordered[index + 1]?.timestamp ?? now }),
  );
  return createDetail(id, now, { reportedSpans: toSpans(pieces) });
}
