import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/time.ts';
import { naiveTime, offsetTime } from '../../../src/sandbox/server-monitor.ts';
import { createRequestLimiter } from '../../sandbox/kinds/server-monitor.ts';

const NOW = toEpochMs(Date.UTC(2026, 10, 21, 23, 30, 5, 678));

describe('the clock of the server monitor', () => {
  it('writes its own time without saying which', () => {
    expect(naiveTime(NOW, 120)).toBe('2026-11-22T01:30:05');
    expect(naiveTime(NOW, -210)).toBe('2026-11-21T20:00:05');
  });

  it('says its offset where it does', () => {
    expect([120, 0, -210, 345].map((minutes) => offsetTime(NOW, minutes).slice(-6))).toEqual([
      '+02:00',
      '+00:00',
      '-03:30',
      '+05:45',
    ]);
    expect(Date.parse(offsetTime(NOW, 345))).toBe(NOW - 678);
  });
});

describe('two sliding windows', () => {
  const limits = { perMinute: 3, perHour: 5 };
  const at = (ms: number): ReturnType<typeof toEpochMs> => toEpochMs(NOW + ms);

  it('allow so many in any minute, and tell when the next may come', () => {
    const limiter = createRequestLimiter(limits);
    const verdicts = [0, 10, 20].map((seconds) => limiter('k', at(seconds * SECOND_MS)));
    expect(verdicts).toEqual([2, 1, 0].map((remaining) => ({ kind: 'allowed', remaining })));
    expect(limiter('k', at(20 * SECOND_MS + 1))).toEqual({ kind: 'refused', retryAfterSeconds: 40 });
    expect(limiter('k', at(MINUTE_MS - 1))).toEqual({ kind: 'refused', retryAfterSeconds: 1 });
    expect(limiter('k', at(MINUTE_MS))).toEqual({ kind: 'allowed', remaining: 0 });
  });

  it('allow so many in any hour, which binds once minutes would not', () => {
    const limiter = createRequestLimiter(limits);
    for (let minute = 0; minute < 5; minute += 1) limiter('k', at(minute * MINUTE_MS));
    expect(limiter('k', at(10 * MINUTE_MS))).toEqual({ kind: 'refused', retryAfterSeconds: 50 * 60 });
    expect(limiter('k', at(HOUR_MS))).toEqual({ kind: 'allowed', remaining: 0 });
    expect(limiter('k', at(HOUR_MS))).toEqual({ kind: 'refused', retryAfterSeconds: 60 });
  });

  it('do not count refused requests', () => {
    const limiter = createRequestLimiter(limits);
    for (let times = 0; times < 50; times += 1) limiter('k', at(times));
    expect(limiter('k', at(MINUTE_MS))).toMatchObject({ kind: 'allowed' });
  });

  it('count each key for itself, and nothing when there are none', () => {
    const limiter = createRequestLimiter({ perMinute: 1, perHour: 1 });
    limiter('a', NOW);
    expect([limiter('a', NOW).kind, limiter('b', NOW).kind]).toEqual(['refused', 'allowed']);
    const open = createRequestLimiter(null);
    expect(Array.from({ length: 2_000 }, () => open('k', NOW).kind)).not.toContain('refused');
  });
});
