/** A monitor's past as spans, and how what was observed, reported and announced becomes one time line. */

import type { State } from './state.ts';
import type { Day, Interval } from './time.ts';

/** A monitor in one state over `[from, to)`. */
export interface Span extends Interval {
  readonly state: State;
}

/**
 * Where a piece of the time line comes from: our own passes, an incident of the upstream, what the upstream
 * says of the time before our first pass, a maintenance window, or nowhere (always `unknown`).
 */
export const PROVENANCES = ['observed', 'incident', 'reported', 'maintenance', 'none'] as const;
export type Provenance = (typeof PROVENANCES)[number];

export interface TimelineSpan extends Span {
  readonly provenance: Provenance;
}

/** One UTC day as an upstream counted its own checks; the shares of the day are in proportion. */
export interface ReportedDay {
  readonly day: Day;
  readonly operational: number;
  readonly degraded: number;
  readonly major_outage: number;
}

/**
 * Everything known of one monitor's past. All lists are sorted by `from`. `observed` and `reported` are disjoint inside,
 * but where our clock once went back; `timelineOf` then believes the worse.
 */
export interface History {
  /** What our passes saw. */
  readonly observed: readonly Span[];
  /** What the upstream says of times we did not see. */
  readonly reported: readonly Span[];
  /** Incidents of the upstream about this monitor: down even where sampling missed it. May overlap. */
  readonly outages: readonly Interval[];
  /** Maintenance windows of this monitor or component. May overlap. */
  readonly maintenances: readonly Interval[];
}
