/**
 * Answers a connector's questions: order, parallel requests, shares of the quota, and validation, the same for all connectors.
 */

import pLimit from 'p-limit';
import { isStatusError, messageOf, StatusError } from '../../errors.ts';
import { type EpochMs, HOUR_MS, SECOND_MS } from '../../model/time.ts';
import { issueWords, listFaults } from '../../schema/issue-words.ts';
import type { Reader } from '../../store/database.ts';
import { readChecks, runningPlaces } from '../../store/nodes/checks.ts';
import type { FailedQuestion } from '../../store/upstream-control.ts';
import { readWritten } from '../../store/written.ts';
import { type Answer, type Asking, type LearnedPages, PRIORITIES, type Pull, type Question } from '../connector.ts';
import type { HttpAnswer } from '../http/http.ts';
import { ownWords, requestPlace, shapeError } from '../http/http-faults.ts';
import { createBackfillMemory, questionKey } from '../upstream.ts';
import { lowPriorityPerPass } from './quota.ts';
import { readFileQuestion } from './read-files.ts';
import {
  createTally,
  isLowPriority,
  isOwnQuota,
  listDemand,
  type RequestRun,
  type RunnerDeps,
  type RunnerSettings,
  requestWithin,
  type Tally,
} from './requester.ts';

/** Parallel requests to one upstream. */
const PARALLEL_MAX = 4;
/** Details delay the commit of lists by no more than this, and by no more than a quarter of the interval. */
const SPARE_MS_MAX = 15 * SECOND_MS;
/** After this many failed details in a row, the rest is left for a later pass. */
const SPARE_FAILURES_MAX = 5;

export type { RunnerDeps } from './requester.ts';

export type Runner = ReturnType<typeof createRunner>;

/** What is said of pages before anything else is asked. */
type OnLearned = (learned: LearnedPages) => Promise<void>;

/** Creates the runner of one pass over one upstream. */
export function createRunner(settings: RunnerSettings, deps: RunnerDeps) {
  const pass = startRun(settings, deps);
  return {
    /**
     * Returns what a connector's generator returns.
     *
     * @throws StatusError; a bug in the connector becomes UPSTREAM_SHAPE with `context.isBug`
     */
    run: async <R>(pull: Pull<R>, onLearned: OnLearned = async () => undefined): Promise<R> => {
      try {
        const result = await drive(pull, (asking) => answerAll(pass, asking, onLearned));
        if (!pass.isBackfillOpen) pass.backfill.clear();
        return result;
      } catch (error) {
        throw isStatusError(error) ? error : unforeseen(`The connector of ${settings.upstreamId}`, error);
      }
    },
    tally: (): Readonly<Tally> => ({ ...pass.tally }),
    /** Optional questions that failed, each name once. No failure becomes nothing: whatever a connector makes of it, it is reported. */
    missed: () =>
      [...pass.failed].map(([place, [first, ...others]]) => {
        const message = `${first?.message ?? ''}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
        return { kind: 'note' as const, place, message };
      }),
    /** What to remember of optional questions that failed, or failed before (`RunnerSettings.failed`), by question; null: it was answered. */
    failures: pass.failures.changes,
  };
}

type PassRun = ReturnType<typeof startRun>;

function startRun(settings: RunnerSettings, deps: RunnerDeps) {
  return {
    settings,
    deps,
    tally: createTally(),
    backfill: settings.backfill ?? createBackfillMemory(),
    failures: createFailureMemory(settings.failed ?? new Map(), settings.intervalMs),
    startedAt: deps.now(),
    /** Detail and backfill questions asked so far. */
    lowPriorityAsked: 0,
    /** In a row. */
    lowPriorityFailures: 0,
    /** Whether a question about the past waits or failed, so that the answers of the others are kept. */
    isBackfillOpen: false,
    /** Optional questions that failed, by name. */
    failed: new Map<string, StatusError[]>(),
  };
}

async function answerAll(pass: PassRun, asking: Asking, onLearned: OnLearned): Promise<readonly Answer<unknown>[]> {
  if (asking.learned !== undefined) await onLearned(asking.learned);
  const answers: Answer<unknown>[] = asking.questions.map(() => ({ kind: 'skipped' }));
  const unknown: { readonly question: Question<unknown>; readonly index: number }[] = [];
  for (const [index, question] of asking.questions.entries()) {
    const known = recall(pass, question);
    if (known === null) unknown.push({ question, index });
    else answers[index] = known;
  }
  const left = (asking.max ?? Number.POSITIVE_INFINITY) - answers.filter(({ kind }) => kind === 'ok').length;
  const order = pass.failures
    .inTurn(unknown, pass.deps.now())
    .toSorted((a, b) => PRIORITIES.indexOf(a.question.priority) - PRIORITIES.indexOf(b.question.priority))
    .slice(0, Math.max(0, left));
  await pLimit(PARALLEL_MAX).map(order, async ({ question, index }) => {
    const answer = isLowPriority(question) ? await answerLowPriority(pass, question) : await answerOne(pass, question);
    answers[index] = answer;
    const learned = asking.learn?.(answer, index) ?? null;
    if (learned !== null) await onLearned(learned);
  });
  for (const { question, index } of unknown)
    if (answers[index]?.kind === 'skipped' && isLowPriority(question))
      answers[index] = pass.failures.lastOf(question) ?? { kind: 'skipped' };
  for (const [index, answer] of answers.entries()) {
    const question = asking.questions[index];
    if (answer.kind === 'ok' || question === undefined) continue;
    if (question.priority === 'backfill') pass.isBackfillOpen = true;
    if (!asking.tolerant || answer.kind !== 'failed' || isOwnQuota(answer.error)) continue;
    // What the upstream does not offer at all is no fault.
    if (![404, 405, 410, 501].includes(Number(answer.error.context['status'])))
      pass.failed.getOrInsert(question.name, []).push(answer.error);
  }
  return answers;
}

/** What answers a detail or backfill question without asking; null: nothing. */
function recall({ failures, backfill, deps }: PassRun, question: Question<unknown>): Answer<unknown> | null {
  if (!isLowPriority(question)) return null;
  const now = deps.now();
  if (failures.isWaiting(question, now)) return failures.lastOf(question);
  return question.priority === 'backfill' ? backfill.recall(question, now) : null;
}

/** A detail or backfill question: uses its share of the quota, or is skipped in this pass. */
async function answerLowPriority(pass: PassRun, question: Question<unknown>): Promise<Answer<unknown>> {
  if (isLowPriorityClosed(pass)) return skip(pass);
  pass.lowPriorityAsked += 1;
  const answer = await answerOne(pass, question);
  if (answer.kind === 'failed' && isOwnQuota(answer.error)) return skip(pass);
  pass.failures.settle(question, answer, pass.deps.now());
  pass.lowPriorityFailures = answer.kind === 'failed' ? pass.lowPriorityFailures + 1 : 0;
  if (question.priority === 'backfill' && answer.kind === 'ok') pass.backfill.keep(question, answer);
  return answer;
}

async function answerOne(run: PassRun, question: Question<unknown>): Promise<Answer<unknown>> {
  try {
    const answer = await answerFrom(run, question);
    return { kind: 'ok', payload: await validate(question, answer.payload), status: answer.status, at: answer.at };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return { kind: 'failed', error };
  }
}

async function answerFrom(run: RequestRun, question: Question<unknown>): Promise<HttpAnswer> {
  const { now, stored } = run.deps;
  const { url } = question;
  if (url.startsWith('file:')) return readFileQuestion(question, now());
  if (!url.startsWith('store:')) return requestWithin(run, question);
  const at = now();
  return { status: 200, payload: await readStoreQuestion(stored, url), at, clockSkewMs: null, remaining: null };
}

function skip(pass: PassRun): Answer<never> {
  pass.tally.skipped += 1;
  return { kind: 'skipped' };
}

/** Whether this pass has used its share of details, had too many failures, or lasted long enough. */
function isLowPriorityClosed(pass: PassRun): boolean {
  const { settings, deps, startedAt } = pass;
  // The first pass has no earlier list requests to reserve for. It uses as much as the windows allow, to have figures soon.
  const share = settings.listCalls === 0 ? null : lowPriorityPerPass(settings.limits, listDemand(pass));
  return (
    pass.lowPriorityFailures >= SPARE_FAILURES_MAX ||
    (share !== null && pass.lowPriorityAsked >= share) ||
    deps.now() - startedAt >= Math.min(settings.intervalMs / 4, SPARE_MS_MAX)
  );
}

async function validate(question: Question<unknown>, payload: unknown): Promise<unknown> {
  const place = requestPlace(question.method, new URL(question.url));
  let result: Awaited<ReturnType<typeof question.schema.safeParseAsync>>;
  try {
    // Some schemas load their parser first (HCL).
    result = await question.schema.safeParseAsync(payload, { error: issueWords() });
  } catch (error) {
    throw shapeError(place, `the response could not be checked (${messageOf(error).slice(0, 200)})`);
  }
  if (result.success) return result.data;
  const [{ path, message }] = listFaults(result.error);
  const words = `${message.slice(0, 200)}, at ${path === '' ? 'the top level' : path.slice(0, 200)}`;
  throw shapeError(place, words, ownWords(payload, Object.values(question.headers)));
}

/** An unexpected error is a bug in Pharos, and the message says so. */
export function unforeseen(who: string, error: unknown): StatusError {
  return new StatusError({
    code: 'UPSTREAM_SHAPE',
    message: `${who} hit an unexpected problem: ${messageOf(error).slice(0, 200)}. Please report this.`,
    cause: error,
    context: { isBug: true },
  });
}

/** Limit of steps in one pull; the largest upstream needs some hundreds. */
const ASKINGS_MAX = 5_000;

/**
 * Returns what the generator returns.
 *
 * @param answer answers all questions of one step, in their order; failures are answers too
 * @throws what the generator doesn't catch, and UPSTREAM_SHAPE if it never ends
 */
export async function drive<R>(
  pull: Pull<R>,
  answer: (asking: Asking) => Promise<readonly Answer<unknown>[]>,
): Promise<R> {
  let step = pull.next();
  for (let askings = 0; step.done !== true; askings += 1) {
    if (askings === ASKINGS_MAX)
      throw new StatusError({
        code: 'UPSTREAM_SHAPE',
        message: `Stopped after ${ASKINGS_MAX} pages of results. The upstream’s list may never end.`,
      });
    const answers = await answer(step.value);
    const failure = step.value.tolerant ? null : firstFailure(answers);
    // Thrown inside, so that its `finally` can still make requests (log out) before the failure comes out here.
    step = failure === null ? pull.next(answers) : pull.throw(failure);
  }
  return step.value;
}

function firstFailure(answers: readonly Answer<unknown>[]): StatusError | null {
  const first = answers.find(({ kind }) => kind !== 'ok');
  if (first === undefined || first.kind === 'ok') return null;
  const message = 'The rate limit leaves no request for this in this pass. Pharos retries automatically.';
  return first.kind === 'failed' ? first.error : new StatusError({ code: 'UPSTREAM_LIMITED', message });
}

/**
 * What `store:` questions are answered with: `store:written` with `{ id, document, page, isPrivate }[]`, a document being JSON text, and
 * `store:checks/<upstream id>` with `{ results, places }`: the last results of its checks, and the places that some node checks from.
 *
 * @throws UPSTREAM_REFUSED where there is nothing of that name
 */
async function readStoreQuestion(reader: Reader, url: string): Promise<unknown> {
  const upstream = /^store:checks\/([\w-]+)$/.exec(url)?.[1];
  if (upstream !== undefined)
    return { results: await readChecks(reader, ['upstream', upstream]), places: await runningPlaces(reader) };
  if (url === 'store:written')
    return (await readWritten(reader)).map(({ id, document, page, isPrivate }) => ({ id, document, page, isPrivate }));
  throw new StatusError({ code: 'UPSTREAM_REFUSED', message: `${url}: the store has nothing with this name.` });
}

// Optional questions that failed are asked again at growing intervals and take at most every other turn. Until then, they are
// answered with their last failure, so that every report contains it.

/** After its first failure a question waits for two passes, then for four, eight …, but no longer than this. */
const DISTANCE_MAX_MS = 6 * HOUR_MS;

/** @param remembered by question, from the passes before */
function createFailureMemory(remembered: ReadonlyMap<string, FailedQuestion>, intervalMs: number) {
  const changes = new Map<string, FailedQuestion | null>();
  const known = (question: Question<unknown>): FailedQuestion | null => {
    const key = questionKey(question);
    const changed = changes.get(key);
    return changed === undefined ? (remembered.get(key) ?? null) : changed;
  };
  return {
    /** The last failure, used as the answer until the question is asked again; null: there is none. */
    lastOf: (question: Question<unknown>): Answer<unknown> | null => {
      const failed = known(question);
      if (failed === null) return null;
      const { code, message, status } = failed;
      return { kind: 'failed', error: new StatusError({ code, message, context: { status } }) };
    },
    /** Whether it is too early to ask a question again. */
    isWaiting: (question: Question<unknown>, now: EpochMs): boolean => {
      const { at, failures } = known(question) ?? { at: now, failures: 0 };
      const distanceMs = failures === 0 ? 0 : Math.min(intervalMs * 2 ** Math.min(failures, 30), DISTANCE_MAX_MS);
      // A failure in the future was recorded before the clock was set back.
      return at <= now && now - at < distanceMs;
    },
    /** Alternates between questions that failed before and others, so that neither delays the other. */
    inTurn: <T extends { readonly question: Question<unknown> }>(asked: readonly T[], now: EpochMs): T[] => {
      const failedAt = (one: T): number => known(one.question)?.at ?? 0;
      const others = asked.filter((one) => failedAt(one) === 0);
      const failed = asked.filter((one) => failedAt(one) > 0).toSorted((a, b) => failedAt(a) - failedAt(b));
      const lastAt = Math.max(0, ...[...remembered.values()].map(({ at }) => at));
      // If there is room for only one, they take turns.
      const [first, second] = now - lastAt > 1.5 * intervalMs ? [failed, others] : [others, failed];
      return Array.from({ length: Math.max(first.length, second.length) }, (_, index) => [first[index], second[index]])
        .flat()
        .filter((one) => one !== undefined);
    },
    settle: (question: Question<unknown>, answer: Answer<unknown>, now: EpochMs): void => {
      const before = known(question);
      if (answer.kind === 'ok' && before !== null) changes.set(questionKey(question), null);
      if (answer.kind !== 'failed' || answer.error.context['fault'] === 'stopped') return;
      const { code, message, context } = answer.error;
      const status = typeof context['status'] === 'number' ? context['status'] : null;
      changes.set(questionKey(question), { failures: (before?.failures ?? 0) + 1, at: now, code, message, status });
    },
    changes: (): ReadonlyMap<string, FailedQuestion | null> => changes,
  };
}
