/**
 * What a page says about past days, as recorded in its signed log: seconds by state, for each UTC day and component. Pure.
 */

import { type DayCell, dayCells } from './days.ts';
import type { ComponentModel } from './page.ts';
import { STATES, type State } from './state.ts';
import { addDays, type Day, dayOf, daysUntil, type EpochMs, HOUR_MS, toEpochMs } from './time.ts';
import type { MsByState } from './uptime.ts';

/** The number of days that pages and `uptime.json` show. */
export const DAYS_COUNT = 90;
/** Upstreams may report on a day until shortly after midnight. */
const CLOSES_AFTER_MS = HOUR_MS;

/** Seconds in each state of the day. `counted` exists only if uptime counts them differently. */
export interface DayFigures {
  readonly seconds: Readonly<Partial<Record<State, number>>>;
  readonly counted?: Readonly<Partial<Record<State, number>>>;
}

/** The figures of one day of one component. */
export interface DayRecord {
  readonly component: string;
  readonly day: Day;
  /** `DayFigures` as JSON, for easy comparison. */
  readonly figures: string;
}

/** A change to the figures of a day. Null: nothing was known. */
export interface DayChange {
  readonly component: string;
  readonly day: Day;
  readonly was: string | null;
  readonly now: string | null;
}

/** Why the figures of a day changed. */
export const CORRECTION_REASONS = ['reported_later', 'counted_differently', 'history_changed'] as const;
type CorrectionReason = (typeof CORRECTION_REASONS)[number];

/** The last UTC day that is final at `asOf`. */
export function lastClosedDay(asOf: EpochMs): Day {
  return addDays(dayOf(toEpochMs(asOf - CLOSES_AFTER_MS), 'UTC'), -1);
}

/** The final figures of components by day; days without data are left out. */
export function closedDays(
  components: readonly Pick<ComponentModel, 'definition' | 'timeline'>[],
  asOf: EpochMs,
): DayRecord[] {
  const days = daysUntil(lastClosedDay(asOf), DAYS_COUNT);
  return components.flatMap(({ definition, timeline }) =>
    dayCells(timeline, days, { now: asOf, zone: 'UTC' }).flatMap((cell) =>
      cell.coverageRatio === 0
        ? []
        : [{ component: definition.id, day: cell.day, figures: written.getOrInsertComputed(cell, formatFigures) }],
    ),
  );
}

/** Most days are the same for many components. */
const written = new WeakMap<DayCell, string>();

/** As `JSON.stringify` writes `DayFigures`, in a quarter of the time: a page has thousands of them at each change. */
function formatFigures({ msByState: ms, countedMsByState: counted }: DayCell): string {
  return `{"seconds":${formatSeconds(ms)}${counted === ms ? '' : `,"counted":${formatSeconds(counted)}`}}`;
}

function formatSeconds(ms: MsByState): string {
  let all = '';
  for (const state of STATES) if (ms[state] !== 0) all += `${all === '' ? '' : ','}"${state}":${ms[state] / 1_000}`;
  return `{${all}}`;
}

/** What a log says about the days that are still shown. */
interface Committed {
  /** The last day in the log; null if there is none. */
  readonly through: Day | null;
  readonly days: readonly DayRecord[];
}

/**
 * Compares today's figures with those committed. A day is new if the log had not closed it, or if it lies before the
 * component's first committed day; any other difference is a change of history. Components no longer on the page are
 * ignored.
 *
 * @param shown  days with figures now, from `closedDays`
 * @param components  ids of the components on the page
 */
export function compareDays(
  { through, days: committed }: Committed,
  { shown, components, from }: { shown: readonly DayRecord[]; components: readonly string[]; from: Day },
): { readonly fresh: readonly DayRecord[]; readonly changes: readonly DayChange[] } {
  const remaining = new Map(committed.map((record) => [dayKey(record), record.figures]));
  const firsts = new Map<string, Day>();
  for (const { component, day } of committed) if (day < (firsts.get(component) ?? '~')) firsts.set(component, day);
  const fresh: DayRecord[] = [];
  const changes: DayChange[] = [];
  for (const record of shown) {
    const was = remaining.get(dayKey(record)) ?? null;
    remaining.delete(dayKey(record));
    const { component, day, figures } = record;
    if (was === figures) continue;
    const isNew = was === null && (through === null || day > through || day < (firsts.get(component) ?? '~'));
    if (isNew) fresh.push(record);
    else changes.push({ component, day, was, now: figures });
  }
  const onPage = new Set(components);
  for (const { component, day, figures } of committed)
    if (remaining.has(`${component} ${day}`) && day >= from && onPage.has(component))
      changes.push({ component, day, was: figures, now: null });
  return { fresh, changes };
}

function dayKey({ component, day }: Pick<DayRecord, 'component' | 'day'>): string {
  return `${component} ${day}`;
}

/** Why figures changed, as far as they show it. */
export function correctionReason({ was, now }: Pick<DayChange, 'was' | 'now'>): CorrectionReason {
  if (was === null) return 'reported_later';
  const [before, after] = [was, now ?? '{}'].map((text) => JSON.parse(text) as DayFigures);
  if (JSON.stringify(before?.seconds) === JSON.stringify(after?.seconds)) return 'counted_differently';
  const isFilledIn = STATES.every(
    (state) => state === 'unknown' || (before?.seconds[state] ?? 0) <= (after?.seconds?.[state] ?? 0),
  );
  return isFilledIn ? 'reported_later' : 'history_changed';
}
