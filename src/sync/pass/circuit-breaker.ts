/** Decides when not to query an upstream, because it is down or rejected our key. Pure; its state is in the store. */

import type { StatusError } from '../../errors.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS, toEpochMs } from '../../model/time.ts';
import { CONTROL_AT_FIRST, type UpstreamControl } from '../../store/upstream-control.ts';

/** Failed requests in a row that open the circuit. */
const FAILURES_MAX = 5;
/** How long the circuit is open the first time; then doubled. Short, because trying again costs one request. */
const OPEN_FIRST_MS = 30 * SECOND_MS;
const OPEN_MAX_MS = 5 * MINUTE_MS;
/** Time before a rejected key is tried again, with one request. Short, so that a corrected key works with the next pass. */
const REFUSED_MS = 30 * SECOND_MS;

export type Circuit =
  | { readonly kind: 'closed' }
  /** A single request decides; nothing is retried. */
  | { readonly kind: 'half-open' }
  | { readonly kind: 'open'; readonly why: 'failing' | 'refused' | 'waiting'; readonly until: EpochMs };

/** @param fingerprint  of the options as they are now; a refusal of other options does not count */
export function circuitOf(control: UpstreamControl, now: EpochMs, fingerprint: () => string): Circuit {
  // A time further ahead than we ever set was written by a clock that was ahead.
  const isAhead = (until: EpochMs | null, most: number): until is EpochMs =>
    until !== null && until > now && until <= now + most;
  const isRefused = control.refusedUntil !== null && control.refusedFingerprint === fingerprint();
  if (isRefused && isAhead(control.refusedUntil, REFUSED_MS))
    return { kind: 'open', why: 'refused', until: control.refusedUntil };
  if (isAhead(control.holdUntil, HOUR_MS)) return { kind: 'open', why: 'waiting', until: control.holdUntil };
  if (isAhead(control.openUntil, OPEN_MAX_MS)) return { kind: 'open', why: 'failing', until: control.openUntil };
  return control.openUntil === null && !isRefused ? { kind: 'closed' } : { kind: 'half-open' };
}

/** After a successful pass: forgets all failures. */
export function afterSuccess(control: UpstreamControl, listCalls: number): UpstreamControl {
  return { ...CONTROL_AT_FIRST, holdUntil: control.holdUntil, limitedCount: control.limitedCount, listCalls };
}

interface Failure {
  readonly error: StatusError;
  /** Requests that failed in a row at the end of the pass. */
  readonly failures: number;
  readonly now: EpochMs;
  /** 0 to 1, 1 excluded. */
  readonly random: number;
  readonly fingerprint: () => string;
}

/**
 * After a failed pass. Only missing answers and 5xx open the circuit. After 401 and 403, one request at a time tests the key.
 */
export function afterFailure(control: UpstreamControl, failure: Failure): UpstreamControl {
  const { error, now } = failure;
  const status = error.context['status'];
  if (error.code === 'UPSTREAM_REFUSED' && (status === 401 || status === 403)) {
    return { ...control, refusedUntil: toEpochMs(now + REFUSED_MS), refusedFingerprint: failure.fingerprint() };
  }
  if (error.code !== 'UPSTREAM_UNREACHABLE' && error.code !== 'UPSTREAM_FAILED') {
    return { ...control, failures: 0, openUntil: null, openings: 0 };
  }
  const failures = control.failures + failure.failures;
  if (failures < FAILURES_MAX) return { ...control, failures };
  const longest = Math.min(OPEN_MAX_MS, OPEN_FIRST_MS * 2 ** Math.min(control.openings, 10));
  // Half of it is random, so that nodes don't retry at the same moment.
  const openMs = longest / 2 + (longest / 2) * failure.random;
  return { ...control, failures, openUntil: toEpochMs(now + openMs), openings: control.openings + 1 };
}
