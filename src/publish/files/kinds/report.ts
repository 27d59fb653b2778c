import type { EpochMs, PageIncident, PageMaintenance } from '../../../model/index.ts';
import type { PageFrame } from '../../../views/frame/page-frame.ts';
import { type ReportPage, reportView } from '../../../views/report/report.ts';
import { htmlKind } from '../file-kind.ts';

export interface ReportInputs extends Pick<ReportPage, 'months' | 'components'> {
  readonly frame: PageFrame;
  readonly month: string;
  /** Those that touch the month. */
  readonly incidents: readonly PageIncident[];
  readonly maintenances: readonly PageMaintenance[];
  /** The present while the month goes on or one of them does; else the latest instant that the report depends on. */
  readonly asOf: EpochMs;
}

export const REPORT = htmlKind(import.meta.url, 'report', ({ frame, month, ...page }: ReportInputs) =>
  reportView({ ...frame, ...page }, month),
);
