import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TimelineSpan } from '../../../src/model/overlap.ts';
import { STATES, type State } from '../../../src/model/state.ts';
import { DAY_MS, HOUR_MS, toEpochMs } from '../../../src/model/time.ts';
import { timelineOf } from '../../../src/model/timeline.ts';
import {
  combinedUptime,
  FORMULA_VERSION,
  UPTIME_PERIODS,
  type Uptime,
  uptimeOf,
  uptimePeriods,
  windowOf,
} from '../../../src/model/uptime.ts';
import { randomHistory, randomOf, TEST_SCALE } from './random-history.ts';

const PERIODS = Object.keys(UPTIME_PERIODS) as (keyof typeof UPTIME_PERIODS)[];
const WINDOW = { from: toEpochMs(0), to: toEpochMs(10_000) };

function timeline(...pieces: readonly (readonly [State, number, number])[]): TimelineSpan[] {
  return pieces.map(([state, from, to]) => ({
    state,
    from: toEpochMs(from),
    to: toEpochMs(to),
    provenance: state === 'unknown' ? 'none' : 'observed',
  }));
}

/** The uptime of one stretch in each state after the other. */
function lasting(ms: Partial<Record<State, number>>): Uptime {
  let at = 0;
  const pieces = Object.entries(ms).map(([state, length]): [State, number, number] => {
    at += length;
    return [state as State, at - length, at];
  });
  return uptimeOf(timeline(...pieces), { from: toEpochMs(0), to: toEpochMs(at) });
}

describe('uptimeOf', () => {
  it('is what formula 3 says of every state', () => {
    const uptime = uptimeOf(
      timeline(
        ['operational', 0, 3_000],
        ['degraded', 3_000, 4_000],
        ['partial_outage', 4_000, 5_000],
        ['major_outage', 5_000, 6_000],
        ['maintenance', 6_000, 7_500],
        ['paused', 7_500, 8_000],
        ['unknown', 8_000, 10_000],
      ),
      WINDOW,
    );
    expect(FORMULA_VERSION).toBe(3);
    expect(uptime).toEqual({
      windowMs: 10_000,
      msByState: {
        operational: 3_000,
        degraded: 1_000,
        partial_outage: 1_000,
        major_outage: 1_000,
        maintenance: 1_500,
        paused: 500,
        unknown: 2_000,
      },
      countedMsByState: uptime.msByState,
      downMs: 1_300,
      seenMs: 8_000,
      ratio: 4_700 / 6_000,
      ratioWithMaintenance: 6_200 / 7_500,
      coverageRatio: 0.8,
    });
  });

  it('is the exact share, also of a time whose tenths are no exact numbers', () => {
    // Seven tenths of four parts in seven are two fifths.
    for (let part = 1; part < 2_000; part += 1) {
      const uptime = lasting({ partial_outage: part * 4, major_outage: part * 3 });
      expect(uptime.ratio).toBe(0.4);
    }
  });

  it('is null when nothing counts, which is neither 0 nor 100 %', () => {
    for (const state of ['maintenance', 'paused', 'unknown'] as const)
      expect(uptimeOf(timeline([state, 0, 10_000]), WINDOW).ratio).toBeNull();
    expect(uptimeOf([], WINDOW)).toMatchObject({ ratio: null, coverageRatio: 0 });
  });

  it('is empty for an empty or backward window', () => {
    for (const to of [5_000, 4_000]) {
      const uptime = uptimeOf(timeline(['major_outage', 0, 10_000]), {
        from: toEpochMs(5_000),
        to: toEpochMs(to),
      });
      expect(uptime).toMatchObject({ windowMs: 0, downMs: 0, ratio: null, coverageRatio: 0 });
    }
  });

  it('is exactly 1 only when nothing was down, not even for a millisecond in a year', () => {
    const year = 365 * DAY_MS;
    const window = { from: toEpochMs(0), to: toEpochMs(year) };
    expect(uptimeOf(timeline(['operational', 0, year]), window).ratio).toBe(1);
    for (const state of ['major_outage', 'partial_outage'] as const) {
      const ratio = uptimeOf(timeline(['operational', 0, year - 1], [state, year - 1, year]), window).ratio;
      expect(ratio).toBeLessThan(1);
    }
  });

  it('needs a hundredth of the window to be observed', () => {
    const seen = (ms: number) => uptimeOf(timeline(['operational', 0, ms]), WINDOW);
    expect([seen(99).ratio, seen(99).ratioWithMaintenance, seen(100).ratio]).toEqual([null, null, 1]);
  });

  it('takes nothing that was only reported for an observation', () => {
    const reported = (state: State, from: number, to: number): TimelineSpan[] =>
      timeline([state, from, to]).map((span) => ({ ...span, isUnseen: true }));
    const outage = reported('major_outage', 0, 4_000);
    expect(uptimeOf(outage, WINDOW)).toMatchObject({ ratio: null, seenMs: 0, downMs: 4_000, coverageRatio: 0.4 });
    expect(uptimeOf([...outage, ...reported('maintenance', 4_000, 9_000)], WINDOW).ratio).toBeNull();
    expect(uptimeOf([...outage, ...timeline(['operational', 9_000, 10_000])], WINDOW).ratio).toBe(0.2);
  });

  it('counts what the time line does not reach as unknown', () => {
    const uptime = uptimeOf(timeline(['operational', 2_000, 4_000]), WINDOW);
    expect(uptime).toMatchObject({ ratio: 1, coverageRatio: 0.2 });
  });
});

describe('uptimePeriods', () => {
  it('measures each period back from now, in days of 24 hours', () => {
    const now = toEpochMs(400 * DAY_MS);
    // An outage of 12 hours, just outside of the last 30 days.
    const to = now - 30 * DAY_MS;
    const line = timeline(
      ['operational', now - 100 * DAY_MS, to - 12 * HOUR_MS],
      ['major_outage', to - 12 * HOUR_MS, to],
      ['operational', to, now],
    );
    const periods = uptimePeriods(line, now);
    expect([periods['24h'].ratio, periods['7d'].ratio, periods['30d'].ratio]).toEqual([1, 1, 1]);
    expect(periods['90d'].ratio).toBe(1 - 0.5 / 90);
    expect(periods['365d'].ratio).toBe(1 - 0.5 / 100);
    expect(periods['365d'].coverageRatio).toBe(100 / 365);
    expect(windowOf('7d', now)).toEqual({ from: now - 7 * DAY_MS, to: now });
  });

  it('is, in each period, what that window has by itself, wherever the time line begins and ends', () => {
    const random = randomOf(365);
    for (let round = 0; round < 200 * TEST_SCALE; round += 1) {
      const days = 1 + Math.floor(random() * 500);
      const window = { from: toEpochMs(DAY_MS), to: toEpochMs((1 + days) * DAY_MS) };
      const line = timelineOf(randomHistory(random, window), window);
      const now = toEpochMs(window.to + Math.floor((random() - 0.3) * 20 * DAY_MS));
      const alone = Object.fromEntries(PERIODS.map((period) => [period, uptimeOf(line, windowOf(period, now))]));
      expect(uptimePeriods(line, now)).toEqual(alone);
    }
  });
});

describe('combinedUptime', () => {
  it('weighs each component by the time that counts in it', () => {
    const old = lasting({ operational: 89 * DAY_MS, major_outage: DAY_MS });
    const fresh = lasting({ major_outage: DAY_MS, unknown: 89 * DAY_MS });
    const combined = combinedUptime([old, fresh]);
    expect(combined.ratio).toBeCloseTo(((89 / 90) * 90 + 0 * 1) / 91, 14);
    expect(combined.coverageRatio).toBe(91 / 180);
  });

  it('is null for no components and for components of which nothing is known', () => {
    expect(combinedUptime([]).ratio).toBeNull();
    expect(combinedUptime([lasting({ unknown: DAY_MS })]).ratio).toBeNull();
  });
});

describe('properties', () => {
  const runs = { seed: 5, numRuns: Math.ceil(1_000 * TEST_SCALE) };
  const anySeed = fc.integer({ min: 1, max: 1e9 });

  function lineOf(seed: number) {
    const window = { from: toEpochMs(0), to: toEpochMs(5 * DAY_MS) };
    return { window, line: timelineOf(randomHistory(randomOf(seed), window), window) };
  }

  it('a span made worse never raises uptime', () => {
    const chain: readonly State[] = ['operational', 'degraded', 'partial_outage', 'major_outage'];
    fc.assert(
      fc.property(anySeed, fc.nat(), fc.integer({ min: 1, max: 3 }), (seed, pick, step) => {
        const { window, line } = lineOf(seed);
        const index = pick % line.length;
        const piece = line[index] as TimelineSpan;
        // What did not count becomes an outage; what did becomes up to three steps worse.
        const at = chain.indexOf(piece.state);
        const worse = line.with(index, { ...piece, state: chain[at < 0 ? 3 : Math.min(3, at + step)] ?? 'unknown' });
        const [before, after] = [uptimeOf(line, window).ratio, uptimeOf(worse, window).ratio];
        if (before !== null) expect(after ?? 2).toBeLessThanOrEqual(before);
      }),
      runs,
    );
  });

  it('a window split anywhere adds up', () => {
    fc.assert(
      fc.property(anySeed, fc.integer({ min: 0, max: 5 * DAY_MS }), (seed, cut) => {
        const { window, line } = lineOf(seed);
        const parts = [
          uptimeOf(line, { from: window.from, to: toEpochMs(cut) }),
          uptimeOf(line, { from: toEpochMs(cut), to: window.to }),
        ];
        expect(combinedUptime(parts)).toEqual(uptimeOf(line, window));
      }),
      runs,
    );
  });

  it('the parts of a figure add up to its window, and shares stay between 0 and 1', () => {
    fc.assert(
      fc.property(anySeed, (seed) => {
        const { window, line } = lineOf(seed);
        const uptime = uptimeOf(line, window);
        expect(STATES.reduce((sum, state) => sum + uptime.msByState[state], 0)).toBe(uptime.windowMs);
        expect(STATES.reduce((sum, state) => sum + uptime.countedMsByState[state], 0)).toBe(uptime.windowMs);
        expect(uptime.windowMs).toBe(window.to - window.from);
        for (const share of [uptime.ratio ?? 0, uptime.coverageRatio]) {
          expect(share).toBeGreaterThanOrEqual(0);
          expect(share).toBeLessThanOrEqual(1);
        }
      }),
      runs,
    );
  });
});
