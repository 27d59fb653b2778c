/** Ninety days of one component, small: a letter a day, and words only for the days that need them. */

import { LOOKS } from '../../looks/states.ts';
import {
  type ComponentModel,
  type Day,
  type DayCell,
  dayCells,
  dayOf,
  daysUntil,
  type PageIncident,
  type PageModel,
  STATES,
  STATES_BY_IMPACT,
  type State,
} from '../../model/index.ts';
import type { DatedPage, PageFrame } from '../frame/page-frame.ts';
import type { ViewContext } from '../frame/shell.ts';
import { fill } from '../words/index.ts';
import { stateWord } from '../words/state-words.ts';

export const BAR_DAYS = 90;

const STATE_OF_LETTER = new Map(STATES.map((state) => [LOOKS[state].letter, state]));

export interface DayBarView {
  /** Oldest first. */
  readonly letters: string;
  /** What a day's mark says, by index, where it says more than its state. */
  readonly notes: Readonly<Record<number, string>>;
  /** The same as rows of a table: days alike next to each other are one row. */
  readonly rows: readonly DayRowView[];
}

export interface DayRowView {
  readonly days: string;
  readonly state: State;
  /** Durations and incidents, where there is more to say than the state. */
  readonly detail: string;
}

/** The days of a bar as they are written, oldest first. */
export interface DaysView {
  readonly days: readonly Day[];
  readonly texts: readonly string[];
}

/** The days that end with the one of `model.asOf`. */
export function barDays({ model, format }: ViewContext<DatedPage>, dayCount: number = BAR_DAYS): DaysView {
  const days = daysUntil(dayOf(model.asOf, model.settings.timezone), dayCount);
  return { days, texts: days.map(dayCount > BAR_DAYS ? format.day : format.dayInYear) };
}

export function barCells(
  { timeline }: Pick<ComponentModel, 'timeline'>,
  days: readonly Day[],
  { settings, asOf }: Pick<PageModel, 'settings' | 'asOf'>,
): DayCell[] {
  return dayCells(timeline, days, { zone: settings.timezone, now: asOf, blipFloorMs: settings.blipFloorMs });
}

/** @param incidents  those that are about the component */
export function dayBarOf(
  context: ViewContext<PageFrame>,
  { days, texts }: DaysView,
  { cells, incidents }: { readonly cells: readonly DayCell[]; readonly incidents: readonly PageIncident[] },
): DayBarView {
  const details = cells.map((cell) => dayDetail(context, cell, incidents));
  const notes: Record<number, string> = {};
  for (const [index, detail] of details.entries())
    if (detail !== '')
      notes[index] = fill(context.words.dayFull, { day: texts[index] ?? days[index] ?? '', parts: detail });
  return { letters: cells.map(letterOf).join(''), notes, rows: dayRows(context, texts, { cells, details }) };
}

function letterOf({ state, hadBlip }: DayCell): string {
  const { letter } = LOOKS[state];
  return hadBlip ? letter.toUpperCase() : letter;
}

/** The state that a letter of a bar stands for. */
export function stateOfLetter(letter: string): State {
  return STATE_OF_LETTER.get(letter.toLowerCase()) ?? 'unknown';
}

/** How long the day was in each state, worst first, and its incidents; empty when its state says it all. */
function dayDetail(
  { words, format }: ViewContext<PageFrame>,
  cell: DayCell,
  incidents: readonly PageIncident[],
): string {
  const states = STATES_BY_IMPACT.filter((state) => cell.msByState[state] > 0);
  const names = incidents
    .filter((one) => one.startedAt < cell.interval.to && (one.endedAt === null || one.endedAt > cell.interval.from))
    .filter((one) => one.startedAt < cell.interval.from + Math.max(1, cell.elapsedMs))
    .map((one) => one.title);
  if (states.length < 2 && names.length === 0) return '';
  const parts = states
    .map((state) => `${stateWord(state, words)} ${format.duration(cell.msByState[state])}`)
    .join(', ');
  if (names.length === 0) return parts;
  // A day that has only just begun was in no state so far.
  return [parts, fill(words.dayIncidents, { names: format.list(names) })].filter(Boolean).join('. ');
}

function dayRows(
  { words }: ViewContext<PageFrame>,
  texts: readonly string[],
  { cells, details }: { readonly cells: readonly DayCell[]; readonly details: readonly string[] },
): DayRowView[] {
  const rows: DayRowView[] = [];
  for (let from = 0; from < cells.length; ) {
    const state = cells[from]?.state ?? 'unknown';
    let to = from;
    if (details[from] === '') while (cells[to + 1]?.state === state && details[to + 1] === '') to += 1;
    const first = texts[from] ?? '';
    rows.push({
      days: to === from ? first : fill(words.dayRange, { from: first, to: texts[to] ?? '' }),
      state,
      detail: details[from] ?? '',
    });
    from = to + 1;
  }
  return rows;
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
