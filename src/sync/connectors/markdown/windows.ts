/** The windows of a maintenance post, and how they come back. */

import rrule from 'rrule';
import type { Recurrence } from '../../../model/observation.ts';
import { DAY_MS, type EpochMs, type Interval, toEpochMs } from '../../../model/time.ts';
import { parseInstant } from '../wire.ts';
import type { MaintenancePost } from './schema.ts';

/** Repeated windows are told this far back and ahead; the store keeps what is older. */
const WINDOWS_BEFORE_MS = 90 * DAY_MS;
const WINDOWS_AHEAD_MS = 90 * DAY_MS;
/** A daily window over the whole stretch, with some to spare. */
const WINDOWS_MAX = 250;
/** A rule may have no window in the stretch; within this it has one, or never. */
const NEXT_WITHIN_MS = 10 * 366 * DAY_MS;

/** The window, or the first of them. */
export function firstWindow(post: MaintenancePost, zone: string): Interval {
  const clock = post.timezone ?? zone;
  return { from: instantOf(post.starts, clock), to: instantOf(post.ends, clock) };
}

/** Checked when the front matter was. */
export function instantOf(text: string, zone: string): EpochMs {
  return parseInstant(text, zone) ?? toEpochMs(0);
}

/**
 * How a post repeats, around `now`: what lies in the stretch that is told, and beyond it the next window and the first
 * one after a long break. Null: its rule gives none from there on, or it has no rule.
 */
export function recurrenceOf(post: MaintenancePost, zone: string, now: EpochMs): Recurrence | null {
  const read = post.repeat === undefined ? null : readRule(post, zone);
  if (read === null) return null;
  const { rule, windowOf } = read;
  const from = toEpochMs(now - WINDOWS_BEFORE_MS);
  const until = toEpochMs(now + WINDOWS_AHEAD_MS);
  const windows = startsBetween(rule, { from, to: until }, WINDOWS_MAX)
    .map(windowOf)
    .filter((window) => window.to > from && window.from < until);
  if (windows.every(({ to }) => to <= now)) {
    const next = startsBetween(rule, { from: now, to: toEpochMs(now + NEXT_WITHIN_MS) }, 3).map(windowOf);
    windows.push(...next.filter((window) => window.from >= until).slice(0, 1));
  }
  return windows.length === 0 ? null : { rule: post.repeat ?? '', ...inWords(rule), windows };
}

/** Whether the rule of a post gives any window at all. */
export function hasAnyWindow(post: MaintenancePost, zone: string): boolean {
  const { from } = firstWindow(post, zone);
  const read = readRule(post, zone);
  return read !== null && startsBetween(read.rule, { from, to: toEpochMs(from + NEXT_WITHIN_MS) }, 1).length > 0;
}

interface ReadRule {
  readonly rule: InstanceType<typeof rrule.RRule>;
  /** A repeated window keeps to the clock of its zone: 02:00 stays 02:00 when clocks change, and lasts as long as the first. */
  readonly windowOf: (wall: Date) => Interval;
}

function readRule(post: MaintenancePost, zone: string): ReadRule | null {
  const clock = post.timezone ?? zone;
  const { from, to } = firstWindow(post, zone);
  const begins = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(clock).toPlainDateTime();
  try {
    const dtstart = new Date(`${begins.toString({ smallestUnit: 'second' })}Z`);
    const rule = new rrule.RRule({ ...rrule.RRule.parseString(post.repeat ?? ''), dtstart });
    return {
      rule,
      windowOf: (wall) => {
        const plain = Temporal.PlainDateTime.from(wall.toISOString().slice(0, 19));
        const startsAt = toEpochMs(plain.toZonedDateTime(clock).epochMilliseconds);
        return { from: startsAt, to: toEpochMs(startsAt + to - from) };
      },
    };
  } catch {
    return null;
  }
}

/**
 * Starts as wall clock times: the library counts in a clock without zones. A day of margin on both sides covers every
 * offset.
 */
function startsBetween(rule: ReadRule['rule'], { from, to }: Interval, max: number): Date[] {
  return rule.between(new Date(from - DAY_MS), new Date(to + DAY_MS), true, (_, index) => index < max);
}

/** By the number that the library gives frequencies. */
const EVERY: readonly Recurrence['every'][] = ['year', 'month', 'week', 'day'];

function inWords({ options, origOptions }: ReadRule['rule']): Pick<Recurrence, 'every' | 'interval' | 'weekdays'> {
  const every = EVERY[options.freq] ?? 'day';
  const { interval } = options;
  const named = origOptions.byweekday ?? [];
  const days = Array.isArray(named) ? named : [named];
  const weekdays = days.flatMap((day) =>
    day instanceof rrule.Weekday && day.n === undefined ? [day.weekday + 1] : [],
  );
  return { every, interval, weekdays: every === 'week' ? weekdays.toSorted((a, b) => a - b) : [] };
}
