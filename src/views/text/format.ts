/** Times, days and numbers in the words of one locale and one time zone. */

import { LRUCache } from 'lru-cache';
import {
  type Day,
  dayOf,
  type EpochMs,
  formatUptime,
  MINUTE_MS,
  type Recurrence,
  SECOND_MS,
  toIso,
} from '../../model/index.ts';
import { count, fill, findWords } from '../words/index.ts';
import { durationParts } from './duration.ts';

/** How a maintenance comes back, in words. */

const EVERY = { day: 'everyDay', week: 'everyWeek', month: 'everyMonth', year: 'everyYear' } as const;

/** `Repeats: every 2 weeks on Sunday`. What a rule says beyond that, the next window shows. */
export function repeatText(recurrence: Recurrence, locale: string): string {
  const words = findWords(locale);
  return `${words.repeats}: ${ruleText(recurrence, locale)}`;
}

/** `every 2 weeks on Sunday` */
export function ruleText({ every, interval, weekdays }: Recurrence, locale: string): string {
  const words = findWords(locale);
  const often = count(words[EVERY[every]], interval, locale);
  if (weekdays.length === 0) return often;
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' });
  // 5 January 1970 was a Monday.
  const names = weekdays.map((day) => weekday.format(Date.UTC(1970, 0, 4 + day)));
  return fill(words.everyOn, { every: often, days: new Intl.ListFormat(locale, { type: 'unit' }).format(names) });
}

/** An instant for `<time>`: what machines read and what people read. */
export interface TimeView {
  readonly iso: string;
  readonly text: string;
}

export interface Format {
  /** `21 Nov 2026, 09:31` */
  readonly time: (at: EpochMs) => TimeView;
  /** The same with the zone behind it. */
  readonly timeWithZone: (at: EpochMs) => TimeView;
  /** `21 Nov, 09:31`, where the year stands near. */
  readonly timeInYear: (at: EpochMs) => TimeView;
  /** `09:31` */
  readonly clock: (at: EpochMs) => TimeView;
  /** Both instants fall on one calendar day. */
  readonly isSameDay: (a: EpochMs, b: EpochMs) => boolean;
  /** `21 Nov 2026` */
  readonly day: (day: Day) => string;
  /** `21 Nov`, where days do not go round the year. */
  readonly dayInYear: (day: Day) => string;
  /** `Saturday, 21 November` */
  readonly dayLong: (day: Day) => string;
  /** `November 2026` from `2026-11`. */
  readonly month: (month: string) => string;
  /** `Nov` from `2026-11`. */
  readonly monthShort: (month: string) => string;
  /** `1 h, 20 min`: at most two units, seconds only below a minute. */
  readonly duration: (ms: number) => string;
  /** `API, Search, and Web`. */
  readonly list: (names: readonly string[]) => string;
  /** The same in pieces, to make links of the names. */
  readonly listParts: (names: readonly string[]) => readonly { readonly text: string; readonly isName: boolean }[];
  readonly number: (value: number) => string;
  readonly percent: (ratio: number | null, decimals: number) => string;
  /** The zone as people write it, `Europe/Berlin`. */
  readonly zone: string;
}

const known = new Map<string, Format>();

/** Formats for a locale and an IANA zone; made once for each pair, since making one is a thousand times using one. */
export function formatIn(locale: string, zone: string): Format {
  return known.getOrInsertComputed(`${locale} ${zone}`, () => createFormat(locale, zone));
}

function createFormat(locale: string, zone: string): Format {
  const inZone = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
  const inUtc = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
  const date = { year: 'numeric', month: 'short', day: 'numeric' } as const;
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const time = inZone({ ...date, ...clock });
  const timeWithZone = inZone({ ...date, ...clock, timeZoneName: 'short' });
  const timeInYear = inZone({ month: 'short', day: 'numeric', ...clock });
  const clockOnly = inZone(clock);
  const day = inUtc(date);
  const dayInYear = inUtc({ month: 'short', day: 'numeric' });
  const dayLong = inUtc({ weekday: 'long', month: 'long', day: 'numeric' });
  const month = inUtc({ year: 'numeric', month: 'long' });
  const monthShort = inUtc({ month: 'short' });
  const duration = new Intl.DurationFormat(locale, { style: 'short' });
  // Durations on a page are few and repeat; writing one takes twenty times as long as finding it.
  const durations = new LRUCache<number, string>({
    max: 1_000,
    memoMethod: (ms) => duration.format(durationParts(ms)),
  });
  const list = new Intl.ListFormat(locale, { style: 'long', type: 'conjunction' });
  const number = new Intl.NumberFormat(locale);
  const view = (format: Intl.DateTimeFormat) => (at: EpochMs) => ({ iso: toIso(at), text: format.format(at) });
  const noon = (text: string) => Date.parse(`${text}T12:00:00Z`);
  return {
    time: view(time),
    timeWithZone: view(timeWithZone),
    timeInYear: view(timeInYear),
    clock: view(clockOnly),
    isSameDay: (a, b) => dayOf(a, zone) === dayOf(b, zone),
    day: (value) => day.format(noon(value)),
    dayInYear: (value) => dayInYear.format(noon(value)),
    dayLong: (value) => dayLong.format(noon(value)),
    month: (value) => month.format(noon(`${value}-01`)),
    monthShort: (value) => monthShort.format(noon(`${value}-01`)),
    duration: (ms) => durations.memo(inWholeUnits(ms)),
    list: (names) => list.format(names),
    listParts: (names) =>
      list.formatToParts(names).map(({ type, value }) => ({ text: value, isName: type === 'element' })),
    number: (value) => number.format(value),
    percent: (ratio, decimals) => formatUptime(ratio, decimals, locale),
    zone: zone.replaceAll('_', ' '),
  };
}

/** Without the part that `durationParts` leaves out, so that durations that are written alike are one. */
function inWholeUnits(ms: number): number {
  const unit = ms < MINUTE_MS ? SECOND_MS : MINUTE_MS;
  return Math.floor(ms / unit) * unit;
}
