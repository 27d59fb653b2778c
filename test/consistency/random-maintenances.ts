/** Maintenance as it is announced: once or again and again, moved, written about, called off. */

import type { Maintenance, MonitorId } from '../../src/model/observation.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { integerBelow, pickOne } from '../unit/model/random-history.ts';
import { chance, DAY, type Frame, HOUR, MINUTE, type Told, tickIn } from './random-frame.ts';
import { TICK_MS, type WorldUpstream } from './world.ts';

const NEWS = ['scheduled', 'in_progress', 'verifying', 'completed', null] as const;

export function randomMaintenances(frame: Frame, upstream: WorldUpstream): Told<Maintenance>[] {
  const { random } = frame;
  // Now and then so many that lists have no room for them.
  const count = chance(random, 0.03) ? 70 : chance(random, 0.5) ? 0 : 1 + integerBelow(random, 2);
  return Array.from({ length: count }, (_, index) => randomMaintenance(frame, upstream, `${upstream.id}/p${index}`));
}

function randomMaintenance(frame: Frame, { monitors }: WorldUpstream, id: string): Told<Maintenance> {
  const { random, from, to, isLong, definitionId, slug, components } = frame;
  const repeats = chance(random, 0.35);
  const startsAt = tickIn(random, from - HOUR, to + (isLong ? 5 * DAY : 2 * HOUR));
  const lengthMs = TICK_MS + tickIn(random, 0, isLong ? 5 * HOUR : 40 * MINUTE);
  const movedAt = chance(random, 0.2) ? tickIn(random, from, to) : Infinity;
  const movedBy = tickIn(random, 0, 2 * HOUR);
  const named = components.filter(() => chance(random, 0.4)).map((one) => `${definitionId}/${one.id}`);
  const about = {
    monitors: chance(random, 0.3) && monitors.length > 0 ? [pickOne(random, monitors) as MonitorId] : [],
    components: named,
    pages: chance(random, 0.6) ? null : [chance(random, 0.5) ? definitionId : slug],
  };
  const updates = Array.from({ length: chance(random, 0.4) ? 1 + integerBelow(random, 3) : 0 }, () =>
    tickIn(random, startsAt - HOUR, startsAt + lengthMs + HOUR),
  )
    .sort((a, b) => a - b)
    .map((at, index) => ({ id: `n${index}`, at: toEpochMs(at), status: pickOne(random, NEWS), body: `News ${index}` }));
  const stepMs = isLong ? DAY : 2 * HOUR;
  const offsets = Array.from({ length: 8 }, (_, index) => (index - 3) * stepMs);
  return {
    from: chance(random, 0.5) ? from : tickIn(random, from, to),
    deletedAt: chance(random, 0.2) ? tickIn(random, from, to + HOUR) : null,
    hiddenAt: chance(random, 0.1) ? tickIn(random, from, to) : null,
    at: (instant) => {
      const moved = instant >= movedAt ? movedBy : 0;
      const windows = (repeats ? offsets : [0]).map((offset) => ({
        from: toEpochMs(startsAt + moved + offset),
        to: toEpochMs(startsAt + moved + offset + lengthMs),
      }));
      const current = windows.find((window) => window.to > instant) ??
        windows.at(-1) ?? { from: startsAt, to: startsAt };
      return {
        id,
        title: `Planned ${id}`,
        startsAt: toEpochMs(current.from),
        endsAt: toEpochMs(current.to),
        ...about,
        updates: updates.filter(({ at }) => at <= instant),
        body: 'New **disks**.',
        ...(repeats ? { repeats: { rule: 'FREQ=DAILY', every: 'day', interval: 1, weekdays: [], windows } } : {}),
      };
    },
  };
}
