/** The result of a pass: plain data for the command line, the operators' page and the publisher. */

import type { StatusError } from '../../errors.ts';
import type { Learned, MonitorId, Problem } from '../../model/observation.ts';
import { createTally, type Tally } from './requester.ts';

export type UpstreamReport = ReturnType<typeof toReport>;

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

/** The report of an outcome. @param notes  what is to be said beside what was learned */
export function toReport(
  outcome: Outcome,
  upstreamId: string,
  durationMs: number,
  tally: Readonly<Tally> = createTally(),
  notes: readonly Problem[] = [],
) {
  const learned = outcome.learned ?? null;
  const byKind = Map.groupBy([...notes, ...(learned?.problems ?? [])], ({ kind }) => kind);
  const base = {
    upstreamId,
    durationMs,
    /** Requests sent, including retries and redirects. */
    requestsUsed: tally.requestsUsed,
    /** Details left for a later pass. */
    detailsWaiting: tally.skipped,
    monitorsTotal: learned?.monitors.length ?? 0,
    itemsTotal: learned?.itemsTotal ?? 0,
    itemsDropped: byKind.get('dropped')?.length ?? 0,
    wordsUnknown: byKind.get('word')?.length ?? 0,
    /** The first ones of each kind; the counts above are of all. */
    problems: [...byKind.values()].flatMap((some) => some.slice(0, PROBLEMS_SHOWN)),
  };
  switch (outcome.kind) {
    // Committed. `stale`: parts that could not be read and keep their last value.
    case 'ok':
      return { ...base, kind: outcome.kind, changed: outcome.changed, stale: outcome.learned.stale };
    // Skipped on purpose; nothing was committed.
    case 'skipped':
      return { ...base, kind: outcome.kind, cause: outcome.cause, reason: outcome.reason };
    case 'failed':
      return { ...base, kind: outcome.kind, code: outcome.error.code, message: outcome.error.message };
  }
}
