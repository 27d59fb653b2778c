/**
 * The schedule: node-cron runs it, in UTC, without overlap and with a random delay. Only this module imports node-cron.
 *
 * Two things stay ours. node-cron computes runs only from the current time, so `nextRunAfter` walks the fields that it parsed.
 * And its timers count real time: if the clock is set back by an hour, it waits an hour longer, and after a sleep it fires late.
 * So the clock is compared with a steady one, and if they differ, tasks are started again and runs that were missed are made up.
 */

import cron, { type ScheduledTask } from 'node-cron';
import { StatusError } from '../errors.ts';
import { DAY_MS, type EpochMs, MINUTE_MS, SECOND_MS, toEpochMs } from '../model/time.ts';

/** Four years have every month and a leap day; a longer gap belongs to no schedule. */
const HORIZON_DAYS = 4 * 366;
/** Where gaps are counted from; any day would do. */
const SOME_DAY = Date.UTC(2024, 0, 1);
/** A run is delayed randomly, by up to this and a tenth of the interval, so that many nodes don't query at the same moment. */
export const JITTER_MAX_MS = 5 * SECOND_MS;
/** How often the clock is compared with the steady one, and the difference that is a step. */
const COMPARE_EVERY_MS = 10 * SECOND_MS;
const STEP_MS = 2 * SECOND_MS;

const SILENT = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

const runsByExpression = new Map<string, ReturnType<typeof readRuns>>();

/**
 * The days that an expression runs on, and when on each of them, in milliseconds from midnight, sorted.
 *
 * @throws CONFIG_INVALID when the expression doesn't have five or six fields, or can't be read
 */
function expectRuns(expression: string) {
  return runsByExpression.getOrInsertComputed(expression, readRuns);
}

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6];

function readRuns(expression: string) {
  const fieldsTotal = expression.trim().split(/\s+/).length;
  // Names such as @daily have no fields to be seen.
  if (fieldsTotal !== 5 && fieldsTotal !== 6)
    throw invalid(expression, 'it must have five fields, or six with seconds');
  const { valid, errors, fields } = cron.validateDetailed(expression);
  if (!valid || fields === undefined)
    throw invalid(expression, errors.map(({ message }) => message.replace(' a invalid ', ' an invalid ')).join(', '));
  const times = fields.hour
    .flatMap((hour) =>
      fields.minute.flatMap((minute) => fields.second.map((second) => (hour * 60 + minute) * 60 + second)),
    )
    .map((seconds) => seconds * SECOND_MS)
    .sort((a, b) => a - b);
  const task = cron.createTask(expression, () => {}, { timezone: 'UTC' });
  // It stays in node-cron's list of tasks otherwise; asking it whether a date matches works all the same.
  void task.destroy();
  // Most run each day, and asking for four years of them takes a thirtieth of a start.
  const { dayOfMonth, month, dayOfWeek } = fields;
  const isDaily = dayOfMonth.length === 31 && month.length === 12 && WEEKDAYS.every((day) => dayOfWeek.includes(day));
  return { times, isOn: (midnight: number) => isDaily || task.match(new Date(midnight + (times[0] ?? 0))) };
}

/**
 * The longest time between two runs, ms. If both a day and a weekday are given, both must match.
 *
 * @throws CONFIG_INVALID when the expression can't be read, or runs less than twice in four years
 */
export function scheduleIntervalMs(expression: string): number {
  return intervals.getOrInsertComputed(expression, longestGap);
}

const intervals = new Map<string, number>();

function longestGap(expression: string): number {
  const { times, isOn } = expectRuns(expression);
  const [first = 0] = times;
  const last = times.at(-1) ?? 0;
  let longest = Math.max(0, ...times.slice(1).map((time, index) => time - (times[index] ?? 0)));
  let before: number | null = null;
  let runs = 0;
  for (let day = 0; day < HORIZON_DAYS; day += 1) {
    const midnight = SOME_DAY + day * DAY_MS;
    if (!isOn(midnight)) continue;
    if (before !== null) longest = Math.max(longest, midnight + first - (before + last));
    before = midnight;
    runs += times.length;
  }
  if (runs < 2) throw invalid(expression, 'it runs less than twice in four years');
  return longest;
}

/** The first run after `at`. @throws CONFIG_INVALID as `scheduleIntervalMs` */
export function nextRunAfter(expression: string, at: EpochMs): EpochMs {
  const { times, isOn } = expectRuns(expression);
  const today = Math.floor(at / DAY_MS) * DAY_MS;
  for (let day = 0; day < HORIZON_DAYS; day += 1) {
    const midnight = today + day * DAY_MS;
    const time = times.find((candidate) => midnight + candidate > at);
    if (time !== undefined && isOn(midnight)) return toEpochMs(midnight + time);
  }
  throw invalid(expression, 'it never runs');
}

/** How much later than its expression says a run comes at most, ms. */
export function scheduleJitterMs(expression: string): number {
  return Math.min(JITTER_MAX_MS, scheduleIntervalMs(expression) / 10);
}

/**
 * Calls `run` with the upstreams of a group whenever its expression matches, after a small random delay.
 *
 * A run is skipped while the last one of its group is unfinished. After a sleep of the machine, one run starts at once, and
 * missed ones are not repeated. The caller handles errors of `run`; the schedule continues.
 */
export function startSchedules(
  groups: ReadonlyMap<string, readonly string[]>,
  run: (upstreamIds: readonly string[]) => unknown,
): { readonly stop: () => void } {
  const tasks = [...groups].map(([expression, upstreamIds]) =>
    cron.schedule(expression, () => run(upstreamIds), {
      timezone: 'UTC',
      noOverlap: true,
      maxRandomDelay: scheduleJitterMs(expression),
      // A busy process runs late, but it runs.
      missedExecutionTolerance: Number.POSITIVE_INFINITY,
      suppressMissedWarning: true,
      logger: SILENT,
    }),
  );
  let at = Date.now();
  let steady = performance.now();
  const timer = setInterval(() => {
    const expected = at + (performance.now() - steady);
    at = Date.now();
    steady = performance.now();
    if (Math.abs(at - expected) > STEP_MS) for (const task of tasks) startAgain(task, expected);
  }, COMPARE_EVERY_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      for (const task of tasks) void task.destroy();
    },
  };
}

/**
 * Starts a task again after a step of the clock, which would have shown `expected`. A run that was missed is made up, unless the
 * next one comes soon anyway.
 */
function startAgain(task: ScheduledTask, expected: number): void {
  void task.stop();
  const now = toEpochMs(Date.now());
  const since = toEpochMs(Math.max(expected - COMPARE_EVERY_MS, task.lastRun()?.date.getTime() ?? 0));
  const isMissed = nextRunAfter(task.getPattern(), since) <= now;
  if (isMissed && nextRunAfter(task.getPattern(), now) - now > MINUTE_MS) task.execute().catch(() => undefined);
  void task.start();
}

function invalid(expression: string, reason: string): StatusError {
  const message = `Invalid schedule "${expression}": ${reason}.`;
  return new StatusError({ code: 'CONFIG_INVALID', message, issues: [{ path: 'schedule', message }] });
}
