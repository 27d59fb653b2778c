import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportedDay, Span } from '../../../src/model/overlap.ts';
import { DAY_MS, type Day, HOUR_MS, intervalOfDay, startOfDay, toEpochMs } from '../../../src/model/time.ts';
import { reportedSpans, spansOfReportedDays, timelineOf } from '../../../src/model/timeline.ts';
import { uptimeOf } from '../../../src/model/uptime.ts';

const DAY = '2026-11-20' as Day;
const START = startOfDay(DAY, 'UTC');
const INTERVAL = intervalOfDay(DAY, 'UTC');

function counted(operational: number, degraded: number, major_outage: number, day = DAY): ReportedDay {
  return { day, operational, degraded, major_outage };
}

function msOf(spans: readonly Span[], interval = INTERVAL) {
  return uptimeOf(timelineOf({ observed: [], reported: spans, outages: [], maintenances: [] }, interval), interval)
    .msByState;
}

describe('spansOfReportedDays', () => {
  it('splits a day in the proportion of its counts', () => {
    const ms = msOf(spansOfReportedDays([counted(20, 3, 1)]));
    expect([ms.operational, ms.degraded, ms.major_outage, ms.unknown]).toEqual([20 * HOUR_MS, 3 * HOUR_MS, HOUR_MS, 0]);
  });

  it('puts the trouble about noon, so that zones far from UTC show it on the same date', () => {
    const spans = spansOfReportedDays([counted(23, 0, 1)]);
    for (const zone of ['Asia/Tokyo', 'America/Los_Angeles', 'Pacific/Honolulu'])
      expect(msOf(spans, intervalOfDay(DAY, zone)).major_outage).toBe(HOUR_MS);
    expect(spans.map(({ state, from }) => [state, (from - START) / HOUR_MS])).toEqual([
      ['operational', 0],
      ['major_outage', 11.5],
      ['operational', 12.5],
    ]);
  });

  it('keeps the proportions in the part of a day that lies inside the bounds', () => {
    const bounds = { from: toEpochMs(0), to: toEpochMs(START + 6 * HOUR_MS) };
    const spans = spansOfReportedDays([counted(3, 0, 1)], bounds);
    const ms = msOf(spans);
    expect([ms.operational, ms.major_outage, ms.unknown]).toEqual([4.5 * HOUR_MS, 1.5 * HOUR_MS, 18 * HOUR_MS]);
    expect(spansOfReportedDays([counted(3, 0, 1)], { from: INTERVAL.to, to: toEpochMs(INTERVAL.to + 1) })).toEqual([]);
  });

  it('says nothing of a day without checks', () => {
    expect(spansOfReportedDays([counted(0, 0, 0)])).toEqual([]);
  });

  it('never rounds the one failure of a year of checks away', () => {
    const uptime = uptimeOf(
      timelineOf(
        { observed: [], reported: spansOfReportedDays([counted(1e12, 0, 1)]), outages: [], maintenances: [] },
        INTERVAL,
      ),
      INTERVAL,
    );
    expect(uptime.downMs).toBe(1);
    expect(uptime.ratio).toBeLessThan(1);
  });

  it('is sorted and disjoint, whatever the order of the days and whatever the counts', () => {
    const count = fc.integer({ min: 0, max: 100_000 });
    fc.assert(
      fc.property(fc.array(fc.tuple(count, count, count), { maxLength: 20 }), (counts) => {
        const days = counts.map(([up, slow, down], index) =>
          counted(up, slow, down, new Date(START - index * DAY_MS).toISOString().slice(0, 10) as Day),
        );
        const spans = spansOfReportedDays(days);
        for (const [index, span] of spans.entries()) {
          expect(span.from).toBeLessThan(span.to);
          if (index > 0) expect(span.from).toBeGreaterThanOrEqual(spans[index - 1]?.to ?? 0);
        }
        const busy = days.filter(
          ({ operational, degraded, major_outage }) => operational + degraded + major_outage > 0,
        );
        expect(spans.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(busy.length * DAY_MS);
      }),
      { seed: 9, numRuns: 200 },
    );
  });
});

describe('reportedSpans', () => {
  const exact: Span = { state: 'major_outage', from: toEpochMs(START + 5), to: toEpochMs(START + 10) };
  const observed: Span = { state: 'operational', from: toEpochMs(START + DAY_MS), to: toEpochMs(START + 2 * DAY_MS) };
  const nextDay = counted(0, 0, 9, '2026-11-21' as Day);

  it('counts trouble once where a day is told of exactly and by its counts', () => {
    const past = { observed: [], reported: [exact], reportedDays: [counted(3, 0, 1), nextDay] };
    const spans = reportedSpans(past, toEpochMs(START + 9 * DAY_MS));
    expect(msOf(spans).major_outage).toBe(5);
    expect(msOf(spans, intervalOfDay(nextDay.day, 'UTC')).major_outage).toBe(DAY_MS);
  });

  it('leaves the time since our first observation to our observations', () => {
    const past = { observed: [observed], reported: [], reportedDays: [counted(3, 0, 1), nextDay] };
    expect(reportedSpans(past, toEpochMs(START + 9 * DAY_MS)).at(-1)?.to).toBe(observed.from);
  });

  it('takes all days of a monitor that was never observed', () => {
    const past = { observed: [], reported: [], reportedDays: [counted(3, 0, 1), nextDay] };
    expect(reportedSpans(past, toEpochMs(START + 9 * DAY_MS)).at(-1)?.to).toBe(START + 2 * DAY_MS);
  });

  it('keeps the proportions of today in the part of it that is over', () => {
    const past = { observed: [], reported: [], reportedDays: [counted(3, 0, 1)] };
    const ms = msOf(reportedSpans(past, toEpochMs(START + 4 * HOUR_MS)));
    expect([ms.operational, ms.major_outage]).toEqual([3 * HOUR_MS, HOUR_MS]);
  });
});
