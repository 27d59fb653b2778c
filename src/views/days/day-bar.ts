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
  STATES_BY_IMPACT,
  type State,
} from '../../model/index.ts';
import type { DatedPage, PageFrame } from '../frame/page-frame.ts';
import type { ViewContext } from '../frame/shell.ts';
import type { Format } from '../text/format.ts';
import { stateWord } from '../words/state-words.ts';
import { type DayDetail, type DayRun, dayRuns, type IncidentHead } from './day-notes.ts';

export const BAR_DAYS = 90;

export interface DayBarView {
  /** One a day, oldest first. */
  readonly letters: string;
  readonly runs: readonly DayRun[];
}

/** The days of a bar as they are written, oldest first. */
export interface DaysView {
  readonly days: readonly Day[];
  readonly texts: readonly string[];
}

/** Every page of a site writes the same days, by the few formats that there are. */
const written = new WeakMap<Format['day'], WeakMap<readonly Day[], readonly string[]>>();

/** The days that end with the one of `model.asOf`. */
export function barDays({ model, format }: ViewContext<DatedPage>, dayCount: number = BAR_DAYS): DaysView {
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

/** @param incidents  those that are about the component */
export function buildDayBar(
  context: ViewContext<PageFrame>,
  cells: readonly DayCell[],
  incidents: readonly IncidentHead[],
): DayBarView {
  const letters = cells.map(cellLetter).join('');
  return {
    letters,
    runs: dayRuns(
      letters,
      cells.map((cell) => dayDetail(context, cell, incidents)),
    ),
  };
}

function cellLetter({ state, hadBlip }: DayCell): string {
  const { letter } = LOOKS[state];
  return hadBlip ? letter.toUpperCase() : letter;
}

const NO_INCIDENTS: DayDetail['incidents'] = [];
const NOTHING: DayDetail = { text: '', incidents: NO_INCIDENTS };

/** How long the day was in each state but the usual one, worst first, and its incidents. */
function dayDetail(context: ViewContext<PageFrame>, cell: DayCell, incidents: readonly IncidentHead[]): DayDetail {
  const text = cell.msByState[cell.state] === cell.elapsedMs ? '' : troubleText(context, cell);
  const told = incidentsOn(cell, incidents);
  return text === '' && told.length === 0 ? NOTHING : { text, incidents: told };
}

function troubleText({ words, format }: ViewContext<PageFrame>, { state: named, msByState }: DayCell): string {
  const states = STATES_BY_IMPACT.filter((state) => msByState[state] > 0);
  if (states.length < 2) return '';
  const troubles = states.filter((state) => state !== 'operational');
  // What the day is called stands beside it.
  const isNamed = troubles.length === 1 && troubles[0] === named;
  const write = (state: State) => `${isNamed ? '' : `${stateWord(state, words)} `}${format.duration(msByState[state])}`;
  return troubles.map(write).join(', ');
}

/** A page has thousands of days, and most of them have none. */
function incidentsOn({ interval, elapsedMs }: DayCell, incidents: readonly IncidentHead[]): DayDetail['incidents'] {
  if (incidents.length === 0) return NO_INCIDENTS;
  const { from, to } = interval;
  const until = Math.min(to, from + Math.max(1, elapsedMs));
  const touches = ({ startedAt, endedAt }: IncidentHead) => startedAt < until && (endedAt === null || endedAt > from);
  if (!incidents.some(touches)) return NO_INCIDENTS;
  return incidents.filter(touches).map(({ slug, title }) => ({ slug, title }));
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
