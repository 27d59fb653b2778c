/** Runs a pull without optional requests, to learn what exists with few requests. */

import type { Answer, Priority, Pull } from '../connector.ts';

/**
 * Answers optional questions as if the quota didn't allow them.
 *
 * @param wanted optional questions to ask nevertheless
 */
export function* listsOnly<R>(pull: Pull<R>, wanted: readonly Priority[]): Pull<R> {
  let step = pull.next();
  while (step.done !== true) {
    const { questions, tolerant } = step.value;
    if (tolerant && !questions.some(({ priority }) => wanted.includes(priority))) {
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
