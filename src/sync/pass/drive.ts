/** Runs a connector's generator: answers its questions, and throws failures into it unless it tolerates them. */

import { StatusError } from '../../errors.ts';
import type { Answer, Asking, Pull } from '../connector.ts';

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
    if (askings === ASKINGS_MAX) throw endless();
    const answers = await answer(step.value);
    const failure = step.value.tolerant ? null : firstFailure(answers);
    // Thrown inside, so that its `finally` can still make requests (log out) before the failure comes out here.
    step = failure === null ? pull.next(answers) : pull.throw(failure);
  }
  return step.value;
}

function firstFailure(answers: readonly Answer<unknown>[]): StatusError | null {
  for (const answer of answers) {
    if (answer.kind === 'failed') return answer.error;
    if (answer.kind === 'skipped')
      return new StatusError({
        code: 'UPSTREAM_LIMITED',
        message: 'The rate limit leaves no request for this in this pass. Pharos retries automatically.',
      });
  }
  return null;
}

function endless(): StatusError {
  return new StatusError({
    code: 'UPSTREAM_SHAPE',
    message: `Stopped after ${ASKINGS_MAX} pages of results. The upstream’s list may never end.`,
  });
}
