/** Conditional requests: remembers the validators and the parsed body of earlier answers. */

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type EpochMs, HOUR_MS } from '../../model/time.ts';
import type { HttpQuestion } from './http-question.ts';

/** Three lists of more than eighty upstreams. */
const ANSWERS_MAX = 256;
/** After this time the full answer is requested again, in case a server forgets to change its tag. */
const BELIEVED_MS = HOUR_MS;

interface Remembered {
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly payload: unknown;
  readonly at: EpochMs;
}

export interface Revalidation {
  /** Headers that make the question conditional; none where nothing is remembered or it is not to be conditional. */
  readonly headersFor: (question: HttpQuestion, now: EpochMs) => Readonly<Record<string, string>>;
  /** The answer before, for a 304; undefined: nothing was remembered, so that a 304 is no answer. */
  readonly recall: (question: HttpQuestion) => { readonly payload: unknown } | undefined;
  readonly remember: (
    question: HttpQuestion,
    answer: { readonly headers: Readonly<Record<string, unknown>>; readonly payload: unknown; readonly at: EpochMs },
  ) => void;
}

/** Remembers answers in memory, by what was asked and with which headers. */
export function createRevalidation(): Revalidation {
  const answers = new LRUCache<string, Remembered>({ max: ANSWERS_MAX });
  return {
    headersFor: (question, now) => {
      const known = question.isConditional === true ? answers.get(keyOf(question)) : undefined;
      if (known === undefined || now - known.at > BELIEVED_MS || now < known.at) return {};
      return {
        ...(known.etag === null ? {} : { 'if-none-match': known.etag }),
        ...(known.lastModified === null ? {} : { 'if-modified-since': known.lastModified }),
      };
    },
    recall: (question) => (question.isConditional === true ? answers.get(keyOf(question)) : undefined),
    remember: (question, { headers, payload, at }) => {
      if (question.isConditional !== true || question.method !== 'GET') return;
      const etag = headerValue(headers['etag']);
      const lastModified = headerValue(headers['last-modified']);
      if (etag === null && lastModified === null) answers.delete(keyOf(question));
      else answers.set(keyOf(question), { etag, lastModified, payload, at });
    },
  };
}

/** Secrets are among the headers, so only a digest is kept. */
function keyOf({ url, headers }: HttpQuestion): string {
  return hash('sha256', JSON.stringify([url, Object.entries(headers).toSorted()]));
}

/** A validator is the upstream's and comes back to it as it was; one that no header can hold is none. */
function headerValue(value: unknown): string | null {
  return typeof value === 'string' && /^[\x20-\x7e]{1,512}$/.test(value) ? value : null;
}
