/** A pull that leaves out what can wait, details and the past: to learn what there is with few requests. */

import type { Answer, Pull } from '../connector.ts';

/** What may be left out is answered as when the quota has no request for it. */
export function* listsOnly<R>(pull: Pull<R>): Pull<R> {
  let step = pull.next();
  while (step.done !== true) {
    const { questions, tolerant } = step.value;
    if (tolerant && questions.every(({ priority }) => priority === 'detail' || priority === 'backfill')) {
      step = pull.next(questions.map(() => ({ kind: 'skipped' })));
      continue;
    }
    let answers: readonly Answer<unknown>[];
    try {
      answers = yield step.value;
    } catch (error) {
      step = pull.throw(error);
      continue;
    }
    step = pull.next(answers);
  }
  return step.value;
}
