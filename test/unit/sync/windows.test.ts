import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import {
  ARRIVAL_MS,
  detailAgeMaxMs,
  earliest,
  intervalMinMs,
  lowPriorityPerPass,
  lowPriorityWindows,
  quotaWindows,
} from '../../../src/sync/pass/quota.ts';

const SERVER_MONITOR = { perMinute: 60, perHour: 1_000 };
const NONE = { perMinute: null, perHour: null };
const DEMAND = { listCallsPerPass: 4, intervalMs: MINUTE_MS };

describe('windows', () => {
  it('are as long as the documented ones and the way of a request there', () => {
    expect(quotaWindows(SERVER_MONITOR)).toEqual([
      { lengthMs: MINUTE_MS + ARRIVAL_MS, requestsMax: 60, isLowPriorityOnly: false },
      { lengthMs: HOUR_MS + ARRIVAL_MS, requestsMax: 1_000, isLowPriorityOnly: false },
    ]);
    expect(quotaWindows({ perMinute: null, perHour: 5 })).toHaveLength(1);
    expect(quotaWindows(NONE)).toEqual([]);
  });

  it('of details leave room for the lists of every pass that may fall into them', () => {
    // 75 s hold two passes, 3,615 s hold 61; one percent of the hour is for retries. Ten passes have their even share.
    expect(lowPriorityWindows(SERVER_MONITOR, DEMAND)).toEqual([
      { lengthMs: 75_000, requestsMax: 52, isLowPriorityOnly: true },
      { lengthMs: 3_615_000, requestsMax: 746, isLowPriorityOnly: true },
      { lengthMs: 570_000, requestsMax: 124, isLowPriorityOnly: true },
    ]);
    const rarely = lowPriorityWindows(SERVER_MONITOR, { listCallsPerPass: 4, intervalMs: 10 * MINUTE_MS });
    expect(rarely.map((window) => window.requestsMax)).toEqual([56, 962]);
  });

  it('of details are closed when lists need everything', () => {
    const windows = lowPriorityWindows(SERVER_MONITOR, { listCallsPerPass: 100, intervalMs: MINUTE_MS });
    expect(windows.map((window) => window.requestsMax)).toEqual([0, 0, 0]);
  });
});

describe('the first instant at which a request may leave', () => {
  const window = { lengthMs: 1_000, requestsMax: 2, isLowPriorityOnly: false };
  const nthNewestOf = (times: readonly number[]) => (n: number) => {
    const time = times.at(-n);
    return time === undefined ? null : toEpochMs(time);
  };

  it('is now while there is room', async () => {
    expect(await earliest([window], toEpochMs(500), nthNewestOf([100]))).toBe(500);
  });

  it('is when the oldest request that fills the window has left it, not a millisecond before', async () => {
    expect(await earliest([window], toEpochMs(1_099), nthNewestOf([100, 200]))).toBe(1_100);
    expect(await earliest([window], toEpochMs(1_100), nthNewestOf([100, 200]))).toBe(1_100);
  });

  it('is as late as the strictest window says', async () => {
    const hour = { lengthMs: 10_000, requestsMax: 1, isLowPriorityOnly: false };
    expect(await earliest([window, hour], toEpochMs(500), nthNewestOf([100]))).toBe(10_100);
  });

  it('never comes for a window of no requests', async () => {
    const closed = { lengthMs: 1_000, requestsMax: 0, isLowPriorityOnly: true };
    expect(await earliest([closed], toEpochMs(500), nthNewestOf([]))).toBe(1_500);
  });
});

describe('what an upstream of this size can have', () => {
  it('is a share of details for each pass that spends the hour evenly', () => {
    expect(lowPriorityPerPass(SERVER_MONITOR, DEMAND)).toBe(13);
    expect(lowPriorityPerPass(NONE, DEMAND)).toBeNull();
  });

  it('is details no older than all monitors divided by what the hour leaves', () => {
    const hours = (monitorsTotal: number): number =>
      (detailAgeMaxMs(SERVER_MONITOR, { ...DEMAND, monitorsTotal }) ?? 0) / HOUR_MS;
    expect(hours(1_000)).toBeCloseTo(1.36, 2);
    expect(hours(10_000)).toBeCloseTo(13.63, 2);
    expect(detailAgeMaxMs(SERVER_MONITOR, { ...DEMAND, monitorsTotal: 3 })).toBe(MINUTE_MS);
    expect(detailAgeMaxMs(NONE, { ...DEMAND, monitorsTotal: 3 })).toBeNull();
    expect(detailAgeMaxMs(SERVER_MONITOR, { ...DEMAND, listCallsPerPass: 17, monitorsTotal: 3 })).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  it('is a pass no more often than its lists fit into the quota', () => {
    expect(intervalMinMs(SERVER_MONITOR, 4)).toBeCloseTo(14_460, 0);
    expect(intervalMinMs(NONE, 4)).toBe(0);
  });
});
