import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../../src/model/time.ts';
import { nextRunAfter, scheduleIntervalMs, startSchedules } from '../../../src/sync/schedule.ts';
import { TEST_SCALE } from '../model/random-history.ts';

const NOON = toEpochMs(Date.UTC(2026, 10, 21, 12, 0, 0));
const iso = (text: string) => toEpochMs(Date.parse(text));

describe('the interval of a schedule', () => {
  it.each([
    ['* * * * *', MINUTE_MS],
    ['*/10 * * * * *', 10 * SECOND_MS],
    ['30 * * * * *', MINUTE_MS],
    ['0,50 * * * * *', 50 * SECOND_MS],
    ['*/7 * * * *', 7 * MINUTE_MS],
    ['5,4 * * * *', 59 * MINUTE_MS],
    ['0 */6 * * *', 6 * HOUR_MS],
    ['0 9-17 * * 1-5', 64 * HOUR_MS],
    ['0 22-3 * * *', 19 * HOUR_MS],
    ['0 0 * * Monday', 7 * DAY_MS],
    ['0 0 * * 5#2', 35 * DAY_MS],
    ['* * * * * *', SECOND_MS],
    ['0 0 L * *', 31 * DAY_MS],
    ['0 0 1 1 *', 366 * DAY_MS],
  ])('%s is its longest gap', (expression, expected) => {
    expect(scheduleIntervalMs(expression)).toBe(expected);
  });

  it.each([
    '',
    '* * *',
    '* * * * * * *',
    '@daily',
    '2026-11-21T12:00:00Z',
    'x * * * *',
    '61 * * * *',
    '* * * * x',
    '*/0 * * * *',
    '5- * * * *',
    '0 0 30 2 *',
    '0 0 29 2 *',
  ])('%s is a fault of the configuration', (expression) => {
    expect(() => scheduleIntervalMs(expression)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(`"${expression}"`) }),
    );
  });
});

describe('an expression of lists', () => {
  const lists = fc.record({
    seconds: few(60, 3),
    minutes: fewOrAll(60),
    hours: fewOrAll(24),
    weekdays: fewOrAll(7),
  });

  it('names the instants that can be counted, and no others', () => {
    fc.assert(
      fc.property(lists, ({ seconds, minutes, hours, weekdays }) => {
        const expression = `${seconds} ${minutes} ${hours} * * ${weekdays}`;
        const runs: number[] = [];
        for (let midnight = DAY_MS * 20_000; midnight < DAY_MS * 20_016; midnight += DAY_MS)
          for (const hour of weekdays.includes(new Date(midnight).getUTCDay()) ? hours : [])
            for (const minute of minutes)
              for (const second of seconds)
                runs.push(midnight + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS);
        const gaps = runs.slice(1).map((run, index) => run - (runs[index] ?? 0));
        expect(scheduleIntervalMs(expression)).toBe(gaps.reduce((longest, gap) => Math.max(longest, gap)));
        for (let index = 0; index + 1 < runs.length; index += Math.ceil(runs.length / 100)) {
          const run = toEpochMs(runs[index] ?? 0);
          expect(nextRunAfter(expression, run)).toBe(runs[index + 1]);
          expect(nextRunAfter(expression, toEpochMs(run - 1))).toBe(run);
        }
      }),
      { seed: 13, numRuns: Math.ceil(40 * TEST_SCALE) },
    );
  });

  function few(end: number, maxLength: number) {
    const values = fc.uniqueArray(fc.integer({ min: 0, max: end - 1 }), { minLength: 1, maxLength });
    return values.map((list) => list.toSorted((x, y) => x - y));
  }

  function fewOrAll(end: number) {
    return fc.oneof(few(end, 5), fc.constant(Array.from({ length: end }, (_, value) => value)));
  }
});

describe('the next run', () => {
  it.each([
    ['* * * * *', '2026-11-21T12:00:00Z', '2026-11-21T12:01:00Z'],
    ['* * * * *', '2026-11-21T11:59:59.999Z', '2026-11-21T12:00:00Z'],
    ['*/15 * * * * *', '2026-11-21T12:00:01Z', '2026-11-21T12:00:15Z'],
    ['30 4 * * 1', '2026-11-21T12:00:00Z', '2026-11-23T04:30:00Z'],
    ['0 0 31 * *', '2026-11-21T12:00:00Z', '2026-12-31T00:00:00Z'],
    ['0 0 29 2 *', '2026-11-21T12:00:00Z', '2028-02-29T00:00:00Z'],
    ['0 0 13 * 5', '2026-11-21T12:00:00Z', '2027-08-13T00:00:00Z'],
    ['59 23 31 12 *', '2026-12-31T23:59:00Z', '2027-12-31T23:59:00Z'],
  ])('of %s after %s is %s', (expression, after, expected) => {
    expect(nextRunAfter(expression, iso(after))).toBe(iso(expected));
  });

  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'Africa/Casablanca',
    'America/Santiago',
    'UTC',
  ];
  const zoneBefore = process.env['TZ'];
  afterEach(() => {
    if (zoneBefore === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zoneBefore;
  });

  for (const zone of zones) {
    it(`comes every time on every day of a year on a machine in ${zone}, whatever its clocks do`, () => {
      process.env['TZ'] = zone;
      expect(new Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone);
      for (const [expression, everyMs] of [
        ['30 * * * *', HOUR_MS],
        ['30 2 * * *', DAY_MS],
      ] as const) {
        let at = iso('2026-01-01T02:30:00Z');
        for (let run = 0; at < iso('2027-01-01T00:00:00Z'); run += 1) {
          const next = nextRunAfter(expression, at);
          expect(next).toBe(at + everyMs);
          // An hourly expression is followed day by day around the changes only, to be quick.
          at = everyMs === HOUR_MS && run % 3 === 0 ? toEpochMs(next + 20 * HOUR_MS) : next;
        }
      }
    });
  }
});

describe('a running schedule', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: NOON });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  const now = () => toEpochMs(Date.now());
  const start = (run: (ids: readonly string[]) => unknown, expression = '* * * * *', random = () => 0) => {
    vi.spyOn(Math, 'random').mockImplementation(random);
    return startSchedules(new Map([[expression, ['edge', 'svc']]]), run);
  };

  it('runs its upstreams once a minute, on the minute', async () => {
    const runs: string[] = [];
    const { stop } = start((ids) => runs.push(`${new Date(now()).toISOString()} ${ids.join()}`));
    await vi.advanceTimersByTimeAsync(3 * MINUTE_MS);
    expect(runs).toEqual([
      '2026-11-21T12:01:00.000Z edge,svc',
      '2026-11-21T12:02:00.000Z edge,svc',
      '2026-11-21T12:03:00.000Z edge,svc',
    ]);
    stop();
    await vi.advanceTimersByTimeAsync(3 * MINUTE_MS);
    expect(runs).toHaveLength(3);
  });

  it('is late by chance, at most five seconds and a tenth of the interval, and never drifts', async () => {
    const late: number[] = [];
    let turn = 0;
    const random = () => [0, 0.5, 0.999][turn++ % 3] ?? 0;
    const { stop } = start(() => late.push(now() % MINUTE_MS), '* * * * *', random);
    await vi.advanceTimersByTimeAsync(3 * MINUTE_MS + 10 * SECOND_MS);
    expect(late).toEqual([0, 2_500, 4_995]);
    stop();
    turn = 2;
    const quick: number[] = [];
    const schedule = start(() => quick.push(now() % (10 * SECOND_MS)), '*/10 * * * * *', random);
    await vi.advanceTimersByTimeAsync(11 * SECOND_MS);
    expect(quick[0]).toBe(999);
    schedule.stop();
  });

  it('leaves out ticks while a run is unfinished, and goes on after it, also when it failed', async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const { stop } = start(async () => {
      running += 1;
      most = Math.max(most, running);
      runs += 1;
      await new Promise((resolve) => setTimeout(resolve, 2.5 * MINUTE_MS));
      running -= 1;
      throw new Error('the run failed');
    });
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    expect(most).toBe(1);
    expect(runs).toBe(4);
    stop();
  });

  it('after ten minutes asleep runs once, not ten times', async () => {
    let runs = 0;
    const { stop } = start(() => {
      runs += 1;
    });
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(runs).toBe(1);
    // Timers stand still while the machine sleeps; the clock does not.
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(runs).toBe(2);
    await vi.advanceTimersByTimeAsync(3 * MINUTE_MS);
    expect(runs).toBe(5);
    stop();
  });

  it('makes up one run when the machine slept over several of a rare schedule', async () => {
    const runs: string[] = [];
    const { stop } = start(() => runs.push(new Date(now()).toISOString()), '0 * * * *');
    await vi.advanceTimersByTimeAsync(HOUR_MS + 30 * MINUTE_MS);
    vi.setSystemTime(Date.now() + 3 * HOUR_MS);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(runs).toEqual(['2026-11-21T13:00:00.000Z', '2026-11-21T16:30:10.000Z', '2026-11-21T17:00:00.000Z']);
    stop();
  });

  it('ends its tasks, also those that wait for their delay', async () => {
    let runs = 0;
    const { stop } = start(
      () => {
        runs += 1;
      },
      '* * * * *',
      () => 0.9,
    );
    await vi.advanceTimersByTimeAsync(MINUTE_MS + SECOND_MS);
    stop();
    await vi.advanceTimersByTimeAsync(5 * MINUTE_MS);
    expect(runs).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  for (const jumpMs of [-DAY_MS, -HOUR_MS, -30 * SECOND_MS, 30 * SECOND_MS, HOUR_MS, DAY_MS]) {
    it(`goes on within two minutes when the clock jumps by ${jumpMs / SECOND_MS} s, and runs nothing twice`, async () => {
      for (let second = 0; second < 60; second += 7) {
        const runs: number[] = [];
        let realMs = 0;
        const { stop } = start(() => runs.push(realMs));
        const advance = async (ms: number): Promise<void> => {
          for (let passed = 0; passed < ms; passed += SECOND_MS) {
            realMs += SECOND_MS;
            await vi.advanceTimersByTimeAsync(SECOND_MS);
          }
        };
        await advance(2 * MINUTE_MS + second * SECOND_MS);
        vi.setSystemTime(Date.now() + jumpMs);
        await advance(5 * MINUTE_MS);
        const gaps = runs.slice(1).map((at, index) => at - (runs[index] ?? 0));
        expect(Math.max(...gaps, realMs - (runs.at(-1) ?? 0))).toBeLessThanOrEqual(2 * MINUTE_MS + SECOND_MS);
        expect(Math.min(...gaps)).toBeGreaterThanOrEqual(25 * SECOND_MS);
        stop();
      }
    });
  }

  it('that runs rarely is on time although no timer sleeps that long', async () => {
    const runs: string[] = [];
    const { stop } = start(() => runs.push(new Date(now()).toISOString()), '0 0 1 * *');
    await vi.advanceTimersByTimeAsync(41 * DAY_MS);
    expect(runs).toEqual(['2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']);
    stop();
  });
});
