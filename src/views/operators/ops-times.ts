/** Instants as operators read them: to the second today, with the day before that. */

import type { EpochMs } from '../../model/index.ts';
import { formatIn, type TimeView } from '../text/format.ts';

const clocks = new Map<string, Intl.DateTimeFormat>();

/** `13:42:05` today, `Nov 20, 13:42` before, in the zone of the site. */
export function momentsOf(now: EpochMs, zone: string): (at: EpochMs) => TimeView {
  const format = formatIn('en', zone);
  const clock = clockOf(zone);
  return (at) => {
    const earlier = format.timeInYear(at);
    return format.isSameDay(at, now) ? { iso: earlier.iso, text: clock.format(at) } : earlier;
  };
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const parts = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZone } as const;
  return clocks.getOrInsertComputed(timeZone, () => new Intl.DateTimeFormat('en', parts));
}
