import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { History, Span } from '../../../src/model/span.ts';
import type { State } from '../../../src/model/state.ts';
import { type EpochMs, type Interval, toEpochMs } from '../../../src/model/time.ts';
import { cutTimeline, timelineOf } from '../../../src/model/timeline.ts';
import { uptimeOf } from '../../../src/model/uptime.ts';
import { piecesOf, ratioOf, stateAt, sumsOf } from './oracle.ts';
import { integerBelow, randomHistory, randomOf, shuffled, TEST_SCALE } from './random-history.ts';

const WINDOW = { from: toEpochMs(0), to: toEpochMs(1_000) };
const EMPTY: History = { observed: [], reported: [], outages: [], maintenances: [] };

function span(state: State, from: number, to: number): Span {
  return { state, from: toEpochMs(from), to: toEpochMs(to) };
}

/** As text, so that a failure reads like the rule: `operational 0–100 observed`. */
function drawn(history: Partial<History>, window: Interval = WINDOW): string[] {
  return timelineOf({ ...EMPTY, ...history }, window).map(
    ({ state, from, to, provenance }) => `${state} ${from}–${to} ${provenance}`,
  );
}

describe('precedence', () => {
  it('is unknown where nothing is known', () => {
    expect(drawn({})).toEqual(['unknown 0–1000 none']);
  });

  it('takes a gap between observations as unknown, never as the state before it', () => {
    expect(drawn({ observed: [span('operational', 0, 300), span('operational', 600, 1_000)] })).toEqual([
      'operational 0–300 observed',
      'unknown 300–600 none',
      'operational 600–1000 observed',
    ]);
  });

  it('takes an outage incident over an observation that missed it', () => {
    expect(drawn({ observed: [span('operational', 0, 1_000)], outages: [span('unknown', 400, 401)] })).toEqual([
      'operational 0–400 observed',
      'major_outage 400–401 incident',
      'operational 401–1000 observed',
    ]);
  });

  it('takes an observation over a report, and a report over nothing', () => {
    expect(drawn({ observed: [span('degraded', 200, 500)], reported: [span('operational', 0, 700)] })).toEqual([
      'operational 0–200 reported',
      'degraded 200–500 observed',
      'operational 500–700 reported',
      'unknown 700–1000 none',
    ]);
  });

  it('keeps what was observed as unknown or paused where a report says otherwise', () => {
    const observed = [span('unknown', 0, 400), span('paused', 400, 1_000)];
    expect(drawn({ observed, reported: [span('operational', 0, 1_000)] })).toEqual([
      'unknown 0–400 observed',
      'paused 400–1000 observed',
    ]);
  });

  it('takes a maintenance window over everything, heard or not', () => {
    expect(
      drawn({
        observed: [span('major_outage', 0, 300), span('paused', 300, 400)],
        outages: [span('major_outage', 100, 250)],
        maintenances: [span('maintenance', 200, 600)],
      }),
    ).toEqual([
      'major_outage 0–100 observed',
      'major_outage 100–200 incident',
      'maintenance 200–600 maintenance',
      'unknown 600–1000 none',
    ]);
  });

  it('merges overlapping incidents into one outage', () => {
    const outages = [span('major_outage', 500, 800), span('major_outage', 100, 600), span('major_outage', 550, 560)];
    expect(drawn({ outages })).toEqual([
      'unknown 0–100 none',
      'major_outage 100–800 incident',
      'unknown 800–1000 none',
    ]);
  });

  it('shows an incident that was told of only afterwards', () => {
    const observed = [span('operational', 0, 1_000)];
    const outages = [span('major_outage', -500, 250)];
    expect(drawn({ observed })).toEqual(['operational 0–1000 observed']);
    expect(drawn({ observed, outages })).toEqual(['major_outage 0–250 incident', 'operational 250–1000 observed']);
  });

  it('believes the worse of two observations of the same time', () => {
    const observed = [span('operational', 0, 1_000), span('major_outage', 300, 400), span('degraded', 350, 500)];
    expect(drawn({ observed })).toEqual([
      'operational 0–300 observed',
      'major_outage 300–400 observed',
      'degraded 400–500 observed',
      'operational 500–1000 observed',
    ]);
  });

  it('ignores empty and backward spans', () => {
    const observed = [span('major_outage', 500, 500), span('operational', 0, 1_000), span('major_outage', 800, 200)];
    expect(drawn({ observed, outages: [span('major_outage', 9, 9)] })).toEqual(['operational 0–1000 observed']);
  });

  it('is empty for an empty or backward window', () => {
    const history = { ...EMPTY, observed: [span('operational', 0, 1_000)] };
    expect(timelineOf(history, { from: toEpochMs(500), to: toEpochMs(500) })).toEqual([]);
    expect(timelineOf(history, { from: toEpochMs(500), to: toEpochMs(400) })).toEqual([]);
    const timeline = timelineOf(history, WINDOW);
    expect(cutTimeline(timeline, { from: toEpochMs(500), to: toEpochMs(400) })).toEqual([]);
  });
});

describe('against an oracle that shares no code', () => {
  const count = Math.ceil(10_000 * TEST_SCALE);

  it(`agrees with a brute force by the second over ${count} random histories: the state always, uptime to 1e-9`, () => {
    for (let seed = 1; seed <= count; seed += 1) {
      const random = randomOf(seed);
      // From a minute to an hour by the second, in one of ten up to four days by the minute.
      const isLong = seed % 10 === 0;
      const cellMs = isLong ? 60_000 : 1_000;
      const from = 1_790_000_000_000 + integerBelow(random, 1e9);
      const window = {
        from: toEpochMs(from),
        to: toEpochMs(from + cellMs * 60 + integerBelow(random, cellMs * (isLong ? 5_700 : 3_540))),
      };
      const history = randomHistory(random, window);
      const timeline = timelineOf(history, window);
      const pieces = piecesOf(history, window, cellMs);
      let index = 0;
      for (const piece of pieces) {
        while ((timeline[index]?.to ?? window.to) <= piece.from) index += 1;
        const there = timeline[index];
        if (there?.state !== piece.state || there.from > piece.from || there.to < piece.to)
          expect.fail(`seed ${seed}: ${JSON.stringify(piece)} against ${JSON.stringify(there)}`);
      }
      const sums = sumsOf(pieces);
      const uptime = uptimeOf(timeline, window);
      const expected = ratioOf(sums);
      if (expected === null || uptime.ratio === null) expect(uptime.ratio, `seed ${seed}`).toBe(expected);
      else expect(Math.abs(uptime.ratio - expected), `seed ${seed}`).toBeLessThanOrEqual(1e-9);
      for (const [state, ms] of sums) expect(uptime.msByState[state], `seed ${seed} ${state}`).toBe(ms);
    }
  });

  it('agrees with a brute force by the millisecond over tiny windows', () => {
    for (let seed = 1; seed <= Math.ceil(2_000 * TEST_SCALE); seed += 1) {
      const random = randomOf(seed);
      const window = { from: toEpochMs(0), to: toEpochMs(10 + integerBelow(random, 90)) };
      const history = randomHistory(random, window);
      const states = timelineOf(history, window).flatMap((there) =>
        Array.from({ length: there.to - there.from }, () => there.state),
      );
      const expected = Array.from({ length: window.to }, (_, at) => stateAt(history, at));
      expect(states, `seed ${seed}`).toEqual(expected);
    }
  });
});

describe('properties', () => {
  const runs = { seed: 4, numRuns: Math.ceil(500 * TEST_SCALE) };
  const anyCase = fc.record({ seed: fc.integer({ min: 1, max: 1e9 }), lengthMs: fc.integer({ min: 10, max: 1e8 }) });

  function caseOf({ seed, lengthMs }: { seed: number; lengthMs: number }) {
    const random = randomOf(seed);
    const window = { from: toEpochMs(5_000), to: toEpochMs(5_000 + lengthMs) };
    return { random, window, history: randomHistory(random, window) };
  }

  it('covers the window without gap, overlap or neighbours that should be one', () => {
    fc.assert(
      fc.property(anyCase, (input) => {
        const { window, history } = caseOf(input);
        const timeline = timelineOf(history, window);
        expect(timeline[0]?.from).toBe(window.from);
        expect(timeline.at(-1)?.to).toBe(window.to);
        for (const [index, piece] of timeline.entries()) {
          expect(piece.from).toBeLessThan(piece.to);
          const next = timeline[index + 1];
          if (next === undefined) continue;
          expect(next.from).toBe(piece.to);
          expect(`${next.state} ${next.provenance}`).not.toBe(`${piece.state} ${piece.provenance}`);
        }
      }),
      runs,
    );
  });

  it('does not depend on the order of what goes in, and leaves it as it was', () => {
    fc.assert(
      fc.property(anyCase, (input) => {
        const { random, window, history } = caseOf(input);
        const before = JSON.stringify(history);
        const timeline = timelineOf(history, window);
        const mixed: History = {
          observed: shuffled(random, history.observed),
          reported: shuffled(random, history.reported),
          outages: shuffled(random, history.outages),
          maintenances: shuffled(random, history.maintenances),
        };
        expect(timelineOf(mixed, window)).toEqual(timeline);
        expect(JSON.stringify(history)).toBe(before);
      }),
      runs,
    );
  });

  it('says the same of a part of the window, whether the window or the time line is cut', () => {
    fc.assert(
      fc.property(anyCase, fc.nat(), fc.nat(), (input, a, b) => {
        const { window, history } = caseOf(input);
        const cuts = [a, b].map((cut) => window.from + (cut % (window.to - window.from))).sort((x, y) => x - y);
        const part = { from: toEpochMs(cuts[0] ?? 0), to: toEpochMs(cuts[1] ?? 0) };
        expect(cutTimeline(timelineOf(history, window), part)).toEqual(timelineOf(history, part));
      }),
      runs,
    );
  });

  it('never gets better by one more outage', () => {
    fc.assert(
      fc.property(anyCase, fc.nat(), fc.nat(), (input, start, length) => {
        const { window, history } = caseOf(input);
        const from = (window.from + (start % (window.to - window.from))) as EpochMs;
        const outage = { from, to: toEpochMs(from + (length % 1e7)) };
        const before = uptimeOf(timelineOf(history, window), window).ratio;
        const after = uptimeOf(timelineOf({ ...history, outages: [...history.outages, outage] }, window), window).ratio;
        expect(after ?? 1).toBeLessThanOrEqual((before ?? 1) + 1e-12);
      }),
      runs,
    );
  });
});
