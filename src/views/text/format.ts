/** Times, days and numbers in the words of one locale and one time zone. */

import { stateOfLetter } from '../../looks/states.ts';
import {
  DAY_MS,
  type Day,
  dayOf,
  type EpochMs,
  formatUptime,
  HOUR_MS,
  MINUTE_MS,
  offsetAt,
  type Recurrence,
  SECOND_MS,
  toIso,
} from '../../model/index.ts';
import { count, fill, findWords, stateWord, type Words } from '../words/index.ts';
import { TIME_WAYS, writeDuration } from './times.ts';
import { writeSpans } from './write-spans.ts';

// How a maintenance comes back, in words.

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
export type TimeView = Readonly<Record<'iso' | 'text', string>>;

/** Ways to write an instant: `21 Nov 2026, 09:31`; `21 Nov, 09:31`, where the year is known; `09:31`. */
type Clock = Readonly<Record<'time' | 'timeInYear' | 'clock', (at: EpochMs) => TimeView>>;

const known = new Map<string, Format>();

/** Formats for a locale and an IANA zone; made once for each pair, since making one is a thousand times using one. */
export function formatIn(locale: string, zone: string): Format {
  return known.getOrInsertComputed(`${locale} ${zone}`, () => createFormat(locale, zone));
}

export type Format = ReturnType<typeof createFormat>;

function createFormat(locale: string, zone: string) {
  const inZone = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: zone });
  const inUtc = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
  const [plain, zoned] = [{}, { timeZoneName: 'short' } as const].map((more): Clock => {
    const [timeInYear, time, clock] = TIME_WAYS.map((way) => {
      const written = inZone({ ...way, ...more });
      return (at: EpochMs) => ({ iso: toIso(at), text: written.format(at) });
    });
    return { timeInYear, time, clock } as Clock;
  }) as [Clock, Clock];
  const isSameDay = (a: EpochMs, b: EpochMs) => dayOf(a, zone) === dayOf(b, zone);
  const ofDay = inUtc(TIME_WAYS[2] ?? {});
  const timesOfDay = new Map<number, string>();
  const clockOfDay = { format: (ms: number) => timesOfDay.getOrInsertComputed(ms, () => ofDay.format(ms)) };
  const day = inUtc({ year: 'numeric', month: 'short', day: 'numeric' });
  const dayInYear = inUtc({ month: 'short', day: 'numeric' });
  const dayLong = inUtc({ weekday: 'long', month: 'long', day: 'numeric' });
  const month = inUtc({ year: 'numeric', month: 'long' });
  const monthShort = inUtc({ month: 'short' });
  const duration = durationWriter(locale);
  const list = new Intl.ListFormat(locale, { style: 'long', type: 'conjunction' });
  const number = new Intl.NumberFormat(locale);
  const noon = (text: string) => Date.parse(`${text}T12:00:00Z`);
  return {
    /** With the zone, once in each place where times stand: `21 Nov 2026, 09:31 CET`. */
    zoned,
    /** Beside one with the zone: `21 Nov 2026, 09:31`. */
    plain,
    /** From when something goes on: of the last twelve hours no day is needed. */
    since: (at: EpochMs, now: EpochMs): TimeView => (now - at < 12 * HOUR_MS ? zoned.clock(at) : zoned.timeInYear(at)),
    /** From when to when; the zone stands at the end, and an end on the same day is a time of that day. */
    range: (from: EpochMs, to: EpochMs | null, way: 'time' | 'timeInYear'): { from: TimeView; to: TimeView | null } => {
      if (to === null) return { from: zoned[way](from), to };
      // Where clocks were changed in between, either end has its own.
      const isOneOffset = offsetAt(from, zone) === offsetAt(to, zone);
      return { from: (isOneOffset ? plain : zoned)[way](from), to: zoned[isSameDay(from, to) ? 'clock' : way](to) };
    },
    /** Both instants fall on one calendar day. */
    isSameDay,
    /** `21 Nov 2026` */
    day: (value: Day): string => day.format(noon(value)),
    /** `21 Nov`, where days do not go round the year. */
    dayInYear: (value: Day): string => dayInYear.format(noon(value)),
    /** `Saturday, 21 November` */
    dayLong: (value: Day): string => dayLong.format(noon(value)),
    /** `November 2026` from `2026-11`. */
    month: (value: string): string => month.format(noon(`${value}-01`)),
    /** `Nov` from `2026-11`. */
    monthShort: (value: string): string => monthShort.format(noon(`${value}-01`)),
    /** `1 h, 20 min`: at most two units, seconds only below a minute. */
    duration,
    /** When a day was in which state: see `writeSpans`. */
    spans: (packed: string, letter: string, words: Words): string =>
      writeSpans(packed, letter, {
        stateWord: (one) => stateWord(stateOfLetter(one), words),
        clock: clockOfDay,
        duration,
        ongoing: words.badgeOngoing,
      }),
    /** `API, Search, and Web`. */
    list: (names: readonly string[]): string => list.format(names),
    /** The same in pieces: each name is what is made of it, and `more` stands at the end if it says anything. */
    listPieces: <Named extends { readonly name: string }, Piece>(
      named: readonly Named[],
      make: (one: Named) => Piece,
      more: string = '',
    ): (string | Piece)[] => {
      // Most lists are of one name, which no language writes in another way.
      if (named.length === 1 && more === '') return named.map((one) => make(one));
      let at = 0;
      const names = [...named.map(({ name }) => name), ...(more === '' ? [] : [more])];
      return list.formatToParts(names).map(({ type, value }) => {
        const one = type === 'element' ? named[at++] : undefined;
        return one === undefined ? value : make(one);
      });
    },
    number: (value: number): string => number.format(value),
    percent: (ratio: number | null, decimals: number): string => formatUptime(ratio, decimals, locale),
    /** The zone as people write it, `Europe/Berlin`. */
    zone: zone.replaceAll('_', ' '),
  };
}

/**
 * Writes what `writeDuration` writes, from units that were written before: two units stand beside each other with the same between
 * them, and writing both anew takes fifty times as long.
 */
function durationWriter(locale: string): (ms: number) => string {
  const format = new Intl.DurationFormat(locale, { style: 'short' });
  const known = new Map<number, string>();
  const ofOne = (ms: number): string => known.getOrInsertComputed(ms, () => writeDuration(format, ms));
  const [hour, minute] = [ofOne(HOUR_MS), ofOne(MINUTE_MS)];
  const between = writeDuration(format, HOUR_MS + MINUTE_MS).slice(hour.length, -minute.length);
  return (ms) => {
    const unit = [DAY_MS, HOUR_MS, MINUTE_MS].find((one) => ms >= one) ?? SECOND_MS;
    const large = Math.max(0, ms - (ms % unit));
    const smaller = unit === DAY_MS ? HOUR_MS : MINUTE_MS;
    const small = unit < HOUR_MS ? 0 : (ms % unit) - (ms % smaller);
    return small === 0 ? ofOne(large) : ofOne(large) + between + ofOne(small);
  };
}
