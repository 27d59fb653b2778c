/** Calendar months of a page, as `2026-11`. */

import {
  type Day,
  dayOf,
  type EpochMs,
  firstKnownAt,
  type Interval,
  type PageModel,
  startOfDay,
} from '../../model/index.ts';
import type { LinkView, PageFrame, ViewContext } from '../frame/shell.ts';

/** The month of `at` in the IANA zone `zone`. */
export function monthOf(at: EpochMs, zone: string): string {
  return dayOf(at, zone).slice(0, 7);
}

/** The month `count` months after `month`. */
export function addMonths(month: string, count: number): string {
  // Asked for every component and month of a year, so without Temporal.
  const total = Number(month.slice(0, -3)) * 12 + Number(month.slice(-2)) - 1 + count;
  return `${String(Math.floor(total / 12)).padStart(4, '0')}-${String((total % 12) + 1).padStart(2, '0')}`;
}

/** The stretch of a month in `zone`. */
export function intervalOfMonth(month: string, zone: string): Interval {
  return {
    from: startOfDay(`${month}-01` as Day, zone),
    to: startOfDay(`${addMonths(month, 1)}-01` as Day, zone),
  };
}

/** Links to the months before and after one that has a page; null: there is none. */
export function linkMonths(
  { model, format, base }: ViewContext<PageFrame & { readonly months: readonly string[] }>,
  month: string,
  toPath: (month: string) => string,
) {
  const at = model.months.indexOf(month);
  const link = (target: string | undefined): LinkView | null =>
    target === undefined || at < 0 ? null : { href: base + toPath(target), text: format.month(target) };
  return { earlier: link(model.months[at + 1]), later: link(model.months[at - 1]) };
}

/**
 * Months that a page's history has, newest first and without gaps: from the current one back to that of its oldest
 * incident or, where time lines reach further, of its oldest known day.
 */
export function listMonths({ incidents, maintenances, components, asOf, settings }: PageModel): string[] {
  let oldest: EpochMs = asOf;
  for (const { startedAt } of incidents) if (startedAt < oldest) oldest = startedAt;
  for (const { windows } of maintenances) for (const { from } of windows) if (from < oldest) oldest = from;
  for (const { timeline } of components) {
    const known = firstKnownAt(timeline);
    if (known !== null && known < oldest) oldest = known;
  }
  const last = monthOf(oldest, settings.timezone);
  const months: string[] = [];
  for (let month = monthOf(asOf, settings.timezone); month >= last; month = addMonths(month, -1)) months.push(month);
  return months;
}
