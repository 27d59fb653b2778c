/** Drives a connector's generator with payloads, as the runner would with answers from the network. */

import { StatusError } from '../../src/errors.ts';
import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import type { Answer, Asking, Memory, Pull, PullContext, Question } from '../../src/sync/connector.ts';

/** What an upstream answers to one question: a body, a failure, or `skipped` for lack of quota. */
export type Respond = (question: Question<unknown>) => unknown | StatusError | 'skipped';

export interface Driven<R> {
  readonly result: R;
  readonly questions: readonly Question<unknown>[];
}

export const NOW: EpochMs = toEpochMs(Date.parse('2026-11-21T09:13:00.000Z'));

export function contextOf(memory: Partial<Memory> = {}, upstreamId = 'up'): PullContext {
  return {
    upstreamId,
    now: NOW,
    memory: { detailFetchedAt: new Map(), openIncidents: new Set(), isBackfilled: false, ...memory },
  };
}

/** Runs a generator of questions to its end; rejects with what it throws. */
export async function drive<R>(pull: Pull<R>, respond: Respond): Promise<Driven<R>> {
  const questions: Question<unknown>[] = [];
  let step = pull.next([]);
  while (step.done !== true) {
    const asking: Asking = step.value;
    const answers: Answer<unknown>[] = [];
    for (const question of asking.questions) {
      questions.push(question);
      answers.push(await answerOf(question, respond));
    }
    const failed = asking.tolerant ? undefined : answers.find((answer) => answer.kind !== 'ok');
    if (failed === undefined) step = pull.next(answers);
    else step = pull.throw(failed.kind === 'failed' ? failed.error : limited());
  }
  return { result: step.value, questions };
}

async function answerOf(question: Question<unknown>, respond: Respond): Promise<Answer<unknown>> {
  const body = respond(question);
  if (body === 'skipped') return { kind: 'skipped' };
  if (body instanceof StatusError) return { kind: 'failed', error: body };
  const parsed = await question.schema.safeParseAsync(body);
  if (parsed.success) return { kind: 'ok', payload: parsed.data, status: 200, at: NOW };
  const issue = parsed.error.issues[0];
  const path = issue?.path.map(String).join('.') ?? '';
  return { kind: 'failed', error: failure('UPSTREAM_SHAPE', `${question.name}: ${path}: ${issue?.message}`) };
}

export function failure(code: StatusError['code'], message: string = code): StatusError {
  return new StatusError({ code, message, ...(code === 'UPSTREAM_LIMITED' ? { retryAt: NOW + 60_000 } : {}) });
}

function limited(): StatusError {
  return failure('UPSTREAM_LIMITED', 'the quota does not allow it now');
}

/** A recorded exchange: the request line, status, and the body as text. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly requestBody: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Reads one file of the recorded exchanges. */
export function parseExchange(text: string): Exchange {
  const [request = '', response = ''] = text.split(/\nRESPONSE\n/);
  const [head = '', ...requestBody] = request.split('\n\n');
  const [, key = ''] = /key=(\S+)/.exec(head) ?? [];
  const [, method = '', path = ''] = /\n([A-Z]+) (\S+)/.exec(head) ?? [];
  const [status = '', ...body] = response.split('\n\n');
  return {
    method,
    path,
    key,
    requestBody: requestBody.join('\n\n').trim(),
    status: Number(/HTTP (\d+)/.exec(status)?.[1]),
    contentType: /content-type: (\S[^\n]*)/.exec(status)?.[1] ?? '',
    body: body.join('\n\n').trim(),
  };
}
