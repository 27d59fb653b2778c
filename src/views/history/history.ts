/** Incidents and maintenance of one month, and the way to the other months. */

import { type Day, dayOf, type Interval, type PageModel } from '../../model/index.ts';
import { intervalOfMonth, monthOf, monthsOf } from '../days/months.ts';
import {
  contextOf,
  type LinkView,
  type ShellView,
  shellOf,
  type ViewContext,
  type ViewOptions,
} from '../frame/shell.ts';
import { type EventView, incidentEventOf, maintenanceEventOf } from '../incident/events.ts';
import { HISTORY_PATH, historyPath } from '../text/addresses.ts';
import { fill } from '../words/index.ts';

export interface HistoryView {
  readonly shell: ShellView;
  readonly heading: string;
  /** `2026-11` */
  readonly month: string;
  readonly monthText: string;
  /** Newest first; days without events are left out. */
  readonly days: readonly HistoryDayView[];
  readonly emptyText: string;
  readonly earlier: LinkView | null;
  readonly later: LinkView | null;
  readonly months: readonly MonthLinkView[];
}

export interface HistoryDayView {
  readonly id: string;
  readonly day: string;
  readonly events: readonly HistoryEventView[];
}

export interface HistoryEventView extends EventView {
  readonly isMaintenance: boolean;
}

export interface MonthLinkView extends LinkView {
  readonly incidentCount: number;
  readonly isCurrent: boolean;
}

/**
 * @param month  `2026-11`; null: the current one, as `history/` itself shows
 * @param options  `base` defaults to `'../'` for `history/` and `'../../'` for a month
 */
export function historyView(model: PageModel, month: string | null, options: ViewOptions = {}): HistoryView {
  const context = contextOf(model, { base: month === null ? '../' : '../../', ...options });
  const { words, format } = context;
  const shown = month ?? monthOf(model.asOf, model.settings.timezone);
  const monthText = format.month(shown);
  const months = monthsOf(model);
  const at = months.indexOf(shown);
  const heading = fill(words.historyOf, { month: monthText });
  const link = (index: number): LinkView | null => {
    const target = months[index];
    return target === undefined || index < 0 || at < 0
      ? null
      : { href: context.base + historyPath(target), text: format.month(target) };
  };
  return {
    shell: shellOf(context, {
      title: month === null ? words.historyTitle : heading,
      description: heading,
      path: month === null ? HISTORY_PATH : historyPath(month),
      section: 'history',
      isLive: false,
    }),
    heading,
    month: shown,
    monthText,
    days: historyDaysOf(context, intervalOfMonth(shown, model.settings.timezone)),
    emptyText: words.noIncidentsMonth,
    earlier: link(at + 1),
    later: link(at - 1),
    months: monthLinksOf(context, { months, shown }),
  };
}

function historyDaysOf(context: ViewContext, window: Interval): HistoryDayView[] {
  const { model, format } = context;
  const within = (at: number) => at >= window.from && at < window.to;
  const events = [
    ...model.incidents
      .filter((one) => within(one.startedAt) && one.startedAt <= model.asOf)
      .map((one) => ({
        at: one.startedAt,
        event: { ...incidentEventOf(context, one, { updatesMax: 1 }), isMaintenance: false },
      })),
    ...model.maintenances.flatMap((one) => {
      // One that repeats stands where it took place last in the month.
      const last = one.windows.findLast(({ from }) => within(from) && from <= model.asOf);
      if (last === undefined) return [];
      return [
        {
          at: last.from,
          event: { ...maintenanceEventOf(context, one, { updatesMax: 1, window: last }), isMaintenance: true },
        },
      ];
    }),
  ].sort((a, b) => b.at - a.at);
  const byDay = Map.groupBy(events, ({ at }): Day => dayOf(at, model.settings.timezone));
  return [...byDay].map(([day, list]) => ({
    id: `d${day}`,
    day: format.dayLong(day),
    events: list.map(({ event }) => event),
  }));
}

function monthLinksOf(
  { model, format, base }: ViewContext,
  { months, shown }: { readonly months: readonly string[]; readonly shown: string },
): MonthLinkView[] {
  const counts = new Map<string, number>();
  for (const { startedAt } of model.incidents) {
    const month = monthOf(startedAt, model.settings.timezone);
    counts.set(month, (counts.get(month) ?? 0) + 1);
  }
  return months.map((month) => ({
    href: base + historyPath(month),
    text: format.month(month),
    incidentCount: counts.get(month) ?? 0,
    isCurrent: month === shown,
  }));
}
