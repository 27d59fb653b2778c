/** Instants and calendar days. No clock here: every instant comes in as an argument. */

declare const epochMs: unique symbol;
declare const day: unique symbol;

/** An instant: whole milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number & { readonly [epochMs]: true };
/** A calendar day in some time zone, `YYYY-MM-DD`. */
export type Day = string & { readonly [day]: true };

/** A half-open stretch of time, `[from, to)`. */
export interface Interval {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
/** 24 hours; a calendar day may have 23 or 25. */
export const DAY_MS = 86_400_000;

/** Brands a number of milliseconds as an instant; fractions are dropped. */
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

/** The calendar day of `at` in the IANA zone `zone`. */
export function dayOf(at: EpochMs, zone: string): Day {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate().toString() as Day;
}

/** The first instant of `day` in `zone`; not always midnight where clocks change at midnight. */
export function startOfDay(day: Day, zone: string): EpochMs {
  return toEpochMs(Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds);
}

/** The day `count` days after `day` (before it when negative). */
export function addDays(day: Day, count: number): Day {
  return Temporal.PlainDate.from(day).add({ days: count }).toString() as Day;
}

/** The stretch of one calendar day in `zone`: 23, 24 or 25 hours, or what the zone makes of it. */
export function intervalOfDay(day: Day, zone: string): Interval {
  return { from: startOfDay(day, zone), to: startOfDay(addDays(day, 1), zone) };
}

/** The `count` days that end with `last`, oldest first. */
export function daysUntil(last: Day, count: number): Day[] {
  return Array.from({ length: count }, (_, index) => addDays(last, index - count + 1));
}
