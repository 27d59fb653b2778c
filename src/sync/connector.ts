/**
 * The contract of a connector: a description of what to ask, what shape comes back and what it means.
 *
 * A connector is pure. Its `pull` is a generator: it yields questions, is handed answers, and returns what it learned.
 * The runner does network, quota, retry, limits, validation and errors for all of them, so a connector can be tested
 * by handing it payloads. Several steps (paging, log in, log out) are straight-line code; a `finally` still runs, and
 * may still ask, when a question fails.
 */

import type { z } from 'zod';
import type { StatusError } from '../errors.ts';
import type { Learned, Problem } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';

export {
  type Learned,
  NOTHING_LEARNED,
  type Problem,
} from '../model/observation.ts';

/** What is asked first when the quota is short: lists carry all states, back-fill can wait for weeks. */
export const PRIORITIES = ['list', 'incident', 'detail', 'backfill'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** One HTTP request in the connector's words. */
export interface Question<T> {
  /** Shown in reports and metrics, the same for every page of a list: `list monitors`. */
  readonly name: string;
  readonly priority: Priority;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /**
   * Absolute http(s) address with its query, never holding a secret; or a `file:` address, which may only come from
   * the operator's own options: it is read from disk, costs no quota, and answers status 200.
   */
  readonly url: string;
  /** How the body is read before `schema` sees it; `folder` (file: only) gives `{ name, text }[]` sorted by name. Default: json. */
  readonly reads?: 'json' | 'text' | 'folder';
  /** Secrets go here and nowhere else. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Shape of a 2xx body; strict about the envelope, lenient about items (`parseItems`). */
  readonly schema: z.ZodType<T>;
  /** Statuses besides 2xx whose body is parsed by `schema` all the same. */
  readonly acceptStatuses?: readonly number[];
  /** Whether asking twice does no harm; false for log in and for tests that act. GET is always safe. */
  readonly isRepeatable?: boolean;
  /** True: a 2xx answer may be empty or not JSON; `schema` then gets `null`. */
  readonly allowEmpty?: boolean;
  /** True: JSON may come under any content type, as from a plain file server. Default: it must say that it is JSON. */
  readonly acceptAnyType?: boolean;
}

/**
 * An answer. A question asked with `ask` that fails is thrown into the generator as a `StatusError`;
 * asked with `attempt` it comes back as data, and `skipped` tells that the quota did not allow it in this pass.
 */
export type Answer<T> =
  | { readonly kind: 'ok'; readonly payload: T; readonly status: number; readonly at: EpochMs }
  | { readonly kind: 'failed'; readonly error: StatusError }
  | { readonly kind: 'skipped' };

/** What a generator of questions yields: questions that may run side by side, answered in the same order. */
export interface Asking {
  readonly questions: readonly Question<unknown>[];
  /** True: a failure is data; false: the first failure is thrown into the generator. */
  readonly tolerant: boolean;
}

export type Pull<R> = Generator<Asking, R, readonly Answer<unknown>[]>;

/** Asks one question; a failure is thrown here. `const page = yield* ask(listMonitors(2))`. */
export function* ask<T>(
  question: Question<T>,
): Pull<{ readonly payload: T; readonly status: number; readonly at: EpochMs }> {
  const [answer] = (yield { questions: [question], tolerant: false }) as readonly Answer<T>[];
  if (answer?.kind !== 'ok') throw new Error('the runner answered a plain question with anything but ok');
  return answer;
}

/** Asks several questions, each of which may fail or be skipped for lack of quota; answers in the same order. */
export function* attempt<T>(questions: readonly Question<T>[]): Pull<readonly Answer<T>[]> {
  if (questions.length === 0) return [];
  return (yield { questions, tolerant: true }) as readonly Answer<T>[];
}

/** What the runner remembers of an upstream and hands to its connector. */
export interface PullMemory {
  /** When each monitor's detail was last fetched, by id there; absent: never. */
  readonly detailFetchedAt: ReadonlyMap<string, EpochMs>;
  /** Incident ids of the last good snapshot that were open, by id there. */
  readonly openIncidents: ReadonlySet<string>;
  /** Whether the past before our first pass has been asked for and recorded. */
  readonly isBackfilled: boolean;
}

export interface PullContext {
  readonly upstreamId: string;
  readonly now: EpochMs;
  readonly memory: PullMemory;
}

/** One row of `pharos check`. */
export interface Probe {
  /** What a person reads: `key "edge", plan team, read scope`. */
  readonly summary: string;
  readonly warnings: readonly string[];
  /** How many monitors there are, where a probe can tell; for the freshness estimate. */
  readonly monitorsTotal: number | null;
}

export interface Limits {
  readonly perMinute: number | null;
  readonly perHour: number | null;
}

/**
 * One kind of upstream.
 *
 * `options` is what stands in the configuration beside `id` and `kind`; secrets in it are plain strings here and are
 * only ever put into `Question.headers` or a log-in body.
 */
export interface Connector<Options> {
  readonly kind: string;
  readonly optionsSchema: z.ZodType<Options>;
  /** The documented limits; null where the document gives none. */
  readonly limits: Limits;
  /** True: it may define status pages. Until it has told which, no page is published that one of them could take over or close. */
  readonly definesPages?: boolean;
  readonly pull: (options: Options, context: PullContext) => Pull<Learned>;
  readonly probe: (options: Options, context: PullContext) => Pull<Probe>;
}

/** Parses a list item by item: bad ones are left out and told as problems; never throws. */
export function parseItems<T>(
  schema: z.ZodType<T>,
  items: readonly unknown[],
  place: string,
): { readonly items: readonly T[]; readonly problems: readonly Problem[] } {
  const parsed: T[] = [];
  const problems: Problem[] = [];
  for (const [index, item] of items.entries()) {
    const result = schema.safeParse(item);
    if (result.success) parsed.push(result.data);
    else {
      const issue = result.error.issues[0];
      const path = issue === undefined ? '' : issue.path.map((part) => `.${String(part)}`).join('');
      problems.push({ kind: 'dropped', place: `${place}[${index}]${path}`, message: issue?.message ?? 'unreadable' });
    }
  }
  return { items: parsed, problems };
}
