/**
 * The schedule: cron in UTC. Only this module imports croner, which parses expressions and computes times. The timer is ours,
 * because the clock is an argument, and because nothing may run twice after a sleep or a clock change.
 */

import { Cron } from 'croner';
import { messageOf, StatusError } from '../../errors.ts';
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';

/** Four years hold every month and a leap day; a longer gap belongs to no schedule. */
const HORIZON_MS = 4 * 366 * DAY_MS;
/** Where gaps are counted from; any day would do. */
const SOME_DAY = Date.UTC(2024, 0, 1);
/** A tick is delayed randomly, by up to this and a tenth of the interval, so that many nodes don't query at the same moment. */
export const JITTER_MAX_MS = 5 * SECOND_MS;
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
  const cron = readExpression(expression);
  const first = runAfter(cron, SOME_DAY - 1) ?? SOME_DAY;
  // All days that fit are alike, so are all hours of such a day, and so on down: one of each is enough to look into.
  const longest = Math.max(
    longestGap(cron, DAY_MS, { from: SOME_DAY, length: HORIZON_MS }),
    longestGap(cron, HOUR_MS, { from: beginOf(first, DAY_MS), length: DAY_MS }),
    longestGap(cron, MINUTE_MS, { from: beginOf(first, HOUR_MS), length: HOUR_MS }),
    longestGap(cron, SECOND_MS, { from: beginOf(first, MINUTE_MS), length: MINUTE_MS }),
  );
  if (longest === 0) throw invalid(expression, 'it runs less than twice in four years');
  return longest;
}

/** The longest gap between the last run of a day, hour … (`unitMs`) and the first of the next that has any; 0: there is none. */
function longestGap(
  cron: Cron,
  unitMs: number,
  { from, length }: { readonly from: number; readonly length: number },
): number {
  let longest = 0;
  let last: number | null = null;
  for (let run = runAfter(cron, from - 1); run !== null && run < from + length; run = runAfter(cron, last)) {
    if (last !== null) longest = Math.max(longest, run - last);
    const [lastOfUnit] = cron.previousRuns(1, new Date(beginOf(run, unitMs) + unitMs));
    last = lastOfUnit?.getTime() ?? run;
  }
  return longest;
}

function beginOf(at: number, unitMs: number): number {
  return Math.floor(at / unitMs) * unitMs;
}

/** The first run after `at`. @throws CONFIG_INVALID as `intervalMsOf` */
export function nextRunAfter(expression: string, at: EpochMs): EpochMs {
  return nextOf(readExpression(expression), expression, at);
}

interface ScheduleClock {
  readonly now: () => EpochMs;
  /** 0 to 1, 1 excluded. */
  readonly random: () => number;
}

/**
 * Calls `run` with the upstreams of a group whenever its expression matches, after a small random delay.
 *
 * A tick is skipped while the last call of its group is unfinished. After a sleep of the machine, one run starts at once, and
 * missed ones are not repeated. If the clock is set back, no tick runs twice. The caller handles errors of `run`; the schedule
 * continues.
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

/** How much later than its expression says a tick comes at most, ms. */
export function jitterMsOf(expression: string): number {
  return Math.min(JITTER_MAX_MS, intervalMsOf(expression) / 10);
}

function startOne(expression: string, run: () => Promise<void>, { now, random }: ScheduleClock): () => void {
  const cron = readExpression(expression);
  const jitterMs = jitterMsOf(expression);
  let isRunning = false;
  let timer: NodeJS.Timeout;
  const plan = (from: EpochMs): void => {
    wait(toEpochMs(nextOf(cron, expression, from) + random() * jitterMs), from);
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

function nextOf(cron: Cron, expression: string, at: EpochMs): EpochMs {
  const next = runAfter(cron, at);
  if (next === null || next - at > HORIZON_MS) throw invalid(expression, 'it never runs');
  return toEpochMs(next);
}

function runAfter(cron: Cron, at: number): number | null {
  return cron.nextRun(new Date(at))?.getTime() ?? null;
}

function readExpression(expression: string): Cron {
  const fieldsTotal = expression.trim().split(/\s+/).length;
  // Names such as @daily have no fields to be seen.
  if (fieldsTotal !== 5 && fieldsTotal !== 6)
    throw invalid(expression, 'it must have five fields, or six with seconds');
  try {
    return new Cron(expression, { mode: '5-or-6-parts', utcOffset: 0, domAndDow: true });
  } catch (error) {
    throw invalid(expression, messageOf(error).replace(/^CronPattern: |\.$/g, ''));
  }
}

function invalid(expression: string, reason: string): StatusError {
  const message = `Invalid schedule "${expression}": ${reason}.`;
  return new StatusError({ code: 'CONFIG_INVALID', message, issues: [{ path: 'schedule', message }] });
}
