/** Numbers and dates as badges write them. Formatters are kept: building one takes a thousand times as long as using it. */

import { LRUCache } from 'lru-cache';
import type { EpochMs } from '../model/time.ts';

/** Enough for every locale and zone of a site; asked for by visitors too, so bounded. */
const FORMATS_MAX = 64;

const counts = new LRUCache<string, Intl.NumberFormat>({
  max: FORMATS_MAX,
  memoMethod: (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }),
});
const tenths = new LRUCache<string, Intl.NumberFormat>({
  max: FORMATS_MAX,
  memoMethod: (locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
});
const instants = new LRUCache<string, Intl.DateTimeFormat, { readonly locale: string; readonly timezone: string }>({
  max: FORMATS_MAX,
  memoMethod: (_key, _before, { context: { locale, timezone } }) =>
    new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: timezone,
      timeZoneName: 'short',
    }),
});

/** A whole number with the grouping of the locale. */
export function formatCount(count: number, locale: string): string {
  return counts.memo(locale).format(count);
}

/** With at most one digit behind the point. */
export function formatTenths(value: number, locale: string): string {
  return tenths.memo(locale).format(value);
}

/** Day, month, time and zone, such as `24 Nov, 22:00 UTC`. */
export function formatInstant(at: EpochMs, zone: { readonly locale: string; readonly timezone: string }): string {
  return instants.memo(`${zone.locale} ${zone.timezone}`, { context: zone }).format(at);
}
