/** A time line cut into calendar days: how long each state lasted, and the one colour a day gets. */

import { PROVENANCES, type Provenance, type TimelineSpan } from './span.ts';
import type { State } from './state.ts';
import { type Day, type EpochMs, earlier, type Interval, intervalOfDay, MINUTE_MS } from './time.ts';
import { cutTimeline } from './timeline.ts';
import { type MsByState, msByStateIn } from './uptime.ts';

/** A day is green or blue only if at least this share of its elapsed part was heard from. */
export const MIN_HEARD_RATIO = 0.5;

/** Trouble up to this long does not colour a day: one failed check, at the usual interval of a minute. */
export const DEFAULT_BLIP_FLOOR_MS = MINUTE_MS;

export interface DayOptions {
  readonly now: EpochMs;
  /** Trouble up to this long in a day does not colour it; 0: all of it does. */
  readonly blipFloorMs?: number;
}

export interface DayCell {
  readonly day: Day;
  /** The whole day in its zone, also where it is not over. */
  readonly interval: Interval;
  /** The part before now; 0 for a day to come. */
  readonly elapsedMs: number;
  /** Milliseconds of the elapsed part in each state; they add up to it. */
  readonly ms: MsByState;
  /** Share of the elapsed part with a known state, 0 to 1; 0 for a day to come. */
  readonly coverageRatio: number;
  /** The colour. `unknown` is hatched. */
  readonly state: State;
  /** There was an outage, too short to show in the colour. */
  readonly hadBlip: boolean;
  /** Where its known time comes from, in the order of `PROVENANCES`. */
  readonly provenances: readonly Provenance[];
}

/** One cell for each of `days`, in their order, cut in the IANA zone `zone`; today ends at `options.now`. */
export function dayCells(
  timeline: readonly TimelineSpan[],
  days: readonly Day[],
  { zone, ...options }: DayOptions & { readonly zone: string },
): DayCell[] {
  return days.map((day) => dayCell(timeline, { day, interval: intervalOfDay(day, zone) }, options));
}

function dayCell(
  timeline: readonly TimelineSpan[],
  { day, interval }: Pick<DayCell, 'day' | 'interval'>,
  { now, blipFloorMs = DEFAULT_BLIP_FLOOR_MS }: DayOptions,
): DayCell {
  const elapsed = { from: interval.from, to: earlier(interval.to, now) };
  const elapsedMs = Math.max(0, elapsed.to - elapsed.from);
  const ms = msByStateIn(timeline, elapsed);
  const state = stateOfDay(ms, elapsedMs, blipFloorMs);
  return {
    day,
    interval,
    elapsedMs,
    ms,
    coverageRatio: elapsedMs > 0 ? (elapsedMs - ms.unknown) / elapsedMs : 0,
    state,
    hadBlip: ms.major_outage + ms.partial_outage > 0 && state !== 'major_outage' && state !== 'partial_outage',
    provenances: provenancesOf(timeline, elapsed),
  };
}

function provenancesOf(timeline: readonly TimelineSpan[], window: Interval): Provenance[] {
  const known = cutTimeline(timeline, window).filter(({ state }) => state !== 'unknown');
  return PROVENANCES.filter((provenance) => known.some((piece) => piece.provenance === provenance));
}

/**
 * The colour of a day from the time in each state.
 *
 * 1. The worst of major outage, partial outage and degraded that lasted longer than the blip floor, where time in a
 *    worse one counts for the milder too: 40 s of one and 40 s of the other are 80 s of the milder. The floor is never
 *    more than half of the time heard, so that what is nearly all we know of a day is not called a blip.
 * 2. Else, if less than `MIN_HEARD_RATIO` of the elapsed part was heard: `paused` or `unknown`, whichever was longer.
 * 3. Else `maintenance` if it lasted longer than the floor, else `operational`.
 */
function stateOfDay(ms: MsByState, elapsedMs: number, blipFloorMs: number): State {
  const heardMs = elapsedMs - ms.unknown - ms.paused;
  const floorMs = Math.min(blipFloorMs, heardMs / 2);
  let troubleMs = 0;
  for (const state of ['major_outage', 'partial_outage', 'degraded'] as const) {
    troubleMs += ms[state];
    if (troubleMs > floorMs) return state;
  }
  if (heardMs === 0 || heardMs < elapsedMs * MIN_HEARD_RATIO) return ms.paused > ms.unknown ? 'paused' : 'unknown';
  return ms.maintenance > floorMs ? 'maintenance' : 'operational';
}
