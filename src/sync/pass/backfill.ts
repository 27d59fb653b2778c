/**
 * Keeps answers of a backfill while some of it waits for quota or fails, so that a long list continues where the last pass stopped, not at its
 * first page.
 */

import { type EpochMs, HOUR_MS } from '../../model/time.ts';
import type { Answer, Question } from '../connector.ts';

/** Older pages no longer fit newer ones. */
const KEPT_MS = HOUR_MS;
/** A few tens of megabytes at most; more than a connector asks for. */
const ANSWERS_MAX = 250;

export interface BackfillMemory {
  /** The earlier answer to this question; null: there is none, or it is too old. */
  readonly recall: (question: Question<unknown>, now: EpochMs) => Answer<unknown> | null;
  readonly keep: (question: Question<unknown>, answer: Answer<unknown> & { readonly at: EpochMs }) => void;
  readonly clear: () => void;
}

/** Creates the memory of one upstream, which lasts until the process ends. */
export function createBackfillMemory(): BackfillMemory {
  const answers = new Map<string, Answer<unknown> & { readonly at: EpochMs }>();
  return {
    recall: (question, now) => {
      const answer = answers.get(questionKey(question));
      return answer !== undefined && Math.abs(now - answer.at) < KEPT_MS ? answer : null;
    },
    keep: (question, answer) => {
      const [oldest] = answers.keys();
      if (answers.size >= ANSWERS_MAX && oldest !== undefined) answers.delete(oldest);
      answers.set(questionKey(question), answer);
    },
    clear: () => answers.clear(),
  };
}

function questionKey({ name, method, url, body }: Question<unknown>): string {
  return JSON.stringify([name, method, url, body ?? null]);
}
