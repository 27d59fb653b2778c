/** Results of the last runs of a check at one place. */

import type { ResponseTime } from './observation.ts';
import type { EpochMs } from './time.ts';

/** `unknown`: the check couldn't run, because the place itself had no network. */
export const CHECK_STATES = ['operational', 'degraded', 'major_outage', 'unknown'] as const;
export type CheckState = (typeof CHECK_STATES)[number];

export interface CheckResult {
  /** The place that it was checked from. */
  readonly place: string;
  /** Time of the last try. While a failure is being retried, the state is still the previous one. */
  readonly at: EpochMs;
  readonly state: CheckState;
  /** Time of the first of the consecutive tries with this state. */
  readonly since: EpochMs;
  /** The end of the run that detected the state. */
  readonly foundAt: EpochMs;
  /** Why it isn't operational; null if it is. */
  readonly fault: string | null;
  /** Duration of the last run in milliseconds; null if there was no answer. */
  readonly totalMs: number | null;
  readonly certificateEndsAt: EpochMs | null;
  /** The newest answers, oldest first. */
  readonly recent: readonly ResponseTime[];
  /** Durations of the last operational answers in milliseconds, to tell what is usual. */
  readonly usualMs: readonly number[];
}

/** A result with the id of its check. */
export interface StoredCheck extends CheckResult {
  readonly upstream: string;
  /** The id of the check within its upstream. */
  readonly name: string;
}
