/** Finds out who was on call. Pure. */

import { type EpochMs, type Interval, toEpochMs } from '../model/time.ts';
import type { Rota } from './options.ts';

/** One employee on call over `[from, to)`. */
export interface Turn extends Interval {
  readonly employee: number;
}

/** More turns than any incident lasts; stops a rota that would never end. */
const TURNS_MAX = 10_000;

/**
 * Splits `window` into turns, in order and without overlaps. Shifts take precedence over the rotation, and earlier shifts of the
 * list over later ones. Time when nobody was on call is left out.
 */
export function onCall(rota: Rota, window: Interval): readonly Turn[] {
  let free: Interval[] = [window];
  const turns: Turn[] = [];
  for (const shift of rota.shifts) {
    const stretch = { from: toEpochMs(shift.from), to: toEpochMs(shift.to) };
    turns.push(...free.flatMap((gap) => overlap(gap, stretch)).map((part) => ({ ...part, employee: shift.employee })));
    free = free.flatMap((gap) => without(gap, stretch));
  }
  for (const gap of free) turns.push(...rotationOver(rota, gap));
  return turns.toSorted((a, b) => a.from - b.from);
}

function rotationOver({ rotation }: Rota, window: Interval): Turn[] {
  if (rotation === undefined) return [];
  const { employees, everyDays, timezone } = rotation;
  const start = Temporal.PlainDateTime.from(rotation.startsAt);
  // Turns change at the same local time, so a day may have 23 or 25 hours.
  const turnBegin = (index: number): EpochMs =>
    toEpochMs(start.add({ days: index * everyDays }).toZonedDateTime(timezone).epochMilliseconds);
  const local = Temporal.Instant.fromEpochMilliseconds(window.from).toZonedDateTimeISO(timezone).toPlainDateTime();
  const days = start.until(local, { largestUnit: 'days' }).days;
  const turns: Turn[] = [];
  const first = Math.floor(days / everyDays) - 1;
  for (let index = first; index < first + TURNS_MAX; index += 1) {
    const turn = { from: turnBegin(index), to: turnBegin(index + 1) };
    if (turn.from >= window.to) break;
    // Before the first turn nobody was on call.
    const employee = index < 0 ? undefined : employees[index % employees.length];
    if (employee !== undefined) turns.push(...overlap(window, turn).map((part) => ({ ...part, employee })));
  }
  return turns;
}

function overlap(a: Interval, b: Interval): Interval[] {
  const from = toEpochMs(Math.max(a.from, b.from));
  const to = toEpochMs(Math.min(a.to, b.to));
  return from < to ? [{ from, to }] : [];
}

function without(gap: Interval, cut: Interval): Interval[] {
  return [
    { from: gap.from, to: toEpochMs(Math.min(gap.to, cut.from)) },
    { from: toEpochMs(Math.max(gap.from, cut.to)), to: gap.to },
  ].filter((part) => part.from < part.to);
}
