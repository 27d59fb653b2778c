/** Uptime over the usual windows, as a table. */

import {
  type ComponentModel,
  UPTIME_PERIODS,
  type Uptime,
  type UptimePeriod,
  uptimePeriods,
} from '../../model/index.ts';
import type { DatedPage, PageFrame } from '../frame/page-frame.ts';
import type { ViewContext } from '../frame/shell.ts';
import type { Words } from '../words/index.ts';

export interface PeriodRowView {
  readonly period: string;
  readonly uptime: string;
  /** Share of the window that was observed. */
  readonly observed: string;
  /** Time down, by weight; a dash when nothing was. */
  readonly down: string;
}

const PERIOD_KEYS = {
  '24h': 'period24h',
  '7d': 'period7d',
  '30d': 'period30d',
  '90d': 'period90d',
  '365d': 'period365d',
} as const satisfies Record<UptimePeriod, keyof Words>;

export function periodRowsOf(context: ViewContext<DatedPage>, component: ComponentModel): PeriodRowView[] {
  const { model, words } = context;
  const uptimes = uptimePeriods(component.timeline, model.asOf);
  return (Object.keys(UPTIME_PERIODS) as UptimePeriod[]).map((period) => ({
    period: words[PERIOD_KEYS[period]],
    ...periodFigures(context, uptimes[period]),
  }));
}

/** The figures of one uptime as they are written. */
function periodFigures({ model, format }: ViewContext<PageFrame>, uptime: Uptime): Omit<PeriodRowView, 'period'> {
  const { uptimeDecimals } = model.settings;
  return {
    uptime: format.percent(uptime.ratio, uptimeDecimals),
    observed: format.percent(uptime.coverageRatio, 0),
    down: uptime.downMs > 0 ? format.duration(uptime.downMs) : '–',
  };
}
