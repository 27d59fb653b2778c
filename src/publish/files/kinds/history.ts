import type { EpochMs, PageIncident, PageMaintenance } from '../../../model/index.ts';
import type { PageFrame } from '../../../views/frame/page-frame.ts';
import { type HistoryPage, historyView } from '../../../views/history/history.ts';
import { htmlKind } from '../file-kind.ts';

export interface HistoryInputs extends Pick<HistoryPage, 'months' | 'incidentCounts'> {
  readonly frame: PageFrame;
  /** Null: the current one, as `history/` itself shows. */
  readonly month: string | null;
  /** Those that begin in the month. */
  readonly incidents: readonly PageIncident[];
  readonly maintenances: readonly PageMaintenance[];
  /** The present, or the latest instant that they depend on. */
  readonly asOf: EpochMs;
}

export const HISTORY = htmlKind(import.meta.url, 'history', ({ frame, month, ...page }: HistoryInputs) =>
  historyView({ ...frame, ...page }, month),
);
