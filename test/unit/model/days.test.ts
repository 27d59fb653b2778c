import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DayCell, dayCells, presentColour } from '../../../src/model/days.ts';
import type { History, Span } from '../../../src/model/overlap.ts';
import { STATES, type State } from '../../../src/model/state.ts';
import {
  addDays,
  DAY_MS,
  type Day,
  daysUntil,
  HOUR_MS,
  intervalOfDay,
  MINUTE_MS,
  SECOND_MS,
  startOfDay,
  toEpochMs,
} from '../../../src/model/time.ts';
import { timelineOf } from '../../../src/model/timeline.ts';
import { uptimeOf } from '../../../src/model/uptime.ts';
import { piecesOf } from './oracle.ts';
import { integerBelow, pickOne, randomHistory, randomOf, TEST_SCALE } from './random-history.ts';

const DAY = '2026-11-20' as Day;
const START = startOfDay(DAY, 'UTC');
const LATER = toEpochMs(START + 10 * DAY_MS);

/** One UTC day filled with stretches one after the other, the rest unknown; looked at when it is over. */
function cellOf(stretches: readonly (readonly [State, number])[], elapsedMs = DAY_MS): DayCell {
  let at: number = START;
  const observed = stretches.map(([state, ms]): Span => {
    const from = toEpochMs(at);
    at += ms;
    return { state, from, to: toEpochMs(at) };
  });
  const [cell] = dayCells(timelineOf(historyOf({ observed }), intervalOfDay(DAY, 'UTC')), [DAY], {
    zone: 'UTC',
    now: toEpochMs(START + elapsedMs),
  });
  return cell as DayCell;
}

function historyOf(history: Partial<History>): History {
  return { observed: [], reported: [], outages: [], maintenances: [], ...history };
}

describe('the colour of a day', () => {
  const rest = (ms: number): readonly [State, number] => ['operational', DAY_MS - ms];

  it.each<[string, readonly (readonly [State, number])[], State, boolean]>([
    ['nothing known is unknown, never green', [], 'unknown', false],
    ['wholly operational is operational', [rest(0)], 'operational', false],
    ['an outage of a minute is a blip', [['major_outage', MINUTE_MS], rest(MINUTE_MS)], 'operational', true],
    ['a millisecond more colours it', [['major_outage', MINUTE_MS + 1], rest(MINUTE_MS + 1)], 'major_outage', false],
    [
      'two blips that sum up to more colour it',
      [['major_outage', 40_000], ['operational', HOUR_MS], ['major_outage', 40_000], rest(2 * HOUR_MS)],
      'major_outage',
      false,
    ],
    [
      'trouble of two kinds counts for the milder',
      [['major_outage', 40_000], ['degraded', 40_000], rest(80_000)],
      'degraded',
      true,
    ],
    [
      'a partial outage is worse than degraded',
      [['partial_outage', HOUR_MS], ['degraded', 9 * HOUR_MS], rest(10 * HOUR_MS)],
      'partial_outage',
      false,
    ],
    ['an outage shows through a day we hardly know', [['major_outage', 2 * MINUTE_MS]], 'major_outage', false],
    ['an outage that is all we know is no blip', [['major_outage', 5 * SECOND_MS]], 'major_outage', false],
    ['maintenance shows', [['maintenance', HOUR_MS], rest(HOUR_MS)], 'maintenance', false],
    [
      'maintenance never hides an outage outside of it',
      [
        ['maintenance', 20 * HOUR_MS],
        ['major_outage', HOUR_MS],
        ['operational', 3 * HOUR_MS],
      ],
      'major_outage',
      false,
    ],
    ['half known and good is operational', [['operational', DAY_MS / 2]], 'operational', false],
    ['less than half known is unknown', [['operational', DAY_MS / 2 - 1]], 'unknown', false],
    [
      'maintenance in a day we hardly know is unknown',
      [
        ['maintenance', HOUR_MS],
        ['operational', HOUR_MS],
      ],
      'unknown',
      false,
    ],
    [
      'mostly paused is paused',
      [
        ['operational', HOUR_MS],
        ['paused', 23 * HOUR_MS],
      ],
      'paused',
      false,
    ],
    ['paused for an hour is operational', [['paused', HOUR_MS], rest(HOUR_MS)], 'operational', false],
    [
      'more unknown than paused is unknown',
      [
        ['operational', 11 * HOUR_MS],
        ['paused', 6 * HOUR_MS],
      ],
      'unknown',
      false,
    ],
  ])('%s', (_claim, stretches, state, hadBlip) => {
    const cell = cellOf(stretches);
    expect([cell.state, cell.hadBlip]).toEqual([state, hadBlip]);
  });

  it('is not green in the first seconds of a day that began with an outage', () => {
    expect(cellOf([['major_outage', 20_000]], 20_000).state).toBe('major_outage');
    expect(cellOf([['maintenance', 20_000]], 20_000).state).toBe('maintenance');
    expect(cellOf([['paused', 20_000]], 20_000).state).toBe('paused');
  });

  describe('that is not over', () => {
    const MORNING = 9 * HOUR_MS;
    const until = (state: State, ms: number) =>
      cellOf(
        [
          ['operational', MORNING],
          [state, ms + 1],
        ],
        MORNING + ms,
      );

    it.each<State>(['major_outage', 'partial_outage', 'degraded', 'maintenance'])(
      'is that of %s from its first millisecond on',
      (state) => {
        for (const ms of [0, 1, 5 * SECOND_MS, MINUTE_MS, HOUR_MS])
          expect(until(state, ms)).toMatchObject({ state, hadBlip: false });
      },
    );

    it('turns green with a mark when a short outage is over', () => {
      const cell = cellOf(
        [
          ['operational', MORNING],
          ['major_outage', 20_000],
          ['operational', HOUR_MS],
        ],
        MORNING + HOUR_MS,
      );
      expect(cell).toMatchObject({ state: 'operational', hadBlip: true });
    });
  });

  it('changes by itself when it says so, and not before', () => {
    const random = randomOf(77);
    let changes = 0;
    for (let round = 0; round < 300 * TEST_SCALE; round += 1) {
      // Days that began a while ago have made up their mind.
      const window = { from: START, to: toEpochMs(START + 1 + Math.floor(random() ** 4 * DAY_MS)) };
      // Cut where it is looked at, so that what goes on there goes on.
      const line = timelineOf(randomHistory(random, window), { ...window, to: toEpochMs(window.to + 1) });
      const goesOn = [...line.slice(0, -1), ...line.slice(-1).map((span) => ({ ...span, to: LATER }))];
      const now = toEpochMs(window.to);
      const at = (ms: number) => presentColour(goesOn, { zone: 'UTC', now: toEpochMs(now + ms) });
      const { state, hadBlip, changesAt } = at(0);
      const end = Math.min(START + DAY_MS, changesAt ?? LATER) - now;
      for (const ms of [1, end / 2, end - 1].map(Math.floor))
        if (ms > 0 && ms < end) expect(at(ms)).toMatchObject({ state, hadBlip, changesAt });
      if (changesAt === null) continue;
      changes += 1;
      expect(at(changesAt - now).state).not.toBe(state);
    }
    expect(changes).toBeGreaterThan(10 * Math.min(1, TEST_SCALE));
  });

  it('follows the floor it is given', () => {
    const timeline = timelineOf(
      historyOf({
        observed: [{ state: 'operational', from: START, to: LATER }],
        outages: [{ from: START, to: toEpochMs(START + 5_000) }],
      }),
      intervalOfDay(DAY, 'UTC'),
    );
    const colours = [0, 4_999, 5_000].map(
      (blipFloorMs) => dayCells(timeline, [DAY], { zone: 'UTC', now: LATER, blipFloorMs })[0],
    );
    expect(colours.map((cell) => [cell?.state, cell?.hadBlip])).toEqual([
      ['major_outage', false],
      ['major_outage', false],
      ['operational', true],
    ]);
  });

  it('never gets better by more trouble, in place of whatever was there', () => {
    const share = fc.oneof(fc.integer({ min: 0, max: 200_000 }), fc.integer({ min: 0, max: DAY_MS / 4 }));
    const shares = fc.record(Object.fromEntries(STATES.map((state) => [state, share])) as Record<State, typeof share>);
    const chain = [
      'paused',
      'unknown',
      'maintenance',
      'operational',
      'degraded',
      'partial_outage',
      'major_outage',
    ] as const;
    const rank = (cell: DayCell) => Math.max(3, chain.indexOf(cell.state as (typeof chain)[number]));
    fc.assert(
      fc.property(
        shares,
        fc.nat(6),
        fc.integer({ min: 4, max: 6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (ms, fromIndex, toIndex, part) => {
          const from = chain[Math.min(fromIndex, toIndex - 1)] ?? 'unknown';
          const to = chain[toIndex] ?? 'major_outage';
          const moved = Math.floor(ms[from] * part);
          const worse = { ...ms, [from]: ms[from] - moved, [to]: ms[to] + moved };
          const total = Object.values(ms).reduce((sum, each) => sum + each, 0);
          const [before, after] = [ms, worse].map((each) =>
            cellOf(
              STATES.map((state) => [state, each[state]]),
              total,
            ),
          );
          if (before === undefined || after === undefined) return;
          expect(rank(after)).toBeGreaterThanOrEqual(rank(before));
          if (before.state === 'unknown' || before.state === 'paused') expect(after.state).not.toBe('operational');
        },
      ),
      { seed: 11, numRuns: Math.ceil(2_000 * TEST_SCALE) },
    );
  });
});

describe('cells', () => {
  it('end today at now and are empty for days to come', () => {
    const now = toEpochMs(START + 6 * HOUR_MS);
    const observed: Span[] = [{ state: 'operational', from: toEpochMs(START + 3 * HOUR_MS), to: now }];
    const maintenances = [{ from: toEpochMs(START + 5 * HOUR_MS), to: toEpochMs(START + 3 * DAY_MS) }];
    const timeline = timelineOf(historyOf({ observed, maintenances }), { from: START, to: LATER });
    const [today, tomorrow] = dayCells(timeline, [DAY, addDays(DAY, 1)], { zone: 'UTC', now });
    expect(today?.elapsedMs).toBe(6 * HOUR_MS);
    expect(today?.interval.to).toBe(START + DAY_MS);
    expect(today?.coverageRatio).toBe(0.5);
    expect([today?.msByState.operational, today?.msByState.maintenance]).toEqual([2 * HOUR_MS, HOUR_MS]);
    expect(today?.provenances).toEqual(['observed', 'maintenance']);
    expect(tomorrow).toMatchObject({
      state: 'unknown',
      elapsedMs: 0,
      coverageRatio: 0,
      hadBlip: false,
      provenances: [],
    });
    expect(Object.values(tomorrow?.msByState ?? { none: 1 }).every((ms) => ms === 0)).toBe(true);
  });

  it('share an outage over midnight between both days', () => {
    const outages = [{ from: toEpochMs(START + DAY_MS - 90_000), to: toEpochMs(START + DAY_MS + 30_000) }];
    const observed: Span[] = [{ state: 'operational', from: START, to: LATER }];
    const timeline = timelineOf(historyOf({ observed, outages }), { from: START, to: LATER });
    const cells = dayCells(timeline, [DAY, addDays(DAY, 1)], { zone: 'UTC', now: LATER });
    expect(cells.map((cell) => [cell.msByState.major_outage, cell.state, cell.hadBlip])).toEqual([
      [90_000, 'major_outage', false],
      [30_000, 'operational', true],
    ]);
  });

  it.each([
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2026-11-01', 25],
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
    ['Pacific/Chatham', '2026-09-27', 23],
    ['Pacific/Chatham', '2026-04-05', 25],
    ['Antarctica/Troll', '2026-03-29', 22],
    ['Antarctica/Troll', '2026-10-25', 26],
    ['America/Sao_Paulo', '2018-11-04', 23],
    ['America/Sao_Paulo', '2018-02-17', 25],
    ['Asia/Beirut', '2026-03-29', 23],
    ['Asia/Beirut', '2026-10-24', 25],
    ['Africa/Cairo', '2026-04-24', 23],
    ['Africa/Cairo', '2026-10-29', 25],
  ])('in %s count %s as %d hours, and an hour of outage as one of them', (zone, text, hours) => {
    const day = text as Day;
    const interval = intervalOfDay(day, zone);
    const window = { from: toEpochMs(interval.from - DAY_MS), to: toEpochMs(interval.to + DAY_MS) };
    // The last hour of the day: over the change, whichever way it goes, and up to the next midnight.
    const outages = [{ from: toEpochMs(interval.to - HOUR_MS), to: interval.to }];
    const timeline = timelineOf(historyOf({ observed: [{ state: 'operational', ...window }], outages }), window);
    const cells = dayCells(timeline, [addDays(day, -1), day, addDays(day, 1)], { zone, now: LATER });
    expect(cells.map((cell) => cell.msByState.major_outage / HOUR_MS)).toEqual([0, 1, 0]);
    expect((cells[1]?.elapsedMs ?? 0) / HOUR_MS).toBe(hours);
    expect(uptimeOf(timeline, interval).ratio).toBeCloseTo((hours - 1) / hours, 12);
  });
});

describe('against an oracle that shares no code', () => {
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'America/Sao_Paulo',
    'Asia/Beirut',
    'Africa/Cairo',
    'Antarctica/Troll',
  ];
  const count = Math.ceil(100 * TEST_SCALE);

  it(`agrees with a brute force by the minute, which asks Temporal for the date of each, over ${count} histories`, () => {
    for (let seed = 1; seed <= count; seed += 1) {
      const random = randomOf(seed);
      const zone = pickOne(random, zones);
      // Around a change of the clock, as often as not.
      const year = zone === 'America/Sao_Paulo' ? 2018 : 2026;
      const first = Temporal.PlainDate.from({ year, month: 1, day: 1 }).toZonedDateTime(zone);
      const change = first.getTimeZoneTransition('next')?.epochMilliseconds ?? first.epochMilliseconds;
      const from = toEpochMs(change - integerBelow(random, 2 * DAY_MS));
      const window = { from, to: toEpochMs(from + HOUR_MS + integerBelow(random, 2 * DAY_MS)) };
      const history = randomHistory(random, window);
      const sums = new Map<string, number>();
      const dates: { from: number; date: string }[] = [];
      for (const piece of piecesOf(history, window, MINUTE_MS)) {
        // Windows begin at any millisecond, so a cell may hold a midnight; no zone changes days within a minute of UTC.
        const middle = Math.floor(piece.to / MINUTE_MS) * MINUTE_MS;
        const parts =
          middle > piece.from && middle < piece.to ? [piece.from, middle, piece.to] : [piece.from, piece.to];
        for (let index = 1; index < parts.length; index += 1) {
          const [start, end] = [parts[index - 1] ?? 0, parts[index] ?? 0];
          const minute = Math.floor(start / MINUTE_MS) * MINUTE_MS;
          if (dates.at(-1)?.from !== minute)
            dates.push({
              from: minute,
              date: Temporal.Instant.fromEpochMilliseconds(minute).toZonedDateTimeISO(zone).toPlainDate().toString(),
            });
          const key = `${dates.at(-1)?.date} ${piece.state}`;
          sums.set(key, (sums.get(key) ?? 0) + end - start);
        }
      }
      const days = [...new Set(dates.map(({ date }) => date))] as Day[];
      const cells = dayCells(timelineOf(history, window), days, { zone, now: window.to });
      for (const cell of cells)
        for (const state of STATES) {
          if (state === 'unknown') continue;
          expect(cell.msByState[state], `seed ${seed} ${zone} ${cell.day} ${state}`).toBe(
            sums.get(`${cell.day} ${state}`) ?? 0,
          );
        }
    }
  });

  it('adds up to the window, whatever the zone', () => {
    for (const zone of zones) {
      const random = randomOf(zone.length);
      const days = daysUntil('2026-11-20' as Day, 400);
      const window = { from: startOfDay(days[0] ?? DAY, zone), to: toEpochMs(startOfDay('2026-11-21' as Day, zone)) };
      const timeline = timelineOf(randomHistory(random, window), window);
      const cells = dayCells(timeline, days, { zone, now: window.to });
      const whole = uptimeOf(timeline, window).msByState;
      for (const state of STATES)
        expect(cells.reduce((sum, cell) => sum + cell.msByState[state], 0)).toBe(whole[state]);
    }
  });
});

it('says of a day what its own time line says, whatever another one had on that day', () => {
  const day = addDays(DAY, -7);
  const { from, to } = intervalOfDay(day, 'UTC');
  const silent = { state: 'unknown', provenance: 'none', from, to } as const;
  // Not disjoint, as no time line of ours is.
  dayCells([silent, { ...silent, state: 'operational', provenance: 'observed' }], [day], { zone: 'UTC', now: LATER });
  const [cell] = dayCells([{ ...silent }], [day], { zone: 'UTC', now: LATER });
  expect(cell?.state).toBe('unknown');
});

it('says of a day the same in whatever list of days, from random days in one state after another', () => {
  const random = randomOf(77);
  const now = toEpochMs(LATER + HOUR_MS);
  const days = daysUntil(addDays(DAY, 10), 40);
  const window = { from: startOfDay(days[0] ?? DAY, 'UTC'), to: now };
  for (let round = 0; round < 200 * TEST_SCALE; round += 1) {
    const observed: Span[] = [];
    for (let from: number = window.from; from < now; ) {
      const to = Math.min(now, from + (1 + integerBelow(random, 12)) * 12 * HOUR_MS);
      observed.push({ state: pickOne(random, STATES), from: toEpochMs(from), to: toEpochMs(to) });
      from = to;
    }
    const timeline = timelineOf(historyOf({ observed }), window);
    const alone = days.map((day) => dayCells([...timeline], [day], { zone: 'UTC', now })[0]);
    expect(dayCells(timeline, days, { zone: 'UTC', now })).toEqual(alone);
    expect(dayCells(timeline, days.toReversed(), { zone: 'UTC', now })).toEqual(alone.toReversed());
  }
});
