/** Numbers and dates as badges write them. Formatters are kept: building one takes a thousand times as long as using it. */

import type { EpochMs } from '../model/time.ts';
import { createMemo, type Memo } from './memo.ts';

/** Enough for every locale and zone of a site; asked for by visitors too, so bounded. */
const FORMATS_MAX = 64;

const numbers = createMemo<Intl.NumberFormat>(FORMATS_MAX);
const dates = createMemo<Intl.DateTimeFormat>(FORMATS_MAX);

/** A whole number with the grouping of the locale. */
export function formatCount(count: number, locale: string): string {
  return keep(numbers, locale, () => new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })).format(count);
}

/** Milliseconds below ten seconds, then seconds with one digit; rounded up, so that nothing looks faster than it is. */
export function formatDuration(ms: number, locale: string): string {
  if (ms < 10_000) return `${formatCount(Math.ceil(ms), locale)} ms`;
  const seconds = keep(numbers, `${locale} s`, () => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }));
  return `${seconds.format(Math.ceil(ms / 100) / 10)} s`;
}

/** Day, month, time and zone, such as `24 Nov, 22:00 UTC`. */
export function formatInstant(at: EpochMs, { locale, timezone }: { locale: string; timezone: string }): string {
  const format = keep(
    dates,
    `${locale} ${timezone}`,
    () =>
      new Intl.DateTimeFormat(locale, {
        day: 'numeric',
        month: 'short',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
        timeZone: timezone,
        timeZoneName: 'short',
      }),
  );
  return format.format(at);
}

function keep<T>(formats: Memo<T>, key: string, create: () => T): T {
  const known = formats.get(key);
  if (known !== undefined) return known;
  const format = create();
  formats.set(key, format);
  return format;
}
