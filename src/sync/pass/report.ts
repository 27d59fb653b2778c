/** The result of a pass: plain data for the command line, the operators' page and the publisher. */

import type { ErrorCode, StatusError } from '../../errors.ts';
import type { Learned, MonitorId, Problem, SnapshotPart } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Tally } from './runner.ts';

export interface PassReport {
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
  /** In the order they were given. */
  readonly upstreams: readonly UpstreamReport[];
}

/** The result for one upstream. */
export type UpstreamReport =
  /** Committed. `stale`: parts that could not be read and keep their last value. */
  | (UpstreamReportBase & {
      readonly kind: 'ok';
      readonly changed: Changed;
      readonly stale: readonly SnapshotPart[];
    })
  /** Skipped on purpose; nothing was committed. */
  | (UpstreamReportBase & { readonly kind: 'skipped'; readonly cause: SkipCause; readonly reason: string })
  /** Failed; nothing was committed. */
  | (UpstreamReportBase & { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string });

/**
 * `overlap`: another pass is running. `elsewhere`: another node has the schedule. `failing`: in back-off after repeated
 * failures. `refused`: it rejected our key. `waiting`: it told us to wait. `held`: more than half of it disappeared, which is
 * accepted once seen twice. `outdated`: a newer answer was recorded meanwhile.
 */
type SkipCause = 'overlap' | 'elsewhere' | 'failing' | 'refused' | 'waiting' | 'held' | 'outdated';

/** Ids of items that the pass changed. */
export interface Changed {
  readonly monitors: readonly MonitorId[];
  readonly incidents: readonly string[];
  readonly maintenances: readonly string[];
  /** Changed page definitions, including removed ones. */
  readonly pages: readonly string[];
  readonly announcements: readonly string[];
}

interface UpstreamReportBase {
  readonly upstreamId: string;
  /** Requests sent, including retries and redirects. */
  readonly requestsUsed: number;
  readonly durationMs: number;
  readonly monitorsTotal: number;
  readonly itemsTotal: number;
  readonly itemsDropped: number;
  readonly wordsUnknown: number;
  /** Details left for a later pass. */
  readonly detailsWaiting: number;
  /** The first ones of each kind; the counts above are of all. */
  readonly problems: readonly Problem[];
}

/** Limit for each kind: 10,000 monitors in an unknown state are one fact, not 10,000 lines. */
const PROBLEMS_SHOWN = 20;

/** How the questions to one upstream ended. */
export type Outcome =
  | { readonly kind: 'ok'; readonly learned: Learned; readonly changed: Changed }
  | {
      readonly kind: 'skipped';
      readonly cause: SkipCause;
      readonly reason: string;
      /** Absent: nothing was asked. */
      readonly learned?: Learned;
    }
  | { readonly kind: 'failed'; readonly error: StatusError; readonly learned: Learned | null };

interface ReportFacts extends Pick<UpstreamReportBase, 'upstreamId' | 'durationMs'> {
  readonly tally: Tally;
  /** What is to be said beside what was learned. */
  readonly notes: readonly Problem[];
}

/** The report of an outcome. */
export function toReport(outcome: Outcome, { upstreamId, durationMs, tally, notes }: ReportFacts): UpstreamReport {
  const learned = outcome.learned ?? null;
  const byKind = Map.groupBy([...notes, ...(learned?.problems ?? [])], ({ kind }) => kind);
  const base: UpstreamReportBase = {
    upstreamId,
    durationMs,
    requestsUsed: tally.requestsUsed,
    detailsWaiting: tally.skipped,
    monitorsTotal: learned?.monitors.length ?? 0,
    itemsTotal: learned?.itemsTotal ?? 0,
    itemsDropped: byKind.get('dropped')?.length ?? 0,
    wordsUnknown: byKind.get('word')?.length ?? 0,
    problems: [...byKind.values()].flatMap((some) => some.slice(0, PROBLEMS_SHOWN)),
  };
  switch (outcome.kind) {
    case 'ok':
      return { ...base, kind: 'ok', changed: outcome.changed, stale: outcome.learned.stale };
    case 'skipped':
      return { ...base, kind: 'skipped', cause: outcome.cause, reason: outcome.reason };
    case 'failed':
      return { ...base, kind: 'failed', code: outcome.error.code, message: outcome.error.message };
  }
}
