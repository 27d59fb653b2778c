import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../src/model/time.ts';
import { detailAgeMaxMs, fastestSchedule, hasRoom, intervalMinMs } from '../../../src/sync/pass/quota.ts';
import { scheduleIntervalMs } from '../../../src/sync/schedule.ts';

const DOCUMENTED = { perMinute: 60, perHour: 1_000 };

describe('the fastest schedule that also gets details and history', () => {
  it('is every 15 s for the documented limits of a server monitor and its four lists', () => {
    expect(fastestSchedule(DOCUMENTED, { listCallsPerPass: 4, monitorsTotal: 20 })).toEqual({
      intervalMs: 15 * SECOND_MS,
      cron: '*/15 * * * * *',
    });
  });

  it('is slower the more monitors there are, and none for a quota that is too small', () => {
    expect(fastestSchedule(DOCUMENTED, { listCallsPerPass: 4, monitorsTotal: 1_000 })?.intervalMs).toBe(20 * SECOND_MS);
    expect(fastestSchedule(DOCUMENTED, { listCallsPerPass: 4, monitorsTotal: 20_000 })?.intervalMs).toBe(2 * MINUTE_MS);
    expect(fastestSchedule({ perMinute: null, perHour: 2 }, { listCallsPerPass: 4, monitorsTotal: 1 })).toBeNull();
  });

  it('is any for an upstream without limits', () => {
    const limits = { perMinute: null, perHour: null };
    expect(fastestSchedule(limits, { listCallsPerPass: 9, monitorsTotal: 9_000 })?.cron).toBe('* * * * * *');
  });

  it('never is one at which lists are left out or details stay away, and runs as often as it says', () => {
    const limit = fc.option(fc.integer({ min: 1, max: 2_000 }));
    fc.assert(
      fc.property(limit, limit, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5_000 }), (...sizes) => {
        const [perMinute, perHour, listCallsPerPass, monitorsTotal] = sizes;
        const limits = { perMinute, perHour };
        const size = { listCallsPerPass, monitorsTotal };
        const fastest = fastestSchedule(limits, size);
        if (fastest === null) {
          expect(hasRoom(limits, { ...size, intervalMs: 60 * MINUTE_MS })).toBe(false);
          return;
        }
        expect(scheduleIntervalMs(fastest.cron)).toBe(fastest.intervalMs);
        expect(fastest.intervalMs).toBeGreaterThanOrEqual(intervalMinMs(limits, listCallsPerPass));
        expect(detailAgeMaxMs(limits, { ...size, ...fastest }) ?? 0).toBeLessThanOrEqual(DAY_MS);
      }),
      { numRuns: 60 },
    );
  });
});
