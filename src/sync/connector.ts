/**
 * The contract of a connector, which describes what to request, what shape the responses have, and what they mean.
 *
 * A connector is pure. Its `pull` is a generator: it yields questions, receives answers, and returns what it learned. The
 * runner handles network, quotas, retries, limits, validation and errors for all connectors, so tests can hand them payloads.
 * Paging, login and logout are straight-line code; a `finally` still runs, and can still make requests, when a request fails.
 */

import type { z } from 'zod';
import type { StatusError } from '../errors.ts';
import type { Incident, Learned, NotificationChannel } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';
import type { Check } from './connectors/check.ts';

/** Which requests come first when the quota is short: lists have all states, while the backfill can wait for weeks. */
export const PRIORITIES = ['list', 'incident', 'detail', 'backfill'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** One HTTP request, as a connector describes it. */
export interface Question<T> {
  /** Name in reports and metrics, the same for every page of a list: `list monitors`. */
  readonly name: string;
  readonly priority: Priority;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /**
   * Absolute http(s) address with its query, without secrets. Or a `file:` address, which may only come from the operator's
   * options; it is read from disk, costs no quota, and answers status 200. Or `store:written`, for the posts of operators.
   */
  readonly url: string;
  /** How the body is read before `schema` sees it; `folder` (file: only) gives `{ name, text }[]` sorted by name. Default: json. */
  readonly reads?: 'json' | 'text' | 'folder';
  /** The only place for secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Shape of a 2xx body; strict about the envelope, lenient about items (`parseItems`). */
  readonly schema: z.ZodType<T>;
  /** Statuses besides 2xx whose body is parsed by `schema` all the same. */
  readonly acceptStatuses?: readonly number[];
  /** Whether the request can safely be repeated; false for logins and for tests that act. GET always can. */
  readonly isRepeatable?: boolean;
  /** True: a 2xx answer may be empty or not JSON; `schema` then gets `null`. */
  readonly allowEmpty?: boolean;
  /** True: accepts JSON with any content type, as from a plain file server. Default: the type must be JSON. */
  readonly acceptAnyType?: boolean;
  /** True: the request is conditional (`If-None-Match`), and the previous answer is returned if nothing changed. GET only. */
  readonly isConditional?: boolean;
  /** Maximum age of an answer from a cache (`Age` header); an older one is a failure. Default: any age. */
  readonly maxAgeMs?: number;
}

/** A question as connectors write it: by default a GET without headers, of the priority `list`. */
export type Query<T> = Pick<Question<T>, 'name' | 'url' | 'schema'> & Partial<Question<T>>;

function toQuestion<T>(query: Query<T>): Question<T> {
  return { priority: 'list', method: 'GET', headers: {}, ...query };
}

/**
 * An answer. If a question asked with `ask` fails, a `StatusError` is thrown into the generator. With `attempt`, failures are
 * data, and `skipped` means that the quota didn't allow it in this pass.
 */
export type Answer<T> =
  | { readonly kind: 'ok'; readonly payload: T; readonly status: number; readonly at: EpochMs }
  | { readonly kind: 'failed'; readonly error: StatusError }
  | { readonly kind: 'skipped' };

/** What a generator yields: questions that may run in parallel, answered in the same order. */
export interface Asking {
  readonly questions: readonly Question<unknown>[];
  /** True: a failure is data; false: the first failure is thrown into the generator. */
  readonly tolerant: boolean;
  /** Answers wanted at most; the rest is `skipped`. Those that failed lately don't count. Absent: all. */
  readonly max?: number | undefined;
  /** What is known of pages so far; it closes pages at once, whatever becomes of the rest of the pull. */
  readonly learned?: LearnedPages;
  /** The same of an answer, as soon as it is there; null: nothing. */
  readonly learn?: ((answer: Answer<unknown>, index: number) => LearnedPages | null) | undefined;
}

/** Of those pages, and of no others. */
export type LearnedPages = Pick<Learned, 'pages' | 'problems'>;

export type Pull<R> = Generator<Asking, R, readonly Answer<unknown>[]>;

/** Asks one question; a failure is thrown here. `const page = yield* ask(listMonitors(2))`. */
export function* ask<T>(query: Query<T>): Pull<{ readonly payload: T; readonly status: number; readonly at: EpochMs }> {
  const [answer] = (yield { questions: [toQuestion(query)], tolerant: false }) as readonly Answer<T>[];
  if (answer?.kind !== 'ok') throw new Error('the runner gave a plain question another answer than ok');
  return answer;
}

/**
 * Asks several questions, each of which may fail or be skipped for lack of quota; answers in the same order. One that keeps failing
 * is asked ever more rarely and doesn't keep the others waiting (`pass/runner.ts`), unless it is about the present.
 *
 * @param max answers wanted in this pass, of those that come first; default: all
 * @param learn what an answer tells of pages, before the others are there; default: nothing
 */
export function* attempt<T>(
  queries: readonly Query<T>[],
  max?: number,
  learn?: (answer: Answer<T>, index: number) => LearnedPages | null,
): Pull<readonly Answer<T>[]> {
  if (queries.length === 0) return [];
  const asking = { questions: queries.map(toQuestion), tolerant: true, max, learn: learn as Asking['learn'] };
  return (yield asking) as readonly Answer<T>[];
}

/** Asks one such question about each of some items. */
export function* attemptEach<Item, T>(
  items: readonly Item[],
  toQuery: (item: Item) => Query<T>,
  max?: number,
): Pull<{ readonly item: Item; readonly answer: Answer<T> }[]> {
  const answers = yield* attempt(items.map(toQuery), max);
  return items.map((item, index) => ({ item, answer: answers[index] ?? { kind: 'skipped' } }));
}

/** Asks one question that may fail or be skipped for lack of quota. */
export function* attemptOne<T>(query: Query<T>): Pull<Answer<T>> {
  const [answer] = yield* attempt([query]);
  return answer ?? { kind: 'skipped' };
}

/** Tells what is known of pages before something fails: a page that was made private must not stay open because of it. */
export function* reportPages({ pages, problems }: LearnedPages): Pull<void> {
  yield { questions: [], tolerant: true, learned: { pages, problems } };
}

/** Why a question has no answer, in a few words. */
export function explainMissing(answer: Exclude<Answer<unknown>, { readonly kind: 'ok' }>): string {
  return answer.kind === 'failed' ? answer.error.message : 'waits for quota';
}

/** What the runner remembers about an upstream and passes to its connector. */
export interface PullMemory {
  /** When each monitor's detail was last fetched, by id there; absent: never. */
  readonly detailFetchedAt: ReadonlyMap<string, EpochMs>;
  /** Incident ids of the last good snapshot that were open, by id there. */
  readonly openIncidents: ReadonlySet<string>;
  /** What is known about open incidents, for upstreams that no longer mention closed ones. Absent: none is open. */
  readonly openStories?: ReadonlyMap<string, Incident>;
  /**
   * When incidents that are requested individually (`Learned.readAgain`) were last read, by upstream id, longest ago first.
   * Only those read longest ago are included.
   */
  readonly incidentsReadAt: ReadonlyMap<string, EpochMs>;
  /** When notification channels were last requested (`Learned.channels`); null or absent: never. */
  readonly channelsAt?: EpochMs | null;
  /** Whether the history from before the first pass has been requested and stored. */
  readonly isBackfilled: boolean;
  /** Monitors whose own history has been requested (`Learned.backfilled`), by id there; absent: none. */
  readonly backfilledMonitors?: ReadonlySet<string>;
}

export interface PullContext {
  readonly upstreamId: string;
  readonly now: EpochMs;
  readonly memory: PullMemory;
}

/** One row of `pharos check`. */
export interface Probe {
  /** Shown to the operator: `key "edge", plan team, read scope`. */
  readonly summary: string;
  readonly warnings: readonly string[];
  /** Number of monitors, if a probe knows it; for the estimate of freshness. */
  readonly monitorsTotal: number | null;
  /** List requests of a quiet pass, if a pass makes more requests than the probe did. */
  readonly listCalls?: number;
  /** Status pages and monitors that it saw, if it defines pages. Left-out parts of them are reported. */
  readonly learned?: Pick<Learned, 'monitors' | 'pages'>;
}

/**
 * A notification channel with its settings. These contain keys and addresses: only the sender keeps them, and they are never
 * stored, shown or logged.
 */
export interface ChannelResource extends NotificationChannel {
  /** Settings of its kind, with the names of the resource (`webhook_url`); null: not known here. */
  readonly settings: Readonly<Record<string, unknown>> | null;
}

export type Limits = Readonly<Record<'perMinute' | 'perHour', number | null>>;

export const NO_LIMITS: Limits = { perMinute: null, perHour: null };

/** One question of `pharos init`. */
export interface InitQuestion {
  /** The option, as in the example; `headers.Authorization` is nested. Where the example has `${NAME}`, a variable is asked for. */
  readonly key: string;
  readonly words: string;
  /** Taken when nothing is answered; `''` leaves the option out. Absent: there must be an answer, or the example's variable. */
  readonly suggestion?: string;
}

/** How a kind is introduced: in `pharos init`, in the documents and in tests. */
export interface Introduction {
  /** What it is, in a few words: `sources and storage targets of a backup service`. */
  readonly title: string;
  /** An entry of `upstreams` with the usual options; every secret as `${NAME}`. */
  readonly example: Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string };
  /** In the order asked. */
  readonly questions: readonly InitQuestion[];
}

/**
 * One kind of upstream. `docs/upstreams/<kind>.md` documents its requests, their cost and its states.
 *
 * `options` is its part of the configuration, without `id` and `kind`. Secrets in it are plain strings here, which are only put
 * into `Question.headers` or a login body.
 */
export interface Connector<Options> extends Introduction {
  readonly kind: string;
  readonly optionsSchema: z.ZodType<Options>;
  /** The documented limits; absent: none. */
  readonly limits?: Limits;
  /**
   * True: it may define status pages. Until it has listed them, no page is published that one of them could claim or make
   * private.
   */
  readonly definesPages?: boolean;
  /** The public address of the status page, if it reads someone else's. The problems of that page then don't affect ours. */
  readonly vendorPage?: (options: Options) => string;
  /** The field that identifies an item in lists. With it, an unreadable item is kept as unknown. */
  readonly idField: string;
  /**
   * Fields with a closed set of words, numbers or booleans, and the values we know. Any other value must never look healthy.
   */
  readonly words: Readonly<Record<string, readonly (string | number | boolean)[]>>;
  /** The option that names a local file or folder, relative to the configuration. Reading it costs no quota. */
  readonly fileOption?: string;
  /** Options that `pharos preview` overrides. */
  readonly previewOptions?: Readonly<Record<string, unknown>>;
  readonly pull: (options: Options, context: PullContext) => Pull<Learned>;
  /** What `pharos check` asks, if it is something else than the lists of `pull`. */
  readonly probe?: (options: Options, context: PullContext) => Pull<Probe>;
  /** Returns its notification channels with their settings. Absent: it has none. */
  readonly channels?: (options: Options, context: PullContext) => Pull<readonly ChannelResource[]>;
  /** Returns the checks that this installation makes for it (`src/checks`). Absent: it makes none. */
  readonly checks?: (options: Options, context: PullContext) => Pull<readonly Check[]>;
}
