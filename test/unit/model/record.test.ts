import { describe, expect, it } from 'vitest';
import { type MonitorId, toMonitorId } from '../../../src/model/observation.ts';
import type { Span, TimelineSpan } from '../../../src/model/overlap.ts';
import type { State } from '../../../src/model/state.ts';
import { DAY_MS, type EpochMs, HOUR_MS, type Interval, MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import { cutTimeline, type PassRecord, recordPass, type Sighting, timelineOf } from '../../../src/model/timeline.ts';
import { integerBelow, pickOne, randomOf, shuffled, TEST_SCALE } from './random-history.ts';

const A = toMonitorId('edge', 1);
const B = toMonitorId('edge', 2);
const SILENCE_MS = 2 * MINUTE_MS;
const START = 1_790_000_000_000;

interface Row {
  readonly monitor: MonitorId;
  readonly from: EpochMs;
  to: EpochMs | null;
  state: State;
}

/** The least that any store does with a record: open spans last to the last answer. */
class Rows {
  readonly rows: Row[] = [];
  readonly states = new Map<MonitorId, State>();
  lastAt: EpochMs | null = null;

  pass(at: number, seen: readonly Sighting[]): PassRecord {
    if (this.lastAt !== null && at < this.lastAt) this.#cut(toEpochMs(at));
    const { lastAt, states: lastStates } = this;
    const record = recordPass({ at: toEpochMs(at), lastAt, lastStates, seen, silenceMs: SILENCE_MS });
    if (record.continuity === 'broken') {
      for (const id of [...this.states.keys()]) this.#close(id, lastAt ?? record.at);
      for (const { id, state } of seen) this.#open(id, record.at, state);
    }
    for (const change of record.spanChanges) {
      this.#close(change.monitor, change.at);
      if (change.state !== null) this.#open(change.monitor, change.at, change.state);
    }
    this.lastAt = record.at;
    return record;
  }

  spansOf(monitor: MonitorId): Span[] {
    return this.rows
      .filter((row) => row.monitor === monitor)
      .map(({ state, from, to }) => ({ state, from, to: to ?? (this.lastAt as EpochMs) }));
  }

  timelineOf(monitor: MonitorId, window: Interval): TimelineSpan[] {
    return timelineOf({ observed: this.spansOf(monitor), reported: [], outages: [], maintenances: [] }, window);
  }

  /** As a store does when the clock was set back. */
  #cut(now: EpochMs): void {
    const kept = this.rows.filter(({ from, to }) => from < now || to === null);
    this.rows.splice(
      0,
      this.rows.length,
      ...kept.map((row) => ({
        ...row,
        from: toEpochMs(Math.min(row.from, now)),
        to: row.to === null ? null : toEpochMs(Math.min(row.to, now)),
      })),
    );
    this.lastAt = now;
  }

  #open(monitor: MonitorId, from: EpochMs, state: State): void {
    this.rows.push({ monitor, from, to: null, state });
    this.states.set(monitor, state);
  }

  #close(monitor: MonitorId, to: EpochMs): void {
    for (const row of this.rows) if (row.monitor === monitor && row.to === null) row.to = to;
    this.states.delete(monitor);
  }
}

function drawn(rows: Rows, monitor: MonitorId, untilMs: number): string[] {
  const window = { from: toEpochMs(START), to: toEpochMs(START + untilMs) };
  return rows
    .timelineOf(monitor, window)
    .map(({ state, from, to }) => `${state} ${(from - START) / 1_000}–${(to - START) / 1_000}`);
}

/** Passes at seconds after the start, each with the state that A is seen in, perhaps with the second it changed at. */
function watch(...passes: readonly (readonly [seconds: number, state: State, changedAt?: number])[]): Rows {
  const rows = new Rows();
  for (const [seconds, state, changed] of passes)
    rows.pass(START + seconds * 1_000, [
      { id: A, state, changedAt: changed === undefined ? null : toEpochMs(START + changed * 1_000) },
    ]);
  return rows;
}

describe('recordPass', () => {
  it('lets a state go on from pass to pass without writing anything', () => {
    const rows = watch([0, 'operational'], [60, 'operational'], [120, 'operational']);
    expect(rows.rows).toHaveLength(1);
    expect(drawn(rows, A, 180_000)).toEqual(['operational 0–120', 'unknown 120–180']);
  });

  it('takes a change at the pass that saw it', () => {
    const rows = watch([0, 'operational'], [60, 'major_outage'], [120, 'operational']);
    expect(drawn(rows, A, 120_000)).toEqual(['operational 0–60', 'major_outage 60–120']);
  });

  it('takes a change when the upstream says it was, if that lies between the two passes', () => {
    expect(drawn(watch([0, 'operational'], [60, 'major_outage', 15], [120, 'major_outage', 15]), A, 120_000)).toEqual([
      'operational 0–15',
      'major_outage 15–120',
    ]);
    for (const changed of [-5, 61, 9e9])
      expect(drawn(watch([0, 'operational'], [60, 'major_outage', changed], [90, 'major_outage']), A, 90_000)).toEqual([
        'operational 0–60',
        'major_outage 60–90',
      ]);
  });

  it('leaves a silence unknown, whatever the states before and after and whatever the upstream says', () => {
    for (const state of ['operational', 'major_outage'] as const)
      expect(drawn(watch([0, 'operational'], [60, 'operational'], [181, state, 70], [200, state]), A, 200_000)).toEqual(
        ['operational 0–60', 'unknown 60–181', `${state} 181–200`],
      );
  });

  it('takes exactly the silence as continuous', () => {
    expect(drawn(watch([0, 'operational'], [120, 'operational']), A, 120_000)).toEqual(['operational 0–120']);
  });

  it('begins a span for a new monitor and ends that of one no longer listed', () => {
    const rows = new Rows();
    rows.pass(START, [{ id: A, state: 'operational' }]);
    rows.pass(START + 60_000, [
      { id: A, state: 'operational' },
      { id: B, state: 'degraded', changedAt: toEpochMs(START + 1_000) },
    ]);
    rows.pass(START + 120_000, [{ id: B, state: 'degraded' }]);
    rows.pass(START + 180_000, [{ id: B, state: 'degraded' }]);
    expect(drawn(rows, A, 180_000)).toEqual(['operational 0–120', 'unknown 120–180']);
    expect(drawn(rows, B, 180_000)).toEqual(['unknown 0–60', 'degraded 60–180']);
  });

  it('believes the worse of a monitor listed twice, in either order, and ends no other', () => {
    const twice: readonly Sighting[] = [
      { id: A, state: 'operational' },
      { id: A, state: 'major_outage' },
    ];
    for (const seen of [twice, twice.toReversed()]) {
      const lastStates = new Map<MonitorId, State>([
        [A, 'operational'],
        [B, 'operational'],
      ]);
      const at = toEpochMs(START + 1_000);
      const record = recordPass({ at, lastAt: toEpochMs(START), lastStates, seen, silenceMs: SILENCE_MS });
      expect(record.spanChanges).toEqual([
        { monitor: A, at, state: 'major_outage' },
        { monitor: B, at, state: null },
      ]);
    }
  });

  it('does not depend on the order of what was seen', () => {
    const random = randomOf(3);
    const states: readonly State[] = ['operational', 'degraded', 'major_outage'];
    const seen = Array.from({ length: 50 }, (_, index) => ({
      id: toMonitorId('edge', index % 40),
      state: pickOne(random, states),
    }));
    const lastStates = new Map(seen.slice(0, 45).map(({ id }) => [id, pickOne(random, states)]));
    const pass = { at: toEpochMs(START + 1), lastAt: toEpochMs(START), lastStates, silenceMs: SILENCE_MS };
    const sorted = (record: PassRecord) => record.spanChanges.toSorted((a, b) => (a.monitor < b.monitor ? -1 : 1));
    const expected = sorted(recordPass({ ...pass, seen }));
    expect(expected.length).toBeGreaterThan(10);
    for (let run = 0; run < 20; run += 1)
      expect(sorted(recordPass({ ...pass, seen: shuffled(random, seen) }))).toEqual(expected);
  });
});

describe('a clock that jumps', () => {
  it('back by a little ends there what was recorded for later', () => {
    const rows = watch([0, 'operational'], [60, 'operational'], [59, 'major_outage'], [120, 'major_outage']);
    expect(drawn(rows, A, 120_000)).toEqual(['operational 0–59', 'major_outage 59–120']);
  });

  it('ahead and right again loses none of the day between, and never hides an outage behind what it dreamt', () => {
    const day = DAY_MS / 1_000;
    const rows = new Rows();
    const pass = (seconds: number, state: State) => rows.pass(START + seconds * 1_000, [{ id: A, state }]);
    pass(0, 'operational');
    pass(day, 'operational');
    pass(day + 60, 'operational');
    for (let seconds = 60; seconds <= day + 60; seconds += 60)
      pass(seconds, seconds > day - 60 ? 'major_outage' : 'operational');
    expect(drawn(rows, A, (day + 60) * 1_000)).toEqual([
      'unknown 0–60',
      `operational 60–${day}`,
      `major_outage ${day}–${day + 60}`,
    ]);
  });

  it('back and right again loses what was recorded after the time that it showed, and says nothing false of it', () => {
    const rows = watch([0, 'operational'], [60, 'major_outage'], [120, 'operational'], [180, 'operational']);
    rows.pass(START - HOUR_MS, [{ id: A, state: 'operational' }]);
    rows.pass(START + 240_000, [{ id: A, state: 'operational' }]);
    rows.pass(START + 300_000, [{ id: A, state: 'operational' }]);
    expect(drawn(rows, A, 300_000)).toEqual(['unknown 0–240', 'operational 240–300']);
  });

  it('at 1,000 points by ±1 h, ±1 d and steps of the time service never shows a backward span, the future, or anything else of the past', () => {
    const jumps = [HOUR_MS, -HOUR_MS, DAY_MS, -DAY_MS, 500, -500, 90_000, -90_000];
    const wide = { from: toEpochMs(START - 40 * DAY_MS), to: toEpochMs(START + 40 * DAY_MS) };
    const worlds = Math.ceil(50 * TEST_SCALE);
    let jumpsTotal = 0;
    for (let seed = 1; seed <= worlds; seed += 1) {
      const random = randomOf(seed);
      const rows = new Rows();
      let trueAt = START;
      let wrongBy = 0;
      let state: State = 'operational';
      let before: TimelineSpan[] = [];
      for (let pass = 0; pass < 200; pass += 1) {
        trueAt += MINUTE_MS;
        if (pass % 10 === 5) {
          jumpsTotal += 1;
          wrongBy = wrongBy === 0 || random() < 0.3 ? wrongBy + pickOne(random, jumps) : 0;
        }
        if (random() < 0.2) state = pickOne(random, ['operational', 'degraded', 'major_outage'] as const);
        const changedAt = random() < 0.5 ? toEpochMs(trueAt - integerBelow(random, 2 * MINUTE_MS)) : null;
        const { lastAt } = rows;
        const { at } = rows.pass(trueAt + wrongBy, [{ id: A, state, changedAt }]);

        for (const row of rows.rows) {
          expect(row.from, `seed ${seed} pass ${pass}`).toBeLessThanOrEqual(row.to ?? at);
          expect(row.to ?? at, `seed ${seed} pass ${pass}`).toBeLessThanOrEqual(at);
        }
        const after = rows.timelineOf(A, wide);
        // What an upstream says to have begun before its last answer is known now.
        const until = toEpochMs(Math.min(at, lastAt ?? at));
        for (const known of cutTimeline(before, { from: wide.from, to: until }).filter(
          ({ state }) => state !== 'unknown',
        ))
          for (const piece of cutTimeline(after, known))
            expect(piece.state, `seed ${seed} pass ${pass}`).toBe(known.state);
        before = after;
      }
    }
    expect(jumpsTotal).toBe(worlds * 20);
  });

  it('loses, of the time in which it was right, only the pass at each jump, if it was ahead', () => {
    for (let seed = 1; seed <= Math.ceil(20 * TEST_SCALE); seed += 1) {
      const random = randomOf(seed);
      const rows = new Rows();
      const wrongFrom = 20 + integerBelow(random, 50);
      const wrongTo = wrongFrom + 1 + integerBelow(random, 20);
      const jump = pickOne(random, [HOUR_MS, DAY_MS]);
      for (let pass = 0; pass < 200; pass += 1) {
        const isWrong = pass >= wrongFrom && pass < wrongTo;
        rows.pass(START + pass * MINUTE_MS + (isWrong ? jump : 0), [{ id: A, state: 'operational' }]);
      }
      for (const [from, to] of [
        [0, wrongFrom - 1],
        [wrongTo, 199],
      ] as const) {
        const window = { from: toEpochMs(START + from * MINUTE_MS), to: toEpochMs(START + to * MINUTE_MS) };
        expect(rows.timelineOf(A, window).map((piece) => piece.state)).toEqual(['operational']);
      }
    }
  });
});
