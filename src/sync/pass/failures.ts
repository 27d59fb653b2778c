/**
 * Remembers optional questions that failed. They are asked again at growing intervals and take at most every other turn. Until then,
 * they are answered with their last failure, so that every report contains it.
 */

import { createHash } from 'node:crypto';
import { StatusError } from '../../errors.ts';
import { type EpochMs, HOUR_MS } from '../../model/time.ts';
import type { FailedQuestion } from '../../store/upstream-control.ts';
import type { Answer, Question } from '../connector.ts';

/** After its first failure a question waits for two passes, then for four, eight …, but no longer than this. */
const DISTANCE_MAX_MS = 6 * HOUR_MS;

export interface FailureMemory {
  /** The last failure, used as the answer until the question is asked again; null: there is none. */
  readonly lastOf: (question: Question<unknown>) => Answer<unknown> | null;
  /** Whether it is too early to ask a question again. */
  readonly isWaiting: (question: Question<unknown>, now: EpochMs) => boolean;
  /** Alternates between questions that failed before and others, so that neither delays the other. */
  readonly inTurn: <T extends { readonly question: Question<unknown> }>(asked: readonly T[], now: EpochMs) => T[];
  readonly settle: (question: Question<unknown>, answer: Answer<unknown>, now: EpochMs) => void;
  /** What to remember, by question; null: it was answered. */
  readonly changes: () => ReadonlyMap<string, FailedQuestion | null>;
}

/** @param remembered by question, from the passes before */
export function createFailureMemory(
  remembered: ReadonlyMap<string, FailedQuestion>,
  intervalMs: number,
): FailureMemory {
  const changes = new Map<string, FailedQuestion | null>();
  const known = (question: Question<unknown>): FailedQuestion | null => {
    const key = failureKey(question);
    const changed = changes.get(key);
    return changed === undefined ? (remembered.get(key) ?? null) : changed;
  };
  return {
    lastOf: (question) => {
      const failed = known(question);
      if (failed === null) return null;
      const { code, message, status } = failed;
      return { kind: 'failed', error: new StatusError({ code, message, context: { status } }) };
    },
    isWaiting: (question, now) => {
      const { at, failures } = known(question) ?? { at: now, failures: 0 };
      const distanceMs = failures === 0 ? 0 : Math.min(intervalMs * 2 ** Math.min(failures, 30), DISTANCE_MAX_MS);
      // A failure in the future was recorded before the clock was set back.
      return at <= now && now - at < distanceMs;
    },
    inTurn: (asked, now) => {
      const failedAt = (one: { readonly question: Question<unknown> }): number => known(one.question)?.at ?? 0;
      const others = asked.filter((one) => failedAt(one) === 0);
      const failed = asked.filter((one) => failedAt(one) > 0).toSorted((a, b) => failedAt(a) - failedAt(b));
      const lastAt = Math.max(0, ...[...remembered.values()].map(({ at }) => at));
      // If there is room for only one, they take turns.
      const [first, second] = now - lastAt > 1.5 * intervalMs ? [failed, others] : [others, failed];
      return Array.from({ length: Math.max(first.length, second.length) }, (_, index) => [first[index], second[index]])
        .flat()
        .filter((one) => one !== undefined);
    },
    settle: (question, answer, now) => {
      const before = known(question);
      if (answer.kind === 'ok' && before !== null) changes.set(failureKey(question), null);
      if (answer.kind !== 'failed' || answer.error.context['fault'] === 'stopped') return;
      const { code, message, context } = answer.error;
      const status = typeof context['status'] === 'number' ? context['status'] : null;
      changes.set(failureKey(question), { failures: (before?.failures ?? 0) + 1, at: now, code, message, status });
    },
    changes: () => changes,
  };
}

function failureKey({ name, method, url, body }: Question<unknown>): string {
  const asked = JSON.stringify([name, method, url, body ?? null]);
  return createHash('sha256').update(asked).digest('base64url').slice(0, 22);
}
