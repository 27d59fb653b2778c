/** A year at a glance: every day as a cell, every month as a figure for each component. */

import { LOOKS } from '../../looks/states.ts';
import {
  type ComponentModel,
  combinedUptime,
  type Day,
  dayOf,
  type Interval,
  type PageIncident,
  type PageModel,
  STATES,
  toEpochMs,
  uptimeOf,
} from '../../model/index.ts';
import { combinedDays } from '../badges/badge-subjects.ts';
import {
  barCells,
  barDays,
  buildDayBar,
  type DayDetail,
  dayRuns,
  dayTip,
  type IncidentHead,
  listDayRows,
} from '../days/day-bar.ts';
import { addMonths, intervalOfMonth } from '../days/months.ts';
import {
  buildShell,
  createContext,
  linkTo,
  type MeasuredComponent,
  type PageAge,
  type PageFrame,
  type ViewContext,
} from '../frame/shell.ts';
import { countedComponents, countedTexts } from '../model/page-state.ts';
import { componentPath, UPTIME_PATH } from '../text/addresses.ts';
import { fill, stateWord } from '../words/index.ts';

const MONTHS = 12;

/** With what it is about. */
type CalendarIncident = IncidentHead & Pick<PageIncident, 'componentIds'>;

/** A page as far as its calendar is concerned. */
interface CalendarPage extends PageFrame, PageAge, Pick<PageModel, 'state' | 'since'> {
  readonly components: readonly (MeasuredComponent & Pick<ComponentModel, 'state'>)[];
  readonly incidents: readonly CalendarIncident[];
}

export type UptimeCalendarView = ReturnType<typeof uptimeCalendarView>;

export function uptimeCalendarView(model: CalendarPage) {
  const context = createContext(model, '../');
  const { words, format } = context;
  const today = dayOf(model.asOf, model.settings.timezone);
  const months = Array.from({ length: MONTHS }, (_, index) => addMonths(today.slice(0, 7), index - MONTHS + 1));
  const { days, texts } = barDays(context, Temporal.PlainDate.from(`${months[0]}-01`).until(today).days + 1);
  const calendar = buildCalendar(context, days);
  const uptimes = new Map(model.components.map((component) => [component, monthUptimes(model, component, months)]));
  const counted = countedComponents(model.components);
  const shown = model.settings.showUptime ? model.components : [];
  const write = (ratio: number | null) => format.percent(ratio, model.settings.uptimeDecimals);
  return {
    shell: buildShell(context, { title: words.uptimeTitle, path: UPTIME_PATH, section: 'uptime', present: model }),
    calendar,
    legend: STATES.map((state) => ({ letter: LOOKS[state].letter, word: stateWord(state, words) })),
    // When its days begin.
    daysIn: fill(words.daysIn, { zone: format.zone }),
    dayRows: listDayRows(context, texts, calendar.subjects[0].runs),
    dayTip: dayTip(
      context,
      days,
      calendar.subjects.map(({ runs }) => runs),
    ),
    // Oldest first.
    months: months.map((month) => format.monthShort(month)),
    // None where uptime is not shown.
    rows: shown.map((component) => ({
      component: linkTo(component, context.base + componentPath(component.definition.id)),
      state: component.state,
      // One for each month; a dash where nothing was observed.
      figures: (uptimes.get(component) ?? []).map(({ ratio }) => write(ratio)),
    })),
    total: model.settings.showUptime
      ? months.map((_, at) =>
          write(combinedUptime(counted.flatMap((component) => uptimes.get(component)?.[at] ?? [])).ratio),
        )
      : [],
    counted: countedTexts(model.settings, model.components, words),
  };
}

function monthUptimes(
  { asOf, settings }: CalendarPage,
  { timeline }: Pick<ComponentModel, 'timeline'>,
  months: readonly string[],
) {
  return months.map((month) => {
    const { from, to } = intervalOfMonth(month, settings.timezone);
    return uptimeOf(timeline, { from, to: toEpochMs(Math.min(to, asOf)) });
  });
}

function buildCalendar(context: ViewContext<CalendarPage>, days: readonly Day[]) {
  const { model, words, format, locale } = context;
  const measured = model.components.map((component) => ({ component, cells: barCells(component, days, model) }));
  const counted = new Set(countedComponents(model.components));
  const letters = combinedDays(
    measured.filter(({ component }) => counted.has(component)),
    days.length,
  );
  const details = days.map((_, index) => ({
    spans: '',
    incidents: incidentsOfDay(model, measured[0]?.cells[index]?.interval),
  }));
  const { firstDay } = new Intl.Locale(locale).getWeekInfo();
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'narrow', timeZone: 'UTC' });
  return {
    // All components together, then each of them.
    subjects: [
      { name: words.allComponents, lang: undefined, letters, runs: dayRuns(letters, details) },
      ...measured.map(({ component, cells }) => ({
        name: component.name,
        lang: component.lang,
        ...buildDayBar(
          model,
          component,
          cells,
          model.incidents.filter(({ componentIds }) => componentIds.includes(component.definition.id)),
        ),
      })),
    ] as const,
    // Oldest first.
    months: [...Map.groupBy(days.entries(), ([, day]) => day.slice(0, 7))].map(([month, inside]) => {
      const [[from, first] = [0, '' as Day]] = inside;
      return {
        name: format.month(month),
        // Its days among those of all months; the end is the day after.
        from,
        to: from + inside.length,
        until: inside.at(-1)?.[1] ?? first,
        // Of its first day: 0 is the day that weeks begin with.
        firstColumn: (Temporal.PlainDate.from(first).dayOfWeek - firstDay + 7) % 7,
      };
    }),
    // As few letters as a language has for them, in the order of its weeks; 5 January 1970 was a Monday.
    weekdays: Array.from({ length: 7 }, (_, at) => weekday.format(Date.UTC(1970, 0, 4 + firstDay + at))),
  };
}

function incidentsOfDay({ incidents, asOf }: CalendarPage, day: Interval | undefined): DayDetail['incidents'] {
  if (day === undefined) return [];
  return incidents
    .filter(({ startedAt, endedAt }) => startedAt < day.to && (endedAt ?? asOf) >= day.from)
    .map(({ slug, title, lang, pieces }) => ({ slug, title, lang, pieces }));
}
