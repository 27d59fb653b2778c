/** The report of one month as a page, and the list of the months that have one. */

import {
  combinedUptime,
  fillPieces,
  type Interval,
  type PageModel,
  toEpochMs,
  type Uptime,
  uptimeOf,
} from '../../model/index.ts';
import { incidentsByComponent } from '../days/day-bar.ts';
import { intervalOfMonth, linkMonths } from '../days/months.ts';
import {
  buildShell,
  createContext,
  type DatedPage,
  type LinkView,
  linkTo,
  type MeasuredComponent,
  type PageFrame,
  type ViewContext,
} from '../frame/shell.ts';
import { incidentEvent, maintenanceEvent } from '../incident/events.ts';
import { countedComponents, countedTexts, touches } from '../model/page-state.ts';
import { componentPath, REPORTS_PATH, reportPath } from '../text/addresses.ts';
import { fill } from '../words/index.ts';

/** A page as far as the report of one month is concerned; of events, newest first, at least those that touch the month. */
export interface ReportPage extends DatedPage, Pick<PageModel, 'incidents' | 'maintenances'> {
  /** Months that have a report, newest first. */
  readonly months: readonly string[];
  /** Time lines at least of the month. */
  readonly components: readonly MeasuredComponent[];
}

/** @param month  `2026-11`; of the current one up to `asOf` */
export function reportView(model: ReportPage, month: string) {
  const context = createContext(model, '../../');
  const { words, format, base, root, locale } = context;
  const whole = intervalOfMonth(month, model.settings.timezone);
  const window = { from: whole.from, to: toEpochMs(Math.max(whole.from, Math.min(whole.to, model.asOf))) };
  const heading = fill(words.reportTitle, { month: format.month(month) });
  return {
    shell: buildShell(context, { title: heading, path: reportPath(month), section: 'reports' }),
    heading,
    intro: fill(words.reportIntro, {
      from: format.zoned.time(window.from).text,
      to: format.zoned.time(window.to).text,
    }),
    // A sentence with links.
    downloads: fillPieces(words.download, {
      formats: new Intl.ListFormat(locale, { type: 'disjunction' })
        .formatToParts(['CSV', 'JSON'])
        .map(({ type, value: text }): string | LinkView =>
          type === 'literal' ? text : { href: `${root}${reportPath(month)}report.${text.toLowerCase()}`, text },
        ),
    }),
    // The whole page, then each component; cells in the order of the columns.
    rows: reportRowViews(context, window),
    ...eventsWithin(context, window),
    noIncidentsText: words.noIncidentsMonth,
    // How figures and days come about.
    counted: [...countedTexts(model.settings, model.components, words), fill(words.daysIn, { zone: format.zone })],
    ...linkMonths(context, month, reportPath),
    reportsHref: base + REPORTS_PATH,
  };
}

function reportRowViews(context: ViewContext<ReportPage>, window: Interval) {
  const { model, base } = context;
  const uptimes = new Map(model.components.map((one) => [one, uptimeOf(one.timeline, window)]));
  const together = combinedUptime(countedComponents(model.components).flatMap((one) => uptimes.get(one) ?? []));
  const touching = model.incidents.filter((one) => touches(window, one.startedAt, one.endedAt));
  const byComponent = incidentsByComponent({ incidents: touching });
  return [
    { component: null, cells: reportCells(context, together, touching.length) },
    ...[...uptimes].map(([one, uptime]) => ({
      // Null: all components together.
      component: linkTo(one, base + componentPath(one.definition.id)),
      cells: reportCells(context, uptime, byComponent.get(one.definition.id)?.length ?? 0),
    })),
  ];
}

function reportCells({ model, format }: ViewContext<ReportPage>, uptime: Uptime, incidentCount: number): string[] {
  const lasted = (ms: number) => (ms > 0 ? format.duration(ms) : '–');
  const { msByState } = uptime;
  return [
    model.settings.showUptime ? format.percent(uptime.ratio, model.settings.uptimeDecimals) : '–',
    lasted(msByState.major_outage),
    lasted(msByState.partial_outage),
    lasted(msByState.degraded),
    lasted(msByState.maintenance),
    lasted(msByState.unknown),
    incidentCount > 0 ? format.number(incidentCount) : '–',
  ];
}

function eventsWithin(context: ViewContext<ReportPage>, window: Interval) {
  const { incidents, maintenances } = context.model;
  return {
    incidents: incidents
      .filter((one) => touches(window, one.startedAt, one.endedAt))
      .map((one) => incidentEvent(context, one, { updatesMax: 1 })),
    maintenances: maintenances.flatMap((one) => {
      const last = one.windows.findLast(({ from, to }) => touches(window, from, to));
      return last === undefined ? [] : [maintenanceEvent(context, one, { updatesMax: 1, window: last })];
    }),
  };
}

/** @param months  those that have a report, newest first */
export function reportIndexView(model: PageFrame, months: readonly string[]) {
  const context = createContext(model, '../');
  const { words, format, base } = context;
  return {
    shell: buildShell(context, { title: words.reports, path: REPORTS_PATH, section: 'reports' }),
    heading: words.reports,
    months: months.map((month) => ({ href: base + reportPath(month), text: format.month(month) })),
  };
}
