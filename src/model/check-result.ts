/** What the last runs of one check at one place showed. */

import type { ResponseTime } from './observation.ts';
import type { EpochMs } from './time.ts';

/** `unknown`: it could not be checked, because the network of the place itself was gone. */
export const CHECK_STATES = ['operational', 'degraded', 'major_outage', 'unknown'] as const;
export type CheckState = (typeof CHECK_STATES)[number];

export interface CheckResult {
  /** Where it was checked from. */
  readonly place: string;
  /** The last try; while a failure is tried again, the state is still that of before. */
  readonly at: EpochMs;
  readonly state: CheckState;
  /** The first try that showed this state, in a row without gaps. */
  readonly since: EpochMs;
  /** The end of the run that found it out. */
  readonly foundAt: EpochMs;
  /** Why it isn't operational, in our words; null: it is. */
  readonly fault: string | null;
  /** Of the last verdict, in milliseconds; null: there was no answer. */
  readonly totalMs: number | null;
  readonly certificateEndsAt: EpochMs | null;
  /** The newest answers, oldest first. */
  readonly recent: readonly ResponseTime[];
  /** Of the last answers that were operational, in milliseconds: what is usual. */
  readonly usualMs: readonly number[];
}

/** A result with the name of its check. */
export interface StoredCheck extends CheckResult {
  readonly upstream: string;
  /** Id of the check in its upstream. */
  readonly name: string;
}
