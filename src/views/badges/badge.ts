/** What a badge says: the figures of one page, group or component, as plain data. */

import type { EpochMs, State, Translated, UptimePeriod } from '../../model/index.ts';

/** Everything any kind of badge shows of a page, a group or a component. */
export interface BadgeSubject {
  readonly name: string;
  /** The same in other languages, by tag; absent: nobody translated it. */
  readonly names?: Translated;
  /** Now. */
  readonly state: State;
  /** Something of it was not heard from in time: nothing about the present may be claimed but trouble that is known. */
  readonly isStale: boolean;
  /** All of this was computed too long ago, so that not even known trouble may be claimed to go on. Absent: it is kept up to date. */
  readonly isExpired?: boolean;
  /** 0 to 1, exactly 1 only when nothing was down; null: not observed, or not shown. */
  readonly uptime: Readonly<Record<UptimePeriod, number | null>>;
  /** Over the last 24 hours; without samples, the average that upstreams give; null: they give none. */
  readonly responseTime: { readonly averageMs: number; readonly p95Ms: number | null } | null;
  /** Averages of equal stretches of the last 24 hours, oldest first; null is a gap and not a zero. */
  readonly responseSeries: readonly (number | null)[];
  /** A letter for the state of each day, as in bars: oldest first, the last one is today; usually 90. */
  readonly days: string;
  readonly openIncidents: number;
  /** Incidents that began in the last 30 days. */
  readonly incidents30d: number;
  /** When the last incident that is over ended; null: none is known. */
  readonly lastIncidentEndedAt: EpochMs | null;
  /** When the next announced maintenance begins; null: none is announced. */
  readonly nextMaintenanceAt: EpochMs | null;
  /** IANA zone that times are written in. */
  readonly timezone: string;
  /** The instant that all of this is said of. */
  readonly now: EpochMs;
}
