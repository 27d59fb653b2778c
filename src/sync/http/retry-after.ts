/**
 * When an upstream that said "too many" may be asked again (RFC 9110, 10.2.3), and how many more it says it takes. By
 * hand: Date.parse takes a lone `1` for a date, and no package reads the three forms of HTTP and nothing else.
 */

import { type EpochMs, HOUR_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';

/** An absurd wait (a year, a broken clock) opens the circuit for this long and no longer; then one request asks again. */
export const RETRY_AFTER_MAX_MS = HOUR_MS;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const IMF_FIXDATE = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const RFC_850 = /^[A-Z][a-z]+day, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

/**
 * The instant before which nothing may be asked, by our clock; null when the header is absent, is not of the
 * standard's form, or names no time to come (then the caller's own back-off applies).
 *
 * A date is their clock's: with their `Date` header beside it the wait is measured between the two, so that a clock
 * that is wrong on either side never makes us early.
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

/** `X-RateLimit-Remaining`, the least when it says several; null when it is absent or not a count. */
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
 * One of the three forms of an HTTP date; null for anything else.
 *
 * @param now decides the century of the form with two digits: never more than 50 years ahead
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

/** Year, month's name, day, hour, minute, second. A second of 60 is a leap second and counts as the next one. */
function instant(fields: readonly (string | undefined)[]): EpochMs | null {
  const [year, monthName, day, hour, minute, second] = fields;
  const month = MONTHS.indexOf(monthName ?? '');
  if (month === -1 || Number(day) < 1 || Number(day) > 31) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  return toEpochMs(Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute), Number(second)));
}
