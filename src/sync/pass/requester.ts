/**
 * Sends one question over the network: waits for the quota, then makes as many attempts as allowed. The report of a pass says how
 * that ended, as plain data for the command line, the operators' page and the publisher.
 */

import { addAbortListener } from 'node:events';
import { isStatusError, StatusError } from '../../errors.ts';
import type { Learned, Problem } from '../../model/observation.ts';
import { type EpochMs, SECOND_MS, toEpochMs } from '../../model/time.ts';
import type { Reader } from '../../store/database.ts';
import type { CommitResult } from '../../store/revisions.ts';
import type { FailedQuestion } from '../../store/upstream-control.ts';
import type { Question } from '../connector.ts';
import { HTTP_LIMITS, type Http, type HttpAnswer } from '../http/http.ts';
import type { Upstream } from '../upstream.ts';
import { backoffMs, type Demand, lowPriorityWindows, type Quota, quotaWindows } from './quota.ts';

const ATTEMPTS_MAX = 3;
/** How long a list request waits for the quota; a window of a minute passes in that time. */
const LIST_PATIENCE_MS = 80 * SECOND_MS;
/** A request must be sent within this time after it was recorded, on a clock that doesn't stop when the process is paused. */
const RESERVED_MS_MAX = 5 * SECOND_MS;
/** How long to send nothing once an upstream says that it takes no more requests: its shortest window is a minute. */
const SPENT_HOLD_MS = 60 * SECOND_MS;

export interface RunnerDeps {
  readonly http: Http;
  readonly quota: Quota;
  readonly now: () => EpochMs;
  /** 0 to 1, 1 excluded. */
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Answers `store:` questions. */
  readonly stored: Reader;
  /** Awaited before each request. */
  readonly beforeRequest?: () => Promise<void>;
  /** Called when a question waits for the quota, with the time until which it waits. */
  readonly onWait?: (upstreamId: string, until: EpochMs) => void;
  /** Stops all requests; nothing more is committed. */
  readonly signal?: AbortSignal;
}

export interface RunnerSettings extends Pick<Upstream, 'limits' | 'ca' | 'intervalMs'> {
  readonly upstreamId: string;
  /** List requests of the last pass. This number is reserved for coming passes. */
  readonly listCalls: number;
  /** True: no retries, because a single request decides whether the upstream is back. */
  readonly isHalfOpen: boolean;
  /** Keeps answers of an unfinished backfill; absent: they aren't kept. */
  readonly backfill?: Upstream['backfill'];
  /** Optional questions that failed in passes before; absent: none. */
  readonly failed?: ReadonlyMap<string, FailedQuestion>;
}

export type Tally = ReturnType<typeof createTally>;

/** Cost and results of a run so far; valid at any time, even after a failure. */
export function createTally() {
  return {
    /** Requests sent, including retries and redirects. */
    requestsUsed: 0,
    listCalls: 0,
    /** Failed list requests since the last successful one. */
    failures: 0,
    /** Detail and backfill questions left for a later pass. */
    skipped: 0,
    /** How far the upstream's clock is ahead; null: not told. */
    clockSkewMs: null as number | null,
    /** Requests that the upstream still accepts, by its own header, minus those sent since; null: it doesn't say. */
    remaining: null as number | null,
  };
}

export interface RequestRun {
  readonly settings: RunnerSettings;
  readonly deps: RunnerDeps;
  /** Updated as requests are sent and answered. */
  readonly tally: Tally;
}

/** Detail and backfill requests use what lists leave of the quota. */
export function isLowPriority(question: Question<unknown>): boolean {
  return question.priority === 'detail' || question.priority === 'backfill';
}

/** Number of list requests that coming passes need: as many as the last pass made, or this one so far. */
export function listDemand({ settings, tally }: RequestRun): Demand {
  return { listCallsPerPass: Math.max(settings.listCalls, tally.listCalls), intervalMs: settings.intervalMs };
}

/**
 * Returns the answer to one question, after up to three attempts, which together have the time of one.
 *
 * @throws StatusError; with `isOwnQuota` if nothing was sent because the quota or a "wait" didn't allow it
 */
export async function requestWithin(run: RequestRun, question: Question<unknown>): Promise<HttpAnswer> {
  const { settings, deps } = run;
  const isRepeatable = question.method === 'GET' || question.isRepeatable === true;
  const attemptsMax = isRepeatable && !settings.isHalfOpen ? ATTEMPTS_MAX : 1;
  // Time spent waiting for the quota doesn't count.
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

/** Returns the time until the next attempt; null: no further attempt in this pass. Records a "wait" from the upstream. */
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

/** Resolves when one request may be sent. Lists wait a while for that, details don't. */
async function reserve(run: RequestRun, question: Question<unknown>): Promise<void> {
  const { settings, deps, tally } = run;
  const lists = quotaWindows(settings.limits);
  const windows = isLowPriority(question) ? [...lists, ...lowPriorityWindows(settings.limits, listDemand(run))] : lists;
  const patienceUntil = deps.now() + (isLowPriority(question) ? 0 : LIST_PATIENCE_MS);
  if (isLowPriority(question) && isNearlySpent(run)) throw noQuota(question, deps.now());
  for (;;) {
    await deps.beforeRequest?.();
    const now = deps.now();
    const askedAt = performance.now();
    const reservation = await deps.quota.reserve(settings.upstreamId, windows, now);
    // If this process was paused, the recorded time is too long ago, so it is recorded again.
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

/** Whether the upstream accepts only as many requests as the lists of the next pass need. */
function isNearlySpent(run: RequestRun): boolean {
  const { remaining } = run.tally;
  return remaining !== null && remaining <= listDemand(run).listCallsPerPass;
}

async function sleepUnlessStopped({ sleep, signal }: RunnerDeps, ms: number): Promise<void> {
  if (signal === undefined) return sleep(ms);
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  using _ = addAbortListener(signal, () => resolve());
  await Promise.race([sleep(ms, signal), stopped]);
}

/** This error is about our own quota; nothing was sent. */
function noQuota(question: Question<unknown>, notBefore: EpochMs): StatusError {
  return new StatusError({
    code: 'UPSTREAM_LIMITED',
    message: `${question.name}: this upstream’s rate limit is used up, or it asked us to wait. Pharos retries automatically.`,
    retryAt: notBefore,
    context: { isOwnQuota: true },
  });
}

/** Whether our own quota, and not the upstream, prevented a question. */
export function isOwnQuota(error: StatusError): boolean {
  return error.context['isOwnQuota'] === true;
}

export type UpstreamReport = ReturnType<typeof toReport>;

/**
 * `overlap`: another pass is running. `elsewhere`: another node has the schedule. `failing`: in back-off after repeated
 * failures. `refused`: it rejected our key. `waiting`: it told us to wait. `held`: more than half of it disappeared, which is
 * accepted once seen twice. `outdated`: a newer answer was recorded meanwhile.
 */
type SkipCause = 'overlap' | 'elsewhere' | 'failing' | 'refused' | 'waiting' | 'held' | 'outdated';

/** Ids of items that the pass changed. */
export interface Changed extends Pick<CommitResult, 'monitors' | 'incidents' | 'maintenances'> {
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
