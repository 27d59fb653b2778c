import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import {
  parseHttpDate,
  parseRemaining,
  parseRetryAfter,
  RETRY_AFTER_MAX_MS,
} from '../../../src/sync/http/retry-after.ts';

const NOW = toEpochMs(Date.UTC(2026, 10, 21, 9, 0, 0));
const wait = (value: string | readonly string[] | undefined, theirNow: number | null = null): number | null => {
  const at = parseRetryAfter(value, { now: NOW, theirNow: theirNow === null ? null : toEpochMs(theirNow) });
  return at === null ? null : at - NOW;
};

describe('X-RateLimit-Remaining', () => {
  it.each([
    ['0', 0],
    [' 59 ', 59],
    ['12, 900', 12],
    [['40', '7'], 7],
    [undefined, null],
    ['', null],
    ['-1', null],
    ['many', null],
    ['1.5', null],
    ['99999999999999999999', null],
  ])('%j says %j', (value, expected) => {
    expect(parseRemaining(value)).toBe(expected);
  });
});

describe('Retry-After', () => {
  it.each([
    ['1', 1_000],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['3600', 3_600_000],
    ['Sat, 21 Nov 2026 09:02:00 GMT', 120_000],
    ['Saturday, 21-Nov-26 09:02:00 GMT', 120_000],
    ['Sat Nov 21 09:02:00 2026', 120_000],
  ])('%s is obeyed to the millisecond', (value, expected) => {
    expect(wait(value)).toBe(expected);
  });

  it.each(['1000000000', '99999999999999999999999', 'Sat, 21 Nov 2099 09:00:00 GMT'])(
    '%s is obeyed for an hour',
    (value) => {
      expect(wait(value)).toBe(RETRY_AFTER_MAX_MS);
    },
  );

  it.each([
    undefined,
    '',
    '0',
    '-1',
    '1.5',
    '1e3',
    'soon',
    'NaN',
    'Sat, 21 Nov 2026 08:59:59 GMT',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    '2026-11-21T09:02:00Z',
    'Sat, 32 Nov 2026 09:02:00 GMT',
    'Sat, 21 Foo 2026 09:02:00 GMT',
    'Sat, 21 Nov 2026 25:02:00 GMT',
    'Sat, 21 Nov 2026 09:02:00 CET',
  ])('%s names no time to come, so the back-off decides', (value) => {
    expect(wait(value)).toBeNull();
  });

  it('a date is measured by their clock when they tell it, so that a wrong clock makes nobody early', () => {
    const theirNow = NOW - 600_000;
    expect(wait('Sat, 21 Nov 2026 08:52:00 GMT', theirNow)).toBe(120_000);
    expect(wait('Sat, 21 Nov 2026 09:12:00 GMT', NOW + 600_000)).toBe(120_000);
  });

  it('of several headers the longest wait counts', () => {
    expect(wait(['5', '60', 'soon'])).toBe(60_000);
  });
});

describe('an HTTP date', () => {
  it('with a year of two digits lies at most fifty years ahead', () => {
    expect(parseHttpDate('Saturday, 21-Nov-76 00:00:00 GMT', NOW)).toBe(Date.UTC(2076, 10, 21));
    expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', NOW)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
  });

  it('may have a day of one digit only in the form of asctime', () => {
    expect(parseHttpDate('Sun Nov  6 08:49:37 1994', NOW)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
    expect(parseHttpDate('Sun, 6 Nov 1994 08:49:37 GMT', NOW)).toBeNull();
  });
});
