/** When a maintenance of Uptime Kuma is: one window, or the first of many and the rule by which it comes back. */

import { z } from 'zod';
import { isTimezone } from '../../model/scalars.ts';
import { DAY_MS, type EpochMs, MINUTE_MS, toEpochMs, toIso } from '../../model/time.ts';
import { FlagSchema, IdSchema, NameSchema, parseInstant, TextSchema } from '../../sync/connectors/wire.ts';

const WhenSchema = z.string().nullish().catch(null);

export const MaintenanceSchema = z.object({
  id: IdSchema,
  title: NameSchema,
  description: TextSchema,
  strategy: z.string(),
  active: FlagSchema.nullish().catch(null),
  /** IANA, or a word for that of the server. */
  timezone: z.string().nullish().catch(null),
  /** Naive, in that zone. */
  startDate: WhenSchema,
  endDate: WhenSchema,
  /** `02:00`, `02:00:00`. */
  startTime: WhenSchema,
  endTime: WhenSchema,
  intervalDay: z.number().nullish().catch(null),
  weekdays: z.array(z.number()).catch([]),
  daysOfMonth: z.array(z.union([z.number(), z.string()])).catch([]),
  monitors: z.array(IdSchema).nullish().catch(null),
});
type KumaMaintenance = z.output<typeof MaintenanceSchema>;

interface KumaWindows {
  readonly post: {
    readonly starts: string;
    readonly ends: string;
    readonly repeat?: string;
    readonly timezone?: string;
  };
  /** What is not as it was. */
  readonly told: readonly string[];
}

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** The windows, or why there are none. */
export function listWindows(
  maintenance: KumaMaintenance,
  { zone, now }: { readonly zone: string; readonly now: EpochMs },
): KumaWindows | string {
  const { strategy, timezone, startDate, endDate } = maintenance;
  const isServers = timezone == null || !isTimezone(timezone);
  const clock = isServers ? zone : timezone;
  const told = isServers
    ? [`its times are in the server’s time zone; ${zone} is used. Set another with --timezone`]
    : [];
  const from = parseInstant(startDate ?? '', clock);
  const to = parseInstant(endDate ?? '', clock);
  if (strategy === 'single') {
    if (from === null || to === null || to <= from) return 'its window is unreadable, or ends before it begins';
    return { post: { starts: toIso(from), ends: toIso(to) }, told };
  }
  if (strategy === 'manual') return 'it was switched on by hand and has no start or end; schedule one in Pharos';
  if (strategy === 'cron')
    return 'it repeats by a cron expression; enter it as a rule with `pharos maintenance new --repeat`';
  const rule = toRule(maintenance);
  if (rule === null) return `it repeats in an unsupported way: ${strategy}`;
  const first = firstDay(maintenance, { clock, from: from ?? now });
  if (first === null) return 'its times of day are unreadable';
  const last = to === null ? '' : `;UNTIL=${wallTime(to, clock)}`;
  const lost = maintenance.daysOfMonth.filter((day) => typeof day === 'string' && day !== 'lastDay1');
  return {
    post: { starts: toIso(first.from), ends: toIso(first.to), repeat: rule + last, timezone: clock },
    told: [
      ...told,
      ...(from === null ? [`it has no first date; ${toIso(first.from)} is used`] : []),
      ...(lost.length === 0 ? [] : [`its days ${lost.join(', ')} never took effect at the source, but do in Pharos`]),
    ],
  };
}

function toRule({ strategy, intervalDay, weekdays, daysOfMonth }: KumaMaintenance): string | null {
  if (strategy === 'recurring-interval') {
    const days = Math.max(1, Math.trunc(intervalDay ?? 1));
    return days === 1 ? 'FREQ=DAILY' : `FREQ=DAILY;INTERVAL=${days}`;
  }
  if (strategy === 'recurring-weekday') {
    const days = [...new Set(weekdays.map((day) => WEEKDAYS[day % 7]))].filter((day) => day !== undefined);
    return days.length === 0 ? null : `FREQ=WEEKLY;BYDAY=${days.join(',')}`;
  }
  if (strategy !== 'recurring-day-of-month') return null;
  const days = daysOfMonth.map((day) =>
    typeof day === 'number' ? day : -Number(/^lastDay([1-4])$/.exec(day)?.[1] ?? Number.NaN),
  );
  const known = days.filter((day) => Number.isInteger(day) && day !== 0 && day >= -4 && day <= 31);
  return known.length === 0 ? null : `FREQ=MONTHLY;BYMONTHDAY=${[...new Set(known)].join(',')}`;
}

/** The window of the day it is in force from. What ends before it begins ends on the next day. */
function firstDay(
  { startTime, endTime }: KumaMaintenance,
  { clock, from }: { readonly clock: string; readonly from: EpochMs },
): { readonly from: EpochMs; readonly to: EpochMs } | null {
  const [begin, end] = [startTime, endTime].map(parseMinutes);
  if (begin == null || end == null) return null;
  const day = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(clock).toPlainDate();
  const time = Temporal.PlainTime.from({ hour: Math.trunc(begin / 60), minute: begin % 60 });
  const starts = toEpochMs(day.toZonedDateTime({ timeZone: clock, plainTime: time }).epochMilliseconds);
  const lasts = (end - begin) * MINUTE_MS;
  return { from: starts, to: toEpochMs(starts + (lasts > 0 ? lasts : lasts + DAY_MS)) };
}

function parseMinutes(text: string | null | undefined): number | null {
  const [, hours, minutes] = /^(\d{1,2}):(\d\d)(?::\d\d(?:\.\d+)?)?$/.exec(text ?? '') ?? [];
  if (hours === undefined || minutes === undefined || Number(hours) > 23 || Number(minutes) > 59) return null;
  return Number(hours) * 60 + Number(minutes);
}

/** As the rules of posts write an end: in the clock that they keep to. */
function wallTime(at: EpochMs, clock: string): string {
  const wall = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(clock).toPlainDateTime();
  return `${wall.toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '')}Z`;
}
