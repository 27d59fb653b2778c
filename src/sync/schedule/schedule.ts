/**
 * When to ask: cron in UTC. The only import of node-cron, which reads the expressions; the next run is computed here from
 * what it read, because its own arithmetic goes through local time and has stood still where clocks change
 * (https://github.com/node-cron/node-cron/issues/509).
 */

import { createTask, parse } from 'node-cron';
import { messageOf, StatusError } from '../../errors.ts';
import { DAY_MS, type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';

/** The runs of one expression: the same instants of the day on every day that fits. */
interface Calendar {
  /** Ascending, ms after midnight UTC. */
  readonly timesMs: readonly number[];
  /** Whether the expression runs on the day that begins at this instant. */
  readonly isDay: (midnight: number) => boolean;
}

/** Four years hold every month and a leap day; a longer gap belongs to no schedule. */
const HORIZON_DAYS = 4 * 366;
/** Where gaps are counted from; any day would do. */
const SOME_DAY = Date.UTC(2024, 0, 1);
/** A tick is delayed by chance, up to this and a tenth of the interval, so that many nodes do not ask in step. */
const JITTER_MAX_MS = 5 * SECOND_MS;
/** Timers count real time: a clock that is set, or a long sleep, is noticed within this. */
const SLEEP_MAX_MS = MINUTE_MS;

/**
 * The longest time between two runs, ms.
 *
 * Day and weekday must both fit when both are given.
 *
 * @throws CONFIG_INVALID when the expression has not five or six fields, cannot be read, or never runs
 */
export function intervalMsOf(expression: string): number {
  const { timesMs, isDay } = calendarOf(expression);
  const first = timesMs[0] ?? 0;
  const last = timesMs.at(-1) ?? 0;
  const gaps = timesMs.slice(1).map((time, index) => time - (timesMs[index] ?? 0));
  let longest = Math.max(0, ...new Set(gaps));
  let before: number | null = null;
  for (let day = 0; day < HORIZON_DAYS; day += 1) {
    const midnight = SOME_DAY + day * DAY_MS;
    if (!isDay(midnight)) continue;
    if (before !== null) longest = Math.max(longest, midnight + first - before - last);
    before = midnight;
  }
  if (longest === 0) throw invalid(expression, 'it runs less than twice in four years');
  return longest;
}

/** The first run after `at`. @throws CONFIG_INVALID as `intervalMsOf` */
export function nextRunAfter(expression: string, at: EpochMs): EpochMs {
  return nextOf(calendarOf(expression), expression, at);
}

export interface ScheduleClock {
  readonly now: () => EpochMs;
  /** 0 to 1, 1 excluded. */
  readonly random: () => number;
}

/**
 * Calls `run` with the upstreams of a group whenever its expression says so, a little late by chance.
 *
 * A tick that comes while the last call of its group is unfinished is left out. Runs missed while the machine slept
 * are not made up for: one comes at once, and the silence stays visible. When the clock is set back nothing runs twice
 * for the same tick. A call that fails is the caller's to tell; the schedule goes on.
 */
export function startSchedules(
  groups: ReadonlyMap<string, readonly string[]>,
  run: (upstreamIds: readonly string[]) => unknown,
  clock: ScheduleClock,
): { readonly stop: () => void } {
  const stops = [...groups].map(([expression, upstreamIds]) =>
    startOne(expression, async () => void (await run(upstreamIds)), clock),
  );
  return {
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

function startOne(expression: string, run: () => Promise<void>, { now, random }: ScheduleClock): () => void {
  const calendar = calendarOf(expression);
  const jitterMs = Math.min(JITTER_MAX_MS, intervalMsOf(expression) / 10);
  let isRunning = false;
  let timer: NodeJS.Timeout;
  const plan = (from: EpochMs): void => {
    wait(toEpochMs(nextOf(calendar, expression, from) + random() * jitterMs), from);
  };
  const wait = (dueAt: EpochMs, from: EpochMs): void => {
    timer = setTimeout(() => wake(dueAt, from), Math.min(SLEEP_MAX_MS, Math.max(1, dueAt - from)));
  };
  const wake = (dueAt: EpochMs, from: EpochMs): void => {
    const at = now();
    const isSetBack = at < from;
    if (at < dueAt && !isSetBack) {
      wait(dueAt, at);
      return;
    }
    // Set back, the next tick is nearer than it seemed, and it is not due yet.
    if (!isSetBack && !isRunning) {
      isRunning = true;
      const done = (): void => {
        isRunning = false;
      };
      run().then(done, done);
    }
    plan(at);
  };
  plan(now());
  return () => clearTimeout(timer);
}

function nextOf({ timesMs, isDay }: Calendar, expression: string, at: EpochMs): EpochMs {
  const today = Math.floor(at / DAY_MS) * DAY_MS;
  for (let day = 0; day <= HORIZON_DAYS; day += 1) {
    const midnight = today + day * DAY_MS;
    if (!isDay(midnight)) continue;
    const time = timesMs.find((candidate) => midnight + candidate > at);
    if (time !== undefined) return toEpochMs(midnight + time);
  }
  throw invalid(expression, 'it never runs');
}

function calendarOf(expression: string): Calendar {
  const fieldsTotal = expression.trim().split(/\s+/).length;
  if (fieldsTotal !== 5 && fieldsTotal !== 6)
    throw invalid(expression, 'it must have five fields, or six with seconds');
  try {
    const { second, minute, hour } = parse(expression);
    const timesMs = hour
      .flatMap((h) => minute.flatMap((m) => second.map((s) => ((h * 60 + m) * 60 + s) * SECOND_MS)))
      .toSorted((a, b) => a - b);
    const task = createTask(expression, () => undefined, { timezone: 'UTC' });
    // Only asked whether it fits; a registered task would never be freed.
    task.destroy();
    return { timesMs, isDay: (midnight) => task.match(new Date(midnight + (timesMs[0] ?? 0))) };
  } catch (error) {
    throw invalid(expression, messageOf(error));
  }
}

function invalid(expression: string, reason: string): StatusError {
  const message = `The schedule "${expression}" cannot be used: ${reason}.`;
  return new StatusError({ code: 'CONFIG_INVALID', message, issues: [{ path: 'schedule', message }] });
}
