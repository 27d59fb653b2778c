/** What is told: one update of one incident or maintenance, as the page that shows it says it. */

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

/** The same for everybody who is told of it, whatever the channel. */
export interface Notice {
  /** The same for the same update on the same page for ever, so that a repeat is recognised. */
  readonly id: string;
  readonly event: NoticeEvent;
  readonly page: {
    readonly slug: string;
    readonly title: string;
    /** Absolute; null: the site has no address. */
    readonly url: string | null;
    /** BCP 47, of the page's words. */
    readonly language: string;
  };
  /** The incident or maintenance that it is about: what threads and deduplication keys are made from. */
  readonly subject: {
    readonly id: string;
    readonly title: string;
    /** Absolute; null: the site has no address. */
    readonly url: string | null;
    /** Null for a maintenance. */
    readonly impact: IncidentImpact | null;
    /** In the words of the entry: `investigating`, `in_progress` … */
    readonly status: string;
    readonly startedAt: EpochMs;
    /** Of an incident when it ended, of a maintenance when its window ends; null: open. */
    readonly endsAt: EpochMs | null;
  };
  /** Names of the components of this page that it is about, in the order of the page. */
  readonly components: readonly string[];
  /** What the update says, as plain text without markup; hostile. Empty: it says nothing. */
  readonly text: string;
  readonly at: EpochMs;
}
