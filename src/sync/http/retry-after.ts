/**
 * Reads when a rate-limited upstream may be queried again (RFC 9110, 10.2.3), and how many requests it still accepts. By
 * hand: Date.parse accepts `1` as a date, and no package reads just the three date formats of HTTP.
 */

import { type EpochMs, HOUR_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';

/** Longer waits (a year, a broken clock) are cut to this. Then one request tries again. */
export const RETRY_AFTER_MAX_MS = HOUR_MS;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** IMF-fixdate, RFC 850 and asctime. */
const FORMATS = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<clock>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]+day, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<clock>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<clock>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/**
 * The time before which nothing may be requested, by our clock; null if the header is missing, malformed or in the past.
 * Then the caller's own back-off applies.
 *
 * A date is by the upstream's clock. If it also sends `Date`, the wait is the difference between the two, so that wrong
 * clocks never make us too early.
 */
export function parseRetryAfter(
  values: string | readonly string[] | undefined,
  { now, theirNow }: { readonly now: EpochMs; readonly theirNow: EpochMs | null },
): EpochMs | null {
  if (values === undefined) return null;
  const waits = (typeof values === 'string' ? [values] : values).map((value) => retryWait(value.trim(), now, theirNow));
  const waitMs = Math.max(...waits);
  return waitMs > 0 ? toEpochMs(now + Math.min(waitMs, RETRY_AFTER_MAX_MS)) : null;
}

/** `X-RateLimit-Remaining`, the lowest of several; null if it is missing or not a number. */
export function parseRemaining(values: string | readonly string[] | undefined): number | null {
  const texts = (typeof values === 'string' ? [values] : (values ?? [])).flatMap((value) => value.split(','));
  const counts = texts.map((text) => text.trim()).filter((text) => /^\d{1,9}$/.test(text));
  return counts.length === 0 ? null : Math.min(...counts.map(Number));
}

function retryWait(value: string, now: EpochMs, theirNow: EpochMs | null): number {
  if (/^\d+$/.test(value)) return Number(value) * SECOND_MS;
  const at = parseHttpDate(value, now);
  return at === null ? 0 : at - (theirNow ?? now);
}

/**
 * Parses an HTTP date in one of its three formats; null for anything else. A leap second (60) counts as the next second.
 *
 * @param now decides the century of years with two digits: never more than 50 years ahead
 */
export function parseHttpDate(value: string, now: EpochMs): EpochMs | null {
  const fields = FORMATS.map((format) => format.exec(value)?.groups).find((groups) => groups !== undefined);
  if (fields === undefined) return null;
  const { year = '', month = '', day, clock = '' } = fields;
  const monthIndex = MONTHS.indexOf(month);
  const [hour = 0, minute = 0, second = 0] = clock.split(':').map(Number);
  if (monthIndex === -1 || Number(day) < 1 || Number(day) > 31 || hour > 23 || minute > 59 || second > 60) return null;
  const fullYear = year.length === 2 ? toFullYear(Number(year), now) : Number(year);
  return toEpochMs(Date.UTC(fullYear, monthIndex, Number(day), hour, minute, second));
}

function toFullYear(year: number, now: EpochMs): number {
  const thisYear = new Date(now).getUTCFullYear();
  const guess = Math.floor(thisYear / 100) * 100 + year;
  return guess > thisYear + 50 ? guess - 100 : guess;
}
