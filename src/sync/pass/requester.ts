/** One question over the network: a place in the quota, then as many attempts as it may have. */

import { isStatusError, StatusError } from '../../errors.ts';
import { type EpochMs, SECOND_MS, toEpochMs } from '../../model/time.ts';
import type { Reader } from '../../store/database.ts';
import type { Limits, Question } from '../connector.ts';
import { HTTP_LIMITS, type Http, type HttpAnswer } from '../http/http.ts';
import { backoffMs, type Quota } from '../quota/quota.ts';
import { type Demand, lowPriorityWindows, windowsOf } from '../quota/windows.ts';
import type { BackfillMemory } from './backfill.ts';

const ATTEMPTS_MAX = 3;
/** How long a list waits for the quota; a window of a minute passes in that time. */
const LIST_PATIENCE_MS = 80 * SECOND_MS;
/** A request leaves this soon after it was entered, on a clock that no pause stops. */
const RESERVED_MS_MAX = 5 * SECOND_MS;
/** How long nothing leaves once an upstream says that it takes no more: its shortest window is a minute. */
const SPENT_HOLD_MS = 60 * SECOND_MS;

export interface RunnerDeps {
  readonly http: Http;
  readonly quota: Quota;
  readonly now: () => EpochMs;
  /** 0 to 1, 1 excluded. */
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Where `store:` questions are answered from. */
  readonly stored: Reader;
  /** Awaited before each request, also those that wait for the quota. */
  readonly beforeRequest?: () => Promise<void>;
  /** Told that a question waits for the quota, and until when. */
  readonly onWait?: (upstreamId: string, until: EpochMs) => void;
  /** Stops everything under way; what was not committed is not. */
  readonly signal?: AbortSignal;
}

export interface RunnerSettings {
  readonly upstreamId: string;
  readonly limits: Limits;
  /** Certificates (PEM) trusted instead of the usual ones; null: the usual ones. */
  readonly ca: string | null;
  readonly intervalMs: number;
  /** List calls of the last pass; what is kept for the passes to come. */
  readonly listCalls: number;
  /** True: nothing is tried twice, because one request decides whether the upstream is back. */
  readonly isHalfOpen: boolean;
  /** Where answers about the past wait for more of them; absent: they do not. */
  readonly backfill?: BackfillMemory;
}

/** What a run cost and met; complete at any moment, also after a failure. */
export interface Tally {
  /** Requests that left, retries and redirects included. */
  requestsUsed: number;
  listCalls: number;
  /** Failed list requests since the last that was answered. */
  failures: number;
  /** Details and back-fill that must wait for another pass. */
  skipped: number;
  /** How far the upstream's clock is ahead; null: not told. */
  clockSkewMs: number | null;
  /** How many more requests the upstream says that it takes, less those that left since; null: it does not say. */
  remaining: number | null;
}

export interface RequestRun {
  readonly settings: RunnerSettings;
  readonly deps: RunnerDeps;
  /** Counted up as requests leave and come back. */
  readonly tally: Tally;
}

/** Detail and back-fill live on what lists leave of the quota. */
export function isLowPriority(question: Question<unknown>): boolean {
  return question.priority === 'detail' || question.priority === 'backfill';
}

/** What the lists of the passes to come will need: as many calls as the last pass, or as this one so far. */
export function demandOf({ settings, tally }: RequestRun): Demand {
  return { listCallsPerPass: Math.max(settings.listCalls, tally.listCalls), intervalMs: settings.intervalMs };
}

/**
 * The answer to one question, after up to three attempts that together take no longer than one question may.
 *
 * @throws StatusError; with `isOwnQuota` when nothing left because the quota or a "wait" did not allow it
 */
export async function requestWithin(run: RequestRun, question: Question<unknown>): Promise<HttpAnswer> {
  const { settings, deps } = run;
  const isRepeatable = question.method === 'GET' || question.isRepeatable === true;
  const attemptsMax = isRepeatable && !settings.isHalfOpen ? ATTEMPTS_MAX : 1;
  // Waiting for the quota does not count.
  let spentMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    let sentAt = deps.now();
    const permit = async (): Promise<void> => {
      await reserve(run, question);
      sentAt = deps.now();
    };
    try {
      return await requestOnce(run, question, { permit, totalMs: HTTP_LIMITS.totalMs - spentMs });
    } catch (error) {
      if (!isStatusError(error) || isOwnQuota(error)) throw error;
      const waitMs = await waitBeforeRetry(run, question, { error, attempt });
      spentMs += Math.max(0, deps.now() - sentAt);
      if (waitMs === null || attempt >= attemptsMax || spentMs + waitMs >= HTTP_LIMITS.totalMs) throw error;
      await sleepUnlessStopped(deps, waitMs);
    }
  }
}

async function requestOnce(
  { settings, deps, tally }: RequestRun,
  question: Question<unknown>,
  bounds: { readonly permit: () => Promise<void>; readonly totalMs: number },
): Promise<HttpAnswer> {
  const { now, signal } = deps;
  try {
    const answer = await deps.http.request(question, {
      now,
      ...bounds,
      ...(settings.ca === null ? {} : { ca: settings.ca }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!isLowPriority(question)) tally.failures = 0;
    tally.clockSkewMs = answer.clockSkewMs ?? tally.clockSkewMs;
    tally.remaining = answer.remaining;
    await deps.quota.release(settings.upstreamId);
    if (answer.remaining === 0) {
      const at = now();
      await deps.quota.hold(settings.upstreamId, toEpochMs(at + SPENT_HOLD_MS), at);
    }
    return answer;
  } catch (error) {
    if (isStatusError(error) && error.retryable && !isOwnQuota(error) && !isLowPriority(question)) tally.failures += 1;
    throw error;
  }
}

/** How long until the next attempt; null: there is none in this pass. Tells the quota when the upstream said "wait". */
async function waitBeforeRetry(
  { settings, deps }: RequestRun,
  question: Question<unknown>,
  { error, attempt }: { readonly error: StatusError; readonly attempt: number },
): Promise<number | null> {
  const now = deps.now();
  if (error.code === 'UPSTREAM_LIMITED' || error.retryAt !== null) {
    const retryAt = error.retryAt === null ? null : toEpochMs(error.retryAt);
    const until = await deps.quota.hold(settings.upstreamId, retryAt, now);
    return isLowPriority(question) ? null : until - now;
  }
  const fault = error.context['fault'];
  if (!error.retryable || fault === 'tls' || fault === 'stopped') return null;
  return deps.random() * backoffMs(attempt - 1);
}

/** Comes back when one request may leave; lists wait a while for it, details do not. */
async function reserve(run: RequestRun, question: Question<unknown>): Promise<void> {
  const { settings, deps, tally } = run;
  const lists = windowsOf(settings.limits);
  const windows = isLowPriority(question) ? [...lists, ...lowPriorityWindows(settings.limits, demandOf(run))] : lists;
  const patienceUntil = deps.now() + (isLowPriority(question) ? 0 : LIST_PATIENCE_MS);
  if (isLowPriority(question) && isNearlySpent(run)) throw noQuota(question, deps.now());
  for (;;) {
    await deps.beforeRequest?.();
    const now = deps.now();
    const askedAt = performance.now();
    const reservation = await deps.quota.reserve(settings.upstreamId, windows, now);
    // After a pause of this process the place is taken for another time: it is asked for again.
    if (reservation.granted && performance.now() - askedAt > RESERVED_MS_MAX) continue;
    if (reservation.granted) break;
    if (reservation.notBefore > patienceUntil || deps.signal?.aborted === true)
      throw noQuota(question, reservation.notBefore);
    deps.onWait?.(settings.upstreamId, reservation.notBefore);
    await sleepUnlessStopped(deps, reservation.notBefore - now);
  }
  tally.requestsUsed += 1;
  if (tally.remaining !== null) tally.remaining -= 1;
  if (!isLowPriority(question)) tally.listCalls += 1;
}

/** Whether the upstream says that it takes no more than the lists of another pass will need. */
function isNearlySpent(run: RequestRun): boolean {
  const { remaining } = run.tally;
  return remaining !== null && remaining <= demandOf(run).listCallsPerPass;
}

async function sleepUnlessStopped({ sleep, signal }: RunnerDeps, ms: number): Promise<void> {
  if (signal === undefined) {
    await sleep(ms);
    return;
  }
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const stop = (): void => resolve();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  await Promise.race([sleep(ms), stopped]);
  signal.removeEventListener('abort', stop);
}

/** The upstream did not say "too many": we did not ask. */
function noQuota(question: Question<unknown>, notBefore: EpochMs): StatusError {
  return new StatusError({
    code: 'UPSTREAM_LIMITED',
    message: `${question.name}: this upstream’s rate limit is used up, or it asked us to wait. Pharos retries automatically.`,
    retryAt: notBefore,
    context: { isOwnQuota: true },
  });
}

/** Whether the quota, not the upstream, kept a question from being asked. */
export function isOwnQuota(error: StatusError): boolean {
  return error.context['isOwnQuota'] === true;
}
