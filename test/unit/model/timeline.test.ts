import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DeclaredSpan, History, Span } from '../../../src/model/overlap.ts';
import type { State } from '../../../src/model/state.ts';
import { type EpochMs, type Interval, toEpochMs } from '../../../src/model/time.ts';
import {
  cutTimeline,
  firstKnownAt,
  lastRunFrom,
  stateAt as stateOfLineAt,
  timelineOf,
} from '../../../src/model/timeline.ts';
import { uptimeOf } from '../../../src/model/uptime.ts';
import { countedAt, piecesOf, ratioOf, stateAt, sumsOf } from './oracle.ts';
import { integerBelow, randomHistory, randomOf, shuffled, TEST_SCALE } from './random-history.ts';

const WINDOW = { from: toEpochMs(0), to: toEpochMs(1_000) };
const EMPTY: History = { observed: [], reported: [], outages: [], maintenances: [] };

function span(state: State, from: number, to: number): Span {
  return { state, from: toEpochMs(from), to: toEpochMs(to) };
}

function said(state: State, from: number, to: number, isCounted = true): DeclaredSpan {
  return { ...span(state, from, to), isCounted };
}

/** As text, so that a failure reads like the rule: `operational 0–100 observed`, `degraded (operational) 0–9 declared`. */
function drawn(history: Partial<History>, window: Interval = WINDOW): string[] {
  return timelineOf({ ...EMPTY, ...history }, window).map(
    ({ state, counted, from, to, provenance, isUnseen }) =>
      `${state}${counted === undefined ? '' : ` (${counted})`} ${from}–${to} ${provenance}${isUnseen ? ' (unseen)' : ''}`,
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
      'maintenance 200–400 maintenance',
      'maintenance 400–600 maintenance (unseen)',
      'unknown 600–1000 none',
    ]);
  });

  it('takes what people declared where it is worse than what was seen, and nowhere else', () => {
    expect(
      drawn({
        observed: [span('operational', 0, 300), span('major_outage', 300, 500), span('unknown', 500, 700)],
        declared: [said('partial_outage', 100, 600)],
      }),
    ).toEqual([
      'operational 0–100 observed',
      'partial_outage 100–300 declared',
      'major_outage 300–500 observed',
      'partial_outage 500–600 declared',
      'unknown 600–700 observed',
      'unknown 700–1000 none',
    ]);
  });

  it('shows what people declared also inside a maintenance window, where what was seen was expected', () => {
    expect(
      drawn({
        observed: [span('major_outage', 0, 1_000)],
        maintenances: [span('maintenance', 200, 800)],
        declared: [said('degraded', 400, 600)],
      }),
    ).toEqual([
      'major_outage 0–200 observed',
      'maintenance 200–400 maintenance',
      'degraded 400–600 declared',
      'maintenance 600–800 maintenance',
      'major_outage 800–1000 observed',
    ]);
  });

  it('takes each stretch of a declared impact by itself, and the worse of two', () => {
    const declared = [said('degraded', 0, 400), said('major_outage', 400, 500), said('partial_outage', 300, 600)];
    expect(drawn({ observed: [span('operational', 0, 1_000)], declared })).toEqual([
      'degraded 0–300 declared',
      'partial_outage 300–400 declared',
      'major_outage 400–500 declared',
      'partial_outage 500–600 declared',
      'operational 600–1000 observed',
    ]);
  });

  it('shows an impact that does not count, and counts what lies below it', () => {
    expect(
      drawn({
        observed: [span('operational', 0, 500), span('degraded', 500, 1_000)],
        declared: [said('major_outage', 200, 700, false), said('partial_outage', 300, 400)],
      }),
    ).toEqual([
      'operational 0–200 observed',
      'major_outage (operational) 200–300 declared',
      'major_outage (partial_outage) 300–400 declared',
      'major_outage (operational) 400–500 declared',
      'major_outage (degraded) 500–700 declared',
      'degraded 700–1000 observed',
    ]);
  });

  it('counts an impact once that is declared twice, by whoever says that it counts', () => {
    const declared = [said('degraded', 0, 500, false), said('degraded', 200, 700)];
    expect(drawn({ observed: [span('operational', 0, 1_000)], declared })).toEqual([
      'degraded (operational) 0–200 declared',
      'degraded 200–700 declared',
      'operational 700–1000 observed',
    ]);
  });

  it('has a component without a monitor working while it is watched, but for what is declared of it', () => {
    expect(
      drawn({ watched: [span('unknown', 200, 800)], declared: [said('degraded', 0, 100), said('degraded', 700, 900)] }),
    ).toEqual([
      'degraded 0–100 declared (unseen)',
      'unknown 100–200 none',
      'operational 200–700 declared',
      'degraded 700–800 declared',
      'degraded 800–900 declared (unseen)',
      'unknown 900–1000 none',
    ]);
  });

  it('merges overlapping incidents into one outage', () => {
    const outages = [span('major_outage', 500, 800), span('major_outage', 100, 600), span('major_outage', 550, 560)];
    expect(drawn({ outages })).toEqual([
      'unknown 0–100 none',
      'major_outage 100–800 incident (unseen)',
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

describe('readings', () => {
  const line = timelineOf(
    {
      ...EMPTY,
      observed: [span('operational', 200, 400), span('degraded', 400, 500)],
      declared: [said('degraded', 500, 600)],
    },
    WINDOW,
  );

  it('say the state at an instant, and nothing before and after', () => {
    const at = [-1, 0, 199, 200, 399, 400, 500, 599, 600, 999, 1_000].map((ms) => stateOfLineAt(line, toEpochMs(ms)));
    expect(at.join(' ')).toBe(
      'unknown unknown unknown operational operational degraded degraded degraded unknown unknown unknown',
    );
  });

  it('say since when it is as it is, whoever says so', () => {
    expect(lastRunFrom(line)).toBe(600);
    expect(lastRunFrom(cutTimeline(line, { from: toEpochMs(0), to: toEpochMs(600) }))).toBe(400);
    expect(lastRunFrom(cutTimeline(line, { from: toEpochMs(0), to: toEpochMs(150) }))).toBeNull();
    expect(lastRunFrom([])).toBeNull();
  });

  it('take no gap for the beginning of what was seen before it', () => {
    const since = (history: Partial<History>) => lastRunFrom(timelineOf({ ...EMPTY, ...history }, WINDOW));
    const gap = [span('major_outage', 100, 300), span('major_outage', 600, 1_000)];
    expect(since({ observed: [span('operational', 0, 100), ...gap] })).toBe(100);
    expect(since({ observed: [...gap, span('unknown', 400, 500)] })).toBe(100);
    expect(since({ observed: gap.slice(1), outages: [span('major_outage', 100, 300)] })).toBe(600);
    expect(since({ observed: gap.slice(1), declared: [said('major_outage', 100, 300)] })).toBe(600);
    expect(since({ observed: [gap[0] as Span, span('degraded', 400, 500), gap[1] as Span] })).toBe(600);
    expect(since({ observed: gap.slice(0, 1) })).toBe(300);
    const twice = [span('operational', 0, 100), span('operational', 200, 300), span('operational', 900, 1_000)];
    expect(since({ observed: twice })).toBe(0);
  });

  it('say since when anything is known', () => {
    expect(firstKnownAt(line)).toBe(200);
    expect(firstKnownAt(timelineOf(EMPTY, WINDOW))).toBeNull();
  });
});

describe('against an oracle that shares no code', () => {
  const count = Math.ceil(2_000 * TEST_SCALE);

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
        const isSame = there?.state === piece.state && (there.counted ?? there.state) === piece.counted;
        if (!isSame || there.from > piece.from || there.to < piece.to)
          expect.fail(`seed ${seed}: ${JSON.stringify(piece)} against ${JSON.stringify(there)}`);
      }
      const sums = sumsOf(pieces, 'state');
      const uptime = uptimeOf(timeline, window);
      const seenMs = pieces.reduce((sum, { isSeen, from, to }) => (isSeen ? sum + to - from : sum), 0);
      expect(uptime.seenMs, `seed ${seed}: seen`).toBe(seenMs);
      const expected = seenMs * 100 < window.to - window.from ? null : ratioOf(sumsOf(pieces, 'counted'));
      if (expected === null || uptime.ratio === null) expect(uptime.ratio, `seed ${seed}`).toBe(expected);
      else expect(Math.abs(uptime.ratio - expected), `seed ${seed}`).toBeLessThanOrEqual(1e-9);
      for (const [state, ms] of sums) expect(uptime.msByState[state], `seed ${seed} ${state}`).toBe(ms);
      for (const [state, ms] of sumsOf(pieces, 'counted'))
        expect(uptime.countedMsByState[state], `seed ${seed} ${state} counted`).toBe(ms);
    }
  });

  it('agrees with a brute force by the millisecond over tiny windows', () => {
    for (let seed = 1; seed <= Math.ceil(2_000 * TEST_SCALE); seed += 1) {
      const random = randomOf(seed);
      const window = { from: toEpochMs(0), to: toEpochMs(10 + integerBelow(random, 90)) };
      const history = randomHistory(random, window);
      const states = timelineOf(history, window).flatMap((there) =>
        Array.from({ length: there.to - there.from }, () => [there.state, there.counted ?? there.state]),
      );
      const expected = Array.from({ length: window.to }, (_, at) => [stateAt(history, at), countedAt(history, at)]);
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
          const { from: _from, to: _to, ...facts } = piece;
          expect(next).not.toMatchObject({ counted: undefined, isUnseen: undefined, ...facts });
          if (piece.counted !== undefined) expect(piece.counted).not.toBe(piece.state);
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
          declared: shuffled(random, history.declared ?? []),
          watched: shuffled(random, history.watched ?? []),
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
