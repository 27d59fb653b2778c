/** A pull that leaves out what it can do without: to learn what there is with few requests. */

import type { Answer, Priority, Pull } from '../connector.ts';

/**
 * What may be left out is answered as when the quota has no request for it.
 *
 * @param wanted  what is asked all the same, also where it may be left out
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
