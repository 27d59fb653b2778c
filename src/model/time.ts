/** Instants and calendar days. There is no clock here: every instant is an argument. */

import { LRUCache } from 'lru-cache';

declare const epochMs: unique symbol;
declare const day: unique symbol;

/** An instant: whole milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number & { readonly [epochMs]: true };
/** A calendar day in some time zone, `YYYY-MM-DD`. */
export type Day = string & { readonly [day]: true };

/** A half-open interval of time, `[from, to)`. */
export interface Interval {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
/** 24 hours; a calendar day may have 23 or 25. */
export const DAY_MS = 86_400_000;

/** A number of milliseconds as an instant; fractions are dropped. */
export function toEpochMs(value: number): EpochMs {
  return Math.trunc(value) as EpochMs;
}

/** The earlier of two instants. */
export function earlier(a: EpochMs, b: EpochMs): EpochMs {
  return a < b ? a : b;
}

/** The later of two instants. */
export function later(a: EpochMs, b: EpochMs): EpochMs {
  return a > b ? a : b;
}

/** The instant as ISO 8601 in UTC with milliseconds, `2026-11-21T09:13:00.000Z`. */
export function toIso(at: EpochMs): string {
  return new Date(at).toISOString();
}

/** The same where there may be no instant. */
export function toIsoOrNull(at: EpochMs | null | undefined): string | null {
  return at == null ? null : toIso(at);
}

/** The calendar day of `at` in the IANA zone `zone`. */
export function dayOf(at: EpochMs, zone: string): Day {
  return dayOfLocalMs(at + offsetAt(at, zone));
}

/** The first instant of `day` in `zone`. It isn't midnight if clocks change at midnight. */
export function startOfDay(day: Day, zone: string): EpochMs {
  return intervalOfDay(day, zone).from;
}

/** The day `count` days after `day` (before it when negative). */
export function addDays(day: Day, count: number): Day {
  return dayOfLocalMs(toLocalMs(day) + count * DAY_MS);
}

/**
 * The interval of one calendar day in `zone`: usually 23, 24 or 25 hours. Empty for a day that the zone skipped.
 * Intervals of consecutive days touch.
 */
export function intervalOfDay(day: Day, zone: string): Interval {
  const { intervals } = zoneCache(zone);
  const known = intervals.get(day);
  if (known !== undefined) return known;
  const interval = Object.freeze({ from: dayStart(day, zone), to: dayStart(addDays(day, 1), zone) });
  intervals.set(day, interval);
  return interval;
}

/** The `count` days that end with `last`, oldest first. */
export function daysUntil(last: Day, count: number): readonly Day[] {
  const key = `${last} ${count}`;
  const known = dayLists.get(key);
  if (known !== undefined) return known;
  const lastMs = toLocalMs(last);
  const days = Object.freeze(
    Array.from({ length: count }, (_, index) => dayOfLocalMs(lastMs + (index - count + 1) * DAY_MS)),
  );
  dayLists.set(key, days);
  return days;
}

function dayStart(day: Day, zone: string): EpochMs {
  return toEpochMs(Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds);
}

/** Midnight of a day as if it were in UTC. Throws a `RangeError` for invalid days, like Temporal. */
function toLocalMs(day: Day): number {
  const ms = Date.parse(day);
  return dayOfLocalMs(ms) === day ? ms : Temporal.PlainDate.from(day).toZonedDateTime('UTC').epochMilliseconds;
}

function dayOfLocalMs(localMs: number): Day {
  const iso = new Date(localMs).toISOString();
  return iso.slice(0, iso.length - 'T00:00:00.000Z'.length) as Day;
}

/*
 * A zone's rules never change while a process runs, and each query takes microseconds, so answers are cached: a page
 * needs the same ninety days once per component.
 */

/** Maximum number of cached lists: the last ninety days and the last year, for the zones of a site. */
const dayLists = new LRUCache<string, readonly Day[]>({ max: 64 });
/** Maximum number of cached days for a zone: eleven years. */
const CACHED_DAYS_MAX = 4_096;

/** A period with the same offset: half a year if clocks change. Bars need one or two of them, calendars three. */
interface Offset {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

const CACHED_OFFSETS_MAX = 8;

interface ZoneCache {
  readonly intervals: LRUCache<Day, Interval>;
  /** Periods with one offset, the most recently used first. */
  readonly offsets: Offset[];
}

/** Sites have one zone, or a few. */
const zoneCaches = new LRUCache<string, ZoneCache>({ max: 64 });

function zoneCache(zone: string): ZoneCache {
  const known = zoneCaches.get(zone);
  if (known !== undefined) return known;
  const created: ZoneCache = { intervals: new LRUCache({ max: CACHED_DAYS_MAX }), offsets: [] };
  zoneCaches.set(zone, created);
  return created;
}

/** Milliseconds by which clocks in `zone` are ahead of UTC. */
export function offsetAt(at: EpochMs, zone: string): number {
  const { offsets } = zoneCache(zone);
  const index = offsets.findIndex(({ from, to }) => at >= from && at < to);
  const offset = offsets[index] ?? findOffset(at, zone);
  if (index !== 0) {
    if (index > 0) offsets.splice(index, 1);
    else if (offsets.length === CACHED_OFFSETS_MAX) offsets.pop();
    offsets.unshift(offset);
  }
  return offset.ms;
}

function findOffset(at: EpochMs, zone: string): Offset {
  const here = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  // The previous transition is strictly before the given time. Starting a nanosecond later also finds one exactly at `at`.
  const previous = here.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  const next = here.getTimeZoneTransition('next');
  return {
    from: previous?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    to: next?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    ms: here.offsetNanoseconds / 1e6,
  };
}
