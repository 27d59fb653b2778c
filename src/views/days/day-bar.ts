/** Ninety days of one component, small: a letter a day, and words only for the days that need them. */

import { LOOKS } from '../../looks/states.ts';
import {
  type ComponentModel,
  cutTimeline,
  DAY_MS,
  type Day,
  type DayCell,
  dayCells,
  dayOf,
  daysUntil,
  type EpochMs,
  type Interval,
  MINUTE_MS,
  type PageIncident,
  type PageModel,
  SECOND_MS,
  STATES_BY_IMPACT,
  type State,
  type TimelineSpan,
  toEpochMs,
} from '../../model/index.ts';
import type { DatedPage } from '../frame/page-frame.ts';
import type { ViewContext } from '../frame/shell.ts';
import type { Format } from '../text/format.ts';
import { type DayDetail, dayRuns, type IncidentHead } from './day-notes.ts';

export const BAR_DAYS = 90;

export type DayBarView = ReturnType<typeof buildDayBar>;

/** Every page of a site writes the same days, by the few formats that there are. */
const written = new WeakMap<Format['day'], WeakMap<readonly Day[], readonly string[]>>();

/** The days of a bar as they are written, oldest first. */
export type DaysView = ReturnType<typeof barDays>;

/** The days that end with the one of `model.asOf`. */
export function barDays({ model, format }: ViewContext<DatedPage>, dayCount: number = BAR_DAYS) {
  const days = daysUntil(dayOf(model.asOf, model.settings.timezone), dayCount);
  const write = dayCount > BAR_DAYS ? format.day : format.dayInYear;
  const texts = written
    .getOrInsertComputed(write, () => new WeakMap())
    .getOrInsertComputed(days, () => days.map(write));
  return { days, texts };
}

export function barCells(
  { timeline }: Pick<ComponentModel, 'timeline'>,
  days: readonly Day[],
  { settings, asOf }: Pick<PageModel, 'settings' | 'asOf'>,
): readonly DayCell[] {
  return dayCells(timeline, days, { zone: settings.timezone, now: asOf, blipFloorMs: settings.blipFloorMs });
}

/** The days alone: what is to be said of them stands on the page of the component. */
export function buildBriefBar(cells: readonly DayCell[]): DayBarView {
  return { letters: cellLetters(cells), runs: [] };
}

const letters = new WeakMap<readonly DayCell[], string>();

/** A letter for each day, a capital where there was a blip. The same in every language of a page. */
export function cellLetters(cells: readonly DayCell[]): string {
  return letters.getOrInsertComputed(cells, () =>
    cells.map(({ state, hadBlip }) => (hadBlip ? LOOKS[state].letter.toUpperCase() : LOOKS[state].letter)).join(''),
  );
}

/** What is packed of the days of one time line, which is the same in every language. */
const packed = new WeakMap<readonly DayCell[], readonly string[]>();

/** @param incidents  those that are about the component */
export function buildDayBar(
  { settings }: Pick<PageModel, 'settings'>,
  { timeline }: Pick<ComponentModel, 'timeline'>,
  cells: readonly DayCell[],
  incidents: readonly IncidentHead[],
) {
  const letters = cellLetters(cells);
  const spansOf = packed.getOrInsertComputed(cells, () =>
    cells.map((cell) => packSpans(timeline, cell, settings.timezone)),
  );
  const details = cells.map((cell, index): DayDetail => {
    const spans = spansOf[index] ?? '';
    const shown = incidents.length === 0 ? NO_INCIDENTS : incidentsOn(cell, incidents);
    return spans === '' && shown.length === 0 ? NOTHING : { spans, incidents: shown };
  });
  /** One a day, oldest first. */
  return { letters, runs: dayRuns(letters, details) };
}

const NO_INCIDENTS: DayDetail['incidents'] = [];
const NOTHING: DayDetail = { spans: '', incidents: NO_INCIDENTS };
/** Of more the sums say more. */
const SPANS_MAX = 4;

/**
 * When the day was in which state but the usual one, for `writeSpans`: a letter, the minute of its start on the clock of the
 * zone, and its length, before which its end stands where clocks were changed. Without a length it goes on; without a start it
 * is the sum of many, or has gone on since before. Empty where the day says it all.
 */
function packSpans(timeline: readonly TimelineSpan[], cell: DayCell, zone: string): string {
  const { interval, elapsedMs, msByState, state } = cell;
  const isToday = elapsedMs > 0 && interval.from + elapsedMs < interval.to;
  // Most days are like this.
  if (msByState[state] === elapsedMs) return isToday && state !== 'operational' ? LOOKS[state].letter : '';
  return packTroubles(timeline, cell, { zone, isToday });
}

function packTroubles(
  timeline: readonly TimelineSpan[],
  { interval, elapsedMs, msByState }: DayCell,
  { zone, isToday }: { readonly zone: string; readonly isToday: boolean },
): string {
  const now = toEpochMs(interval.from + elapsedMs);
  const spans: (Interval & { to: EpochMs; readonly state: State })[] = [];
  for (const { state, from, to } of cutTimeline(timeline, { from: interval.from, to: now })) {
    const last = spans.at(-1);
    if (last?.state === state) last.to = to;
    else spans.push({ state, from, to });
  }
  const troubles = spans.filter((span) => span.state !== 'operational');
  if (troubles.length > SPANS_MAX)
    return STATES_BY_IMPACT.filter((one) => one !== 'operational' && msByState[one] > 0)
      .map((one) => LOOKS[one].letter + packLength(msByState[one]))
      .join(' ');
  const minuteOf = (at: EpochMs) => {
    if (at === interval.to) return DAY_MS / MINUTE_MS;
    return interval.to - interval.from === DAY_MS ? Math.floor((at - interval.from) / MINUTE_MS) : wallMinute(at, zone);
  };
  return troubles
    .map(({ state, from, to }) => {
      const [start, end] = [minuteOf(from), minuteOf(to)];
      if (isToday && to === now) return `${LOOKS[state].letter}${start}`;
      const [ms, shownMs] = [to - from, (end - start) * MINUTE_MS];
      const isShifted = Math.abs(shownMs - ms) > MINUTE_MS;
      const length = packLength(isShifted || end === start ? ms : shownMs);
      return `${LOOKS[state].letter}${start}${isShifted ? `-${end}` : ''}${length}`;
    })
    .join(' ');
}

function packLength(ms: number): string {
  return ms < MINUTE_MS ? `+${Math.max(1, Math.floor(ms / SECOND_MS))}s` : `+${Math.floor(ms / MINUTE_MS)}`;
}

/** Minutes since midnight, as clocks show it: on a day on which they change, not those that have passed. */
function wallMinute(at: EpochMs, zone: string): number {
  const { hour, minute } = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  return hour * 60 + minute;
}

/** A page has thousands of days, and most of them have none. */
function incidentsOn({ interval, elapsedMs }: DayCell, incidents: readonly IncidentHead[]): DayDetail['incidents'] {
  const { from, to } = interval;
  const until = Math.min(to, from + Math.max(1, elapsedMs));
  const touches = ({ startedAt, endedAt }: IncidentHead) => startedAt < until && (endedAt === null || endedAt > from);
  if (!incidents.some(touches)) return NO_INCIDENTS;
  return incidents.filter(touches).map(({ slug, title, lang, pieces }) => ({ slug, title, lang, pieces }));
}

/** Incidents of a page by the component they are about. */
export function incidentsByComponent({
  incidents,
}: Pick<PageModel, 'incidents'>): ReadonlyMap<string, readonly PageIncident[]> {
  const byComponent = new Map<string, PageIncident[]>();
  for (const incident of incidents)
    for (const id of incident.componentIds) byComponent.getOrInsert(id, []).push(incident);
  return byComponent;
}
