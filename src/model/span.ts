/** The past of a monitor or a component as spans, and what becomes one time line. */

import type { State } from './state.ts';
import type { Day, Interval } from './time.ts';

/** A monitor in one state over `[from, to)`. */
export interface Span extends Interval {
  readonly state: State;
}

/**
 * Where a piece of the time line comes from: our own passes, an outage that the upstream recorded, what the upstream
 * says of the time before our first pass, what people declared (of a component without a monitor also that nothing is
 * wrong), a maintenance window, or nowhere (always `unknown`).
 */
export const PROVENANCES = ['observed', 'incident', 'reported', 'declared', 'maintenance', 'none'] as const;
export type Provenance = (typeof PROVENANCES)[number];

export interface TimelineSpan extends Span {
  readonly provenance: Provenance;
  /**
   * The state that uptime counts, where it is another: an impact was declared that is not to count. Absent: `state`.
   * Both stand in one piece, so that no two readings of a time line can disagree.
   */
  readonly counted?: State;
  /** True: nobody looked. It is known only from a recorded outage, a maintenance window or what people declared. */
  readonly isUnseen?: true;
}

/** A state that people declared a component to be in. */
export interface DeclaredSpan extends Span {
  /** False: it shows and does not count in uptime. */
  readonly isCounted: boolean;
}

/** One UTC day as an upstream counted its own checks; the shares of the day are in proportion. */
export interface ReportedDay {
  readonly day: Day;
  readonly operational: number;
  readonly degraded: number;
  readonly major_outage: number;
}

/**
 * Everything known of one component's past. All lists are sorted by `from`. `observed` and `reported` are disjoint inside,
 * but where our clock once went back; `timelineOf` then believes the worse.
 */
export interface History {
  /** What our passes saw. */
  readonly observed: readonly Span[];
  /** What the upstream says of times we did not see. */
  readonly reported: readonly Span[];
  /** Outages that the upstream recorded of this monitor: down even where sampling missed it. May overlap. */
  readonly outages: readonly Interval[];
  /** Maintenance windows of this monitor or component. May overlap. */
  readonly maintenances: readonly Interval[];
  /** What people declared. May overlap. Absent: nothing. */
  readonly declared?: readonly DeclaredSpan[];
  /** When people would have said it if something was wrong: the time of a component without a monitor. Absent: never. */
  readonly watched?: readonly Interval[];
}
