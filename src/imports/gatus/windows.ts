/** A maintenance of Gatus: a time of the day and how long it lasts, on some days of the week or on all. */

import { z } from 'zod';
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs, toIso } from '../../model/time.ts';
import { check, faultText } from '../../schema/issue-words.ts';
import { TimezoneSchema } from '../../schema/scalars.ts';

const WEEKDAYS: Readonly<Record<string, string>> = {
  Sunday: 'SU',
  Monday: 'MO',
  Tuesday: 'TU',
  Wednesday: 'WE',
  Thursday: 'TH',
  Friday: 'FR',
  Saturday: 'SA',
};

const WindowSchema = z.object({
  enabled: z.boolean().nullish(),
  start: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
  duration: z.string(),
  timezone: TimezoneSchema.nullish(),
  every: z.array(z.enum(Object.keys(WEEKDAYS) as [string, ...string[]])).nullish(),
});

const UNITS_MS: Readonly<Record<string, number>> = { h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };

interface RepeatedWindow {
  readonly starts: string;
  readonly ends: string;
  readonly repeat: string;
  readonly timezone: string;
}

/** The first window of this year and its rule; null: it is switched off; a text: why it cannot be read. */
export function repeatedWindow(value: unknown, now: EpochMs): RepeatedWindow | string | null {
  if ((value as { enabled?: unknown } | null)?.enabled === false) return null;
  const parsed = check(WindowSchema, value);
  if (!parsed.success) return faultText(parsed.faults[0]);
  const { start, duration, every } = parsed.data;
  const timezone = parsed.data.timezone ?? 'UTC';
  const lasts = lengthOf(duration);
  if (lasts === null)
    return `duration: expected a duration such as 1h30m, got ${JSON.stringify(duration.slice(0, 40))}`;
  const year = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).year;
  const first = Temporal.PlainDateTime.from(`${year}-01-01T${start}`).toZonedDateTime(timezone);
  const from = toEpochMs(first.epochMilliseconds);
  const days = (every ?? []).map((day) => WEEKDAYS[day]);
  return {
    starts: toIso(from),
    ends: toIso(toEpochMs(from + lasts)),
    repeat: days.length === 0 ? 'FREQ=DAILY' : `FREQ=WEEKLY;BYDAY=${[...new Set(days)].join(',')}`,
    timezone,
  };
}

/** `1h30m` as Go reads it, in ms; null: it is none, or more than a day. */
function lengthOf(text: string): number | null {
  if (!/^(?:\d{1,6}(?:\.\d{1,3})?[hms])+$/.test(text)) return null;
  const ms = [...text.matchAll(/(\d+(?:\.\d+)?)([hms])/g)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS_MS[unit] ?? 0),
    0,
  );
  return ms > 0 && ms <= 24 * HOUR_MS ? ms : null;
}
