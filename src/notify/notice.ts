/** A notice: one update of one incident or maintenance, as its page shows it. */

import type { IncidentImpact } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';

export const NOTICE_EVENTS = [
  'incident_opened',
  'incident_updated',
  'incident_resolved',
  'maintenance_announced',
  'maintenance_started',
  'maintenance_completed',
] as const;
export type NoticeEvent = (typeof NOTICE_EVENTS)[number];

/** The same for every recipient and channel. */
export interface Notice {
  /** Always the same for the same update on the same page, so that repeats are recognised. */
  readonly id: string;
  readonly event: NoticeEvent;
  readonly page: {
    readonly slug: string;
    readonly title: string;
    /** Absolute; null: the site has no address. */
    readonly url: string | null;
    /** The page's language, as BCP 47. */
    readonly language: string;
  };
  /** The incident or maintenance that it is about; threads and deduplication keys are derived from it. */
  readonly subject: {
    readonly id: string;
    readonly title: string;
    /** Absolute; null: the site has no address. */
    readonly url: string | null;
    /** Null for a maintenance. */
    readonly impact: IncidentImpact | null;
    /** `investigating`, `in_progress` … */
    readonly status: string;
    readonly startedAt: EpochMs;
    /** When the incident ended, or the window of the maintenance ends; null: open. */
    readonly endsAt: EpochMs | null;
  };
  /** Names of the affected components, in the order of the page. */
  readonly components: readonly string[];
  /** Text of the update without markup; may be hostile, or empty. */
  readonly text: string;
  readonly at: EpochMs;
}
