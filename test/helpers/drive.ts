/** Drives a connector's generator with payloads, as the runner does with answers from the network. */

import { StatusError } from '../../src/errors.ts';
import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import type { Answer, Connector, Probe, Pull, PullContext, PullMemory, Question } from '../../src/sync/connector.ts';
import { drive as walk } from '../../src/sync/pass/runner.ts';

/** What an upstream answers to one question: a body, a failure, or `skipped` for lack of quota. */
export type Respond = (question: Question<unknown>, index: number) => unknown;

/** A body with another status than 200. */
export class Reply {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    this.status = status;
    this.body = body;
  }
}

export interface Driven<R> {
  readonly result: R;
  /** Every question in the order asked. */
  readonly questions: readonly Question<unknown>[];
  /** Failures of optional questions, which the runner tells. */
  readonly missed: readonly StatusError[];
}

/** What `pharos check` asks of a kind with questions of its own. */
export function probeOf<Options>(
  { kind, probe }: Pick<Connector<Options>, 'kind' | 'probe'>,
  options: Options,
  context: PullContext,
): Pull<Probe> {
  if (probe === undefined) throw new TypeError(`${kind} has no probe`);
  return probe(options, context);
}

export const NOW: EpochMs = toEpochMs(Date.UTC(2026, 10, 21, 9, 13));

export function contextOf(memory: Partial<PullMemory> = {}, upstreamId = 'up'): PullContext {
  return {
    upstreamId,
    now: NOW,
    memory: {
      detailFetchedAt: new Map(),
      openIncidents: new Set(),
      incidentsReadAt: new Map(),
      isBackfilled: false,
      ...memory,
    },
  };
}

/** Runs a generator of questions to its end; rejects with what it throws. */
export async function drive<R>(pull: Pull<R>, respond: Respond): Promise<Driven<R>> {
  const questions: Question<unknown>[] = [];
  const missed: StatusError[] = [];
  const result = await walk(pull, async ({ questions: asked, tolerant, max = asked.length }) => {
    const answers: Answer<unknown>[] = asked.map(() => ({ kind: 'skipped' }));
    for (const [index, question] of asked.slice(0, max).entries()) {
      questions.push(question);
      const answer = await answerOf(question, respond(question, questions.length - 1));
      if (tolerant && answer.kind === 'failed') missed.push(answer.error);
      answers[index] = answer;
    }
    return answers;
  });
  return { result, questions, missed };
}

async function answerOf(question: Question<unknown>, given: unknown): Promise<Answer<unknown>> {
  if (given === 'skipped') return { kind: 'skipped' };
  if (given instanceof StatusError) return { kind: 'failed', error: given };
  const { status, body } = given instanceof Reply ? given : new Reply(200, given);
  if (status >= 300 && question.acceptStatuses?.includes(status) !== true)
    return { kind: 'failed', error: refusal(status) };
  const parsed = await question.schema.safeParseAsync(body);
  if (parsed.success) return { kind: 'ok', payload: parsed.data, status, at: NOW };
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  return { kind: 'failed', error: failure('UPSTREAM_SHAPE', `${question.name}: ${path}: ${issue?.message}`) };
}

/** A failure as the network layer makes it. */
export function failure(code: StatusError['code'], message: string = code): StatusError {
  return new StatusError({ code, message, ...(code === 'UPSTREAM_LIMITED' ? { retryAt: NOW + 60_000 } : {}) });
}

/** The failure of a status that is no answer. */
export function refusal(status: number): StatusError {
  const code = status === 429 ? 'UPSTREAM_LIMITED' : status >= 500 ? 'UPSTREAM_FAILED' : 'UPSTREAM_REFUSED';
  return new StatusError({ code, message: `status ${status}`, context: { status } });
}
