import { describe, expect, it } from 'vitest';
import {
  addDays,
  type Day,
  dayOf,
  daysUntil,
  HOUR_MS,
  intervalOfDay,
  startOfDay,
  toEpochMs,
  toIso,
} from '../../../src/model/time.ts';
import { randomOf, TEST_SCALE } from './random-history.ts';

/** Both changes of the clock in zones that change by one hour, by half, by two, at midnight and before it. */
const CLOCK_CHANGES: readonly (readonly [zone: string, day: string, hours: number, start: string])[] = [
  ['Europe/Berlin', '2026-03-29', 23, '2026-03-28T23:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25', 25, '2026-10-24T22:00:00.000Z'],
  ['America/New_York', '2026-03-08', 23, '2026-03-08T05:00:00.000Z'],
  ['America/New_York', '2026-11-01', 25, '2026-11-01T04:00:00.000Z'],
  ['Australia/Lord_Howe', '2026-10-04', 23.5, '2026-10-03T13:30:00.000Z'],
  ['Australia/Lord_Howe', '2026-04-05', 24.5, '2026-04-04T13:00:00.000Z'],
  ['Pacific/Chatham', '2026-09-27', 23, '2026-09-26T11:15:00.000Z'],
  ['Pacific/Chatham', '2026-04-05', 25, '2026-04-04T10:15:00.000Z'],
  ['America/St_Johns', '2026-03-08', 23, '2026-03-08T03:30:00.000Z'],
  ['America/St_Johns', '2026-11-01', 25, '2026-11-01T02:30:00.000Z'],
  ['Antarctica/Troll', '2026-03-29', 22, '2026-03-29T00:00:00.000Z'],
  ['Antarctica/Troll', '2026-10-25', 26, '2026-10-24T22:00:00.000Z'],
  // Midnight does not exist: the day begins at one.
  ['America/Sao_Paulo', '2018-11-04', 23, '2018-11-04T03:00:00.000Z'],
  ['America/Sao_Paulo', '2018-02-17', 25, '2018-02-17T02:00:00.000Z'],
  ['Asia/Beirut', '2026-03-29', 23, '2026-03-28T22:00:00.000Z'],
  ['Asia/Beirut', '2026-10-24', 25, '2026-10-23T21:00:00.000Z'],
  ['Africa/Cairo', '2026-04-24', 23, '2026-04-23T22:00:00.000Z'],
  ['Africa/Cairo', '2026-10-29', 25, '2026-10-28T21:00:00.000Z'],
  // A day that was skipped, and one without a change.
  ['Pacific/Apia', '2011-12-30', 0, '2011-12-30T10:00:00.000Z'],
  ['Asia/Kathmandu', '2026-03-29', 24, '2026-03-28T18:15:00.000Z'],
];

describe('days of a zone', () => {
  it.each(CLOCK_CHANGES)('%s: %s has %d hours from %s on', (zone, day, hours, start) => {
    const { from, to } = intervalOfDay(day as Day, zone);
    expect(toIso(from)).toBe(start);
    expect((to - from) / HOUR_MS).toBe(hours);
    expect(startOfDay(day as Day, zone)).toBe(from);
    if (from === to) return;
    expect([dayOf(toEpochMs(from - 1), zone) < day, dayOf(from, zone), dayOf(toEpochMs(to - 1), zone)]).toEqual([
      true,
      day,
      day,
    ]);
    expect(dayOf(to, zone)).toBe(addDays(day as Day, 1));
  });

  it('agree with Temporal at random instants and about every change of the clock', () => {
    const zones = [...new Set(CLOCK_CHANGES.map(([zone]) => zone)), 'UTC', 'Africa/Monrovia', '+05:30'];
    for (const zone of zones) {
      const random = randomOf(zone.length);
      for (let run = 0; run < Math.ceil(300 * TEST_SCALE); run += 1) {
        const at = toEpochMs((random() * 1.4 - 0.6) * 2.2e12);
        const here = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
        const change = here.getTimeZoneTransition('next')?.epochMilliseconds ?? at;
        for (const instant of [at, change - 1, change, change + 1]) {
          const day = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone).toPlainDate();
          expect(dayOf(toEpochMs(instant), zone)).toBe(day.toString());
          expect(startOfDay(day.toString() as Day, zone)).toBe(day.toZonedDateTime(zone).epochMilliseconds);
          expect(addDays(day.toString() as Day, run - 150)).toBe(day.add({ days: run - 150 }).toString());
        }
      }
    }
  });
});

describe('counting days', () => {
  it('knows leap days, also that 2100 has none', () => {
    expect(addDays('2028-02-28' as Day, 1)).toBe('2028-02-29');
    expect(addDays('2028-02-29' as Day, 366)).toBe('2029-03-01');
    expect(addDays('2100-02-28' as Day, 1)).toBe('2100-03-01');
    expect(daysUntil('2028-03-01' as Day, 3)).toEqual(['2028-02-28', '2028-02-29', '2028-03-01']);
    expect(daysUntil('2027-01-01' as Day, 2)).toEqual(['2026-12-31', '2027-01-01']);
    expect(daysUntil('2027-01-01' as Day, 0)).toEqual([]);
  });

  it('refuses what is no day of the calendar', () => {
    for (const day of ['2027-02-29', '2026-13-01', '2026-1-1', 'today', '']) {
      expect(() => addDays(day as Day, 1), day).toThrow(RangeError);
      expect(() => intervalOfDay(day as Day, 'UTC'), day).toThrow(RangeError);
    }
    expect(() => dayOf(toEpochMs(0), 'Europe/Nowhere')).toThrow(RangeError);
  });
});
