/** Answers a connector's questions: quota, order, parallel requests, retries and validation, the same for all of them. */

import { isStatusError, messageOf, StatusError } from '../errors.ts';
import { type EpochMs, SECOND_MS, toEpochMs } from '../model/time.ts';
import { type Answer, type Asking, type Limits, PRIORITIES, type Pull, type Question } from './connector.ts';
import { drive } from './drive.ts';
import { isFileQuestion, readFileQuestion } from './file.ts';
import { HTTP_LIMITS, type Http, type HttpAnswer } from './http.ts';
import { placeOf, shapeError } from './http-faults.ts';
import { backoffMs, type Quota } from './quota.ts';
import { type Demand, sparePerPass, spareWindowsOf, windowsOf } from './windows.ts';

/** Requests under way at once to one upstream. */
const PARALLEL_MAX = 4;
const ATTEMPTS_MAX = 3;
/** How long a list waits for the quota or for the end of a short "wait"; a window of a minute passes in that time. */
const LIST_PATIENCE_MS = 80 * SECOND_MS;
/** Details keep no list waiting for its commit longer than this, nor than a quarter of the interval. */
const SPARE_MS_MAX = 15 * SECOND_MS;
/** As many details failing in a row as open the circuit: the rest waits for another pass. */
const SPARE_FAILURES_MAX = 5;

export interface RunnerDeps {
  readonly http: Http;
  readonly quota: Quota;
  readonly now: () => EpochMs;
  /** 0 to 1, 1 excluded. */
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Awaited before each request, also those that wait for the quota. */
  readonly beforeRequest?: () => Promise<void>;
  /** Stops everything under way; what was not committed is not. */
  readonly signal?: AbortSignal;
}

export interface RunnerSettings {
  readonly upstreamId: string;
  readonly limits: Limits;
  readonly intervalMs: number;
  /** List calls of the last pass; what is kept for the passes to come. */
  readonly listCalls: number;
  /** True: nothing is tried twice, because one request decides whether the upstream is back. */
  readonly isHalfOpen: boolean;
}

/** What a run cost and met; complete at any moment, also after a failure. */
export interface Tally {
  /** Requests that left, retries and redirects included. */
  readonly requestsUsed: number;
  readonly listCalls: number;
  /** Failed list requests since the last that was answered. */
  readonly failures: number;
  /** Details and back-fill that must wait for another pass. */
  readonly skipped: number;
  /** How far the upstream's clock is ahead; null: not told. */
  readonly clockSkewMs: number | null;
}

export const NOTHING_ASKED: Tally = Object.freeze({
  requestsUsed: 0,
  listCalls: 0,
  failures: 0,
  skipped: 0,
  clockSkewMs: null,
});

export interface Runner {
  /**
   * What a connector's generator returns.
   *
   * @throws StatusError; a fault of the connector itself comes as UPSTREAM_SHAPE with `context.isBug`
   */
  readonly run: <R>(pull: Pull<R>) => Promise<R>;
  readonly tally: () => Tally;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Makes the runner of one pass over one upstream. */
export function createRunner(settings: RunnerSettings, deps: RunnerDeps): Runner {
  const tally: Mutable<Tally> = { ...NOTHING_ASKED };
  const state: RunState = { settings, deps, tally, spareUsed: 0, spareFailures: 0, startedAt: deps.now() };
  return {
    run: async (pull) => {
      try {
        return await drive(pull, (asking) => answerAll(state, asking));
      } catch (error) {
        throw isStatusError(error) ? error : connectorFault(settings.upstreamId, error);
      }
    },
    tally: () => ({ ...tally }),
  };
}

interface RunState {
  readonly settings: RunnerSettings;
  readonly deps: RunnerDeps;
  readonly tally: Mutable<Tally>;
  readonly startedAt: EpochMs;
  spareUsed: number;
  spareFailures: number;
}

async function answerAll(state: RunState, asking: Asking): Promise<readonly Answer<unknown>[]> {
  const answers: Answer<unknown>[] = asking.questions.map(() => ({ kind: 'skipped' }));
  const order = asking.questions
    .map((question, index) => ({ question, index }))
    .toSorted((a, b) => PRIORITIES.indexOf(a.question.priority) - PRIORITIES.indexOf(b.question.priority));
  const queue = order.values();
  // Several workers draw from one iterator, so the questions leave in order.
  const worker = async (): Promise<void> => {
    for (const { question, index } of queue) answers[index] = await answerOne(state, question);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_MAX, order.length) }, worker));
  return answers;
}

async function answerOne(state: RunState, question: Question<unknown>): Promise<Answer<unknown>> {
  if (isSpare(question) && isSpareClosed(state)) return skip(state);
  try {
    const answer = isFileQuestion(question)
      ? await readFileQuestion(question, state.deps.now())
      : await askWithRetries(state, question);
    const payload = await validate(question, answer);
    if (isSpare(question)) state.spareFailures = 0;
    return { kind: 'ok', payload, status: answer.status, at: answer.at };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    if (isSpare(question) && isOwnQuota(error)) return skip(state);
    if (isSpare(question)) state.spareFailures += 1;
    return { kind: 'failed', error };
  }
}

function isSpare(question: Question<unknown>): boolean {
  return question.priority === 'detail' || question.priority === 'backfill';
}

function skip(state: RunState): Answer<never> {
  state.tally.skipped += 1;
  return { kind: 'skipped' };
}

/** Whether this pass has had its share of details, or met enough failures, or has lasted long enough. */
function isSpareClosed({ settings, deps, spareUsed, spareFailures, startedAt, tally }: RunState): boolean {
  // The first pass has no list calls behind it: it takes as much as the windows allow, to have figures soon.
  const share = settings.listCalls === 0 ? null : sparePerPass(settings.limits, demandOf(settings, tally));
  return (
    spareFailures >= SPARE_FAILURES_MAX ||
    (share !== null && spareUsed >= share) ||
    deps.now() - startedAt >= Math.min(settings.intervalMs / 4, SPARE_MS_MAX)
  );
}

function demandOf(settings: RunnerSettings, tally: Tally): Demand {
  return { listCallsPerPass: Math.max(settings.listCalls, tally.listCalls), intervalMs: settings.intervalMs };
}

async function askWithRetries(state: RunState, question: Question<unknown>): Promise<HttpAnswer> {
  const { settings, deps, tally } = state;
  const isRepeatable = question.method === 'GET' || question.isRepeatable === true;
  const attemptsMax = isRepeatable && !settings.isHalfOpen ? ATTEMPTS_MAX : 1;
  // All attempts together take no longer than one question may; waiting for the quota does not count.
  let spentMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    let sentAt = deps.now();
    const permit = async (): Promise<void> => {
      await reserve(state, question);
      sentAt = deps.now();
    };
    try {
      const answer = await deps.http.request(question, {
        now: deps.now,
        permit,
        totalMs: HTTP_LIMITS.totalMs - spentMs,
        ...(deps.signal === undefined ? {} : { signal: deps.signal }),
      });
      if (!isSpare(question)) tally.failures = 0;
      tally.clockSkewMs = answer.clockSkewMs ?? tally.clockSkewMs;
      await deps.quota.release(settings.upstreamId);
      return answer;
    } catch (error) {
      if (!isStatusError(error) || isOwnQuota(error)) throw error;
      if (!isSpare(question) && error.retryable) tally.failures += 1;
      const waitMs = await waitBeforeRetry(state, question, { error, attempt });
      spentMs += Math.max(0, deps.now() - sentAt);
      if (waitMs === null || attempt >= attemptsMax || spentMs + waitMs >= HTTP_LIMITS.totalMs) throw error;
      await deps.sleep(waitMs);
    }
  }
}

/** How long until the next attempt; null: there is none in this pass. Tells the quota when the upstream said "wait". */
async function waitBeforeRetry(
  { settings, deps }: RunState,
  question: Question<unknown>,
  { error, attempt }: { readonly error: StatusError; readonly attempt: number },
): Promise<number | null> {
  const now = deps.now();
  if (error.code === 'UPSTREAM_LIMITED' || error.retryAt !== null) {
    const retryAt = error.retryAt === null ? null : toEpochMs(error.retryAt);
    const until = await deps.quota.hold(settings.upstreamId, retryAt, now);
    return isSpare(question) ? null : until - now;
  }
  const fault = error.context['fault'];
  if (!error.retryable || fault === 'tls' || fault === 'stopped') return null;
  return deps.random() * backoffMs(attempt - 1);
}

/** Comes back when one request may leave; lists wait a while for it, details do not. */
async function reserve(state: RunState, question: Question<unknown>): Promise<void> {
  const { settings, deps, tally } = state;
  const windows = isSpare(question)
    ? [...windowsOf(settings.limits), ...spareWindowsOf(settings.limits, demandOf(settings, tally))]
    : windowsOf(settings.limits);
  const patienceUntil = deps.now() + (isSpare(question) ? 0 : LIST_PATIENCE_MS);
  for (;;) {
    await deps.beforeRequest?.();
    const now = deps.now();
    const reservation = await deps.quota.reserve(settings.upstreamId, windows, now);
    if (reservation.granted) break;
    if (reservation.notBefore > patienceUntil || deps.signal?.aborted === true)
      throw noQuota(question, reservation.notBefore);
    await deps.sleep(Math.max(SECOND_MS / 100, reservation.notBefore - now));
  }
  tally.requestsUsed += 1;
  if (isSpare(question)) state.spareUsed += 1;
  else tally.listCalls += 1;
}

/** The upstream did not say "too many": we did not ask. */
function noQuota(question: Question<unknown>, notBefore: EpochMs): StatusError {
  return new StatusError({
    code: 'UPSTREAM_LIMITED',
    message: `${question.name}: the quota of this upstream is used up, or it told us to wait. Pharos asks again by itself.`,
    retryAt: notBefore,
    context: { isOwnQuota: true },
  });
}

function isOwnQuota(error: StatusError): boolean {
  return error.context['isOwnQuota'] === true;
}

async function validate(question: Question<unknown>, answer: HttpAnswer): Promise<unknown> {
  const place = placeOf(question.method, new URL(question.url));
  let result: Awaited<ReturnType<typeof question.schema.safeParseAsync>>;
  try {
    // Some schemas load their parser first (HCL).
    result = await question.schema.safeParseAsync(answer.payload);
  } catch (error) {
    throw shapeError(place, `the answer could not be checked (${messageOf(error).slice(0, 200)})`);
  }
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = (issue?.path ?? []).map((part) => `.${String(part)}`).join('');
  throw shapeError(
    place,
    `${issue?.message.slice(0, 200) ?? 'unreadable'} at ${path === '' ? 'the top' : path.slice(1, 200)}`,
  );
}

function connectorFault(upstreamId: string, error: unknown): StatusError {
  return new StatusError({
    code: 'UPSTREAM_SHAPE',
    message: `The connector of ${upstreamId} met something that it is not made for: ${messageOf(error).slice(0, 200)}. Please report this.`,
    cause: error,
    context: { isBug: true },
  });
}
