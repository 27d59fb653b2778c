/** A year at a glance: every day as a cell, every month as a figure for each component. */

import {
  type ComponentModel,
  combinedUptime,
  type Day,
  type Interval,
  type PageModel,
  type State,
  toEpochMs,
  uptimeOf,
} from '../../model/index.ts';
import { combinedDays } from '../badges/badge-subjects.ts';
import { barCells, barDays } from '../days/day-bar.ts';
import {
  type DayDetail,
  type DayRowView,
  type DayRun,
  type DayTipView,
  dayRuns,
  dayTip,
  type IncidentHead,
  listDayRows,
} from '../days/day-notes.ts';
import { addMonths, intervalOfMonth, monthOf } from '../days/months.ts';
import type { MeasuredComponent, PageAge, PageFrame } from '../frame/page-frame.ts';
import {
  buildShell,
  createContext,
  type LinkView,
  type ShellView,
  type ViewContext,
  type ViewOptions,
} from '../frame/shell.ts';
import { countedComponents } from '../model/page-state.ts';
import { componentPath, UPTIME_PATH } from '../text/addresses.ts';

const CALENDAR_DAYS = 365;
const MONTHS = 12;

export interface UptimeCalendarView {
  readonly shell: ShellView;
  readonly calendar: CalendarGridView;
  readonly dayRows: readonly DayRowView[];
  readonly dayTip: DayTipView;
  /** Oldest first. */
  readonly months: readonly string[];
  /** None where uptime is not shown. */
  readonly rows: readonly MonthRowView[];
  readonly total: readonly string[];
  readonly counted: string;
}

export interface CalendarGridView {
  /** A letter a day, oldest first. */
  readonly letters: string;
  readonly runs: readonly DayRun[];
  /** Row of the first day: 0 is the day that weeks begin with. */
  readonly firstRow: number;
  /** Months by the column in which they begin. */
  readonly monthLabels: readonly { readonly column: number; readonly text: string }[];
}

interface MonthRowView {
  readonly component: LinkView;
  readonly state: State;
  /** One for each month; a dash where nothing was observed. */
  readonly figures: readonly string[];
}

/** A page as far as its calendar is concerned. */
interface CalendarPage extends PageFrame, PageAge, Pick<PageModel, 'state' | 'since'> {
  readonly components: readonly (MeasuredComponent & Pick<ComponentModel, 'state'>)[];
  readonly incidents: readonly IncidentHead[];
}

export function uptimeCalendarView(model: CalendarPage, options: ViewOptions = {}): UptimeCalendarView {
  const context = createContext(model, { base: '../', ...options });
  const { words, format } = context;
  const { days, texts } = barDays(context, CALENDAR_DAYS);
  const calendar = buildGrid(context, days);
  const current = monthOf(model.asOf, model.settings.timezone);
  const months = Array.from({ length: MONTHS }, (_, index) => addMonths(current, index - MONTHS + 1));
  const uptimes = new Map(model.components.map((component) => [component, monthUptimes(model, component, months)]));
  const counted = countedComponents(model.components);
  const shown = model.settings.showUptime ? model.components : [];
  const write = (ratio: number | null) => format.percent(ratio, model.settings.uptimeDecimals);
  return {
    shell: buildShell(context, {
      title: words.uptimeTitle,
      description: words.uptimeTitle,
      path: UPTIME_PATH,
      section: 'uptime',
      present: model,
    }),
    calendar,
    dayRows: listDayRows(context, texts, calendar.runs),
    dayTip: dayTip(context, days, [calendar.runs]),
    months: months.map((month) => format.monthShort(month)),
    rows: shown.map((component) => ({
      component: { href: context.base + componentPath(component.definition.id), text: component.name },
      state: component.state,
      figures: (uptimes.get(component) ?? []).map(({ ratio }) => write(ratio)),
    })),
    total: model.settings.showUptime
      ? months.map((_, at) =>
          write(combinedUptime(counted.flatMap((component) => uptimes.get(component)?.[at] ?? [])).ratio),
        )
      : [],
    counted: words.countedUptime,
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

function buildGrid(context: ViewContext<CalendarPage>, days: readonly Day[]): CalendarGridView {
  const { model, format, locale } = context;
  const members = countedComponents(model.components).map((component) => ({
    component,
    cells: barCells(component, days, model),
  }));
  const letters = combinedDays(members, days.length);
  const details = days.map((_, index) => ({
    spans: '',
    incidents: incidentsOfDay(model, members[0]?.cells[index]?.interval),
  }));
  const firstRow = weekdayRow(days[0], locale);
  const monthLabels = listLabels(days, firstRow, format.monthShort);
  return { letters, runs: dayRuns(letters, details), firstRow, monthLabels };
}

function incidentsOfDay({ incidents, asOf }: CalendarPage, day: Interval | undefined): DayDetail['incidents'] {
  if (day === undefined) return [];
  return incidents
    .filter(({ startedAt, endedAt }) => startedAt < day.to && (endedAt ?? asOf) >= day.from)
    .map(({ slug, title }) => ({ slug, title }));
}

/** Days since the one that weeks begin with where `locale` is spoken. */
function weekdayRow(day: Day | undefined, locale: string): number {
  if (day === undefined) return 0;
  const { firstDay } = new Intl.Locale(locale).getWeekInfo();
  return (Temporal.PlainDate.from(day).dayOfWeek - firstDay + 7) % 7;
}

function listLabels(
  days: readonly Day[],
  firstRow: number,
  write: (month: string) => string,
): { column: number; text: string }[] {
  return days.flatMap((day, index) =>
    day.endsWith('-01') ? [{ column: Math.floor((index + firstRow + 6) / 7), text: write(day.slice(0, 7)) }] : [],
  );
}
