/** Incidents and maintenance of one month, and the way to the other months. */

import { type Day, dayOf, type EpochMs, INCIDENT_IMPACTS, type Interval, type PageModel } from '../../model/index.ts';
import { intervalOfMonth, linkMonths } from '../days/months.ts';
import { buildShell, createContext, type DatedPage, type ViewContext } from '../frame/shell.ts';
import { type EventView, incidentEvent, maintenanceEvent } from '../incident/events.ts';
import { HISTORY_PATH, historyPath, pathSegment } from '../text/addresses.ts';
import { fill, impactWord } from '../words/index.ts';

/** A page as far as one month of its history is concerned; of events, newest first, at least those that begin in the month. */
export interface HistoryPage extends DatedPage, Pick<PageModel, 'incidents' | 'maintenances'> {
  /** Months that have a history page, the current one first, without gaps. */
  readonly months: readonly string[];
  /** How many incidents began in each month; none where it is missing. */
  readonly incidentCounts: Readonly<Record<string, number>>;
}

export type HistoryView = ReturnType<typeof historyView>;

/** @param month  `2026-11`; null: the current one, as `history/` itself shows */
export function historyView(model: HistoryPage, month: string | null) {
  const context = createContext(model, month === null ? '../' : '../../');
  const { words, format } = context;
  const shown = month ?? model.months[0] ?? '';
  const heading = fill(words.historyOf, { month: format.month(shown) });
  const days = listHistoryDays(context, intervalOfMonth(shown, model.settings.timezone));
  return {
    shell: buildShell(context, {
      title: month === null ? words.historyTitle : heading,
      description: heading,
      path: month === null ? HISTORY_PATH : historyPath(month),
      section: 'history',
    }),
    heading,
    // Newest first; days without events are left out.
    days,
    filter: buildFilter(context, days),
    emptyText: words.noIncidentsMonth,
    ...linkMonths(context, shown, historyPath),
    months: listMonthLinks(context, shown),
  };
}

function listHistoryDays(context: ViewContext<HistoryPage>, window: Interval) {
  const { model, format } = context;
  const within = (at: number) => at >= window.from && at < window.to && at <= model.asOf;
  // Of the components it is about, as segments of their addresses.
  const dated = (at: EpochMs, event: EventView, ids: readonly string[]) => ({
    at,
    event: { ...event, about: ids.map(pathSegment) },
  });
  const events = [
    ...model.incidents
      .filter((one) => within(one.startedAt))
      .map((one) => dated(one.startedAt, incidentEvent(context, one, { updatesMax: 1 }), one.componentIds)),
    ...model.maintenances.flatMap((one) => {
      // One that repeats stands where it took place last in the month.
      const last = one.windows.findLast(({ from }) => within(from));
      if (last === undefined) return [];
      return [dated(last.from, maintenanceEvent(context, one, { updatesMax: 1, window: last }), one.componentIds)];
    }),
  ].sort((a, b) => b.at - a.at);
  const byDay = Map.groupBy(events, ({ at }): Day => dayOf(at, model.settings.timezone));
  return [...byDay].map(([day, list]) => ({
    id: `d${day}`,
    day: format.dayLong(day),
    events: list.map(({ event }) => event),
  }));
}

/** What the month's events can be narrowed down to. Empty where that makes no difference. */
function buildFilter({ model, words }: ViewContext<HistoryPage>, days: ReturnType<typeof listHistoryDays>) {
  const events = days.flatMap((day) => day.events);
  const about = new Set(events.flatMap((event) => event.about));
  const components = model.components
    .map(({ definition, name, lang }) => ({ value: pathSegment(definition.id), text: name, lang }))
    .filter(({ value }) => about.has(value));
  const impacts = INCIDENT_IMPACTS.filter((one) => events.some(({ impact }) => impact === one)).map((value) => ({
    value,
    text: impactWord(value, words),
    lang: undefined,
  }));
  return { components: components.length > 1 ? components : [], impacts: impacts.length > 1 ? impacts : [] };
}

function listMonthLinks({ model, format, base }: ViewContext<HistoryPage>, shown: string) {
  return model.months.map((month) => ({
    href: base + historyPath(month),
    text: format.month(month),
    incidentCount: model.incidentCounts[month] ?? 0,
    isCurrent: month === shown,
  }));
}
