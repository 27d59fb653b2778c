/**
 * Reads when a rate-limited upstream may be queried again (RFC 9110, 10.2.3), and how many requests it still accepts. By
 * hand: Date.parse accepts `1` as a date, and no package reads just the three date formats of HTTP.
 */

import { type EpochMs, HOUR_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';

/** Longer waits (a year, a broken clock) are cut to this. Then one request tries again. */
export const RETRY_AFTER_MAX_MS = HOUR_MS;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const IMF_FIXDATE = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const RFC_850 = /^[A-Z][a-z]+day, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

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
 * Parses an HTTP date in one of its three formats; null for anything else.
 *
 * @param now decides the century of years with two digits: never more than 50 years ahead
 */
export function parseHttpDate(value: string, now: EpochMs): EpochMs | null {
  const imf = IMF_FIXDATE.exec(value);
  if (imf !== null) return instant([imf[3], imf[2], imf[1], imf[4], imf[5], imf[6]]);
  const asctime = ASCTIME.exec(value);
  if (asctime !== null) return instant([asctime[6], asctime[1], asctime[2], asctime[3], asctime[4], asctime[5]]);
  const rfc850 = RFC_850.exec(value);
  if (rfc850 === null) return null;
  const thisYear = new Date(now).getUTCFullYear();
  const guess = Math.floor(thisYear / 100) * 100 + Number(rfc850[3]);
  const year = guess > thisYear + 50 ? guess - 100 : guess;
  return instant([String(year), rfc850[2], rfc850[1], rfc850[4], rfc850[5], rfc850[6]]);
}

/** From year, name of the month, day, hour, minute and second. A leap second (60) counts as the next second. */
function instant(fields: readonly (string | undefined)[]): EpochMs | null {
  const [year, monthName, day, hour, minute, second] = fields;
  const month = MONTHS.indexOf(monthName ?? '');
  if (month === -1 || Number(day) < 1 || Number(day) > 31) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  return toEpochMs(Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute), Number(second)));
}
