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
import type { Incident, Learned, NotificationChannel } from '../model/observation.ts';
import type { EpochMs } from '../model/time.ts';

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
   * the operator's own options: it is read from disk, costs no quota, and answers status 200; or `store:written`, what
   * operators wrote here.
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
  /** True: it is asked whether anything changed since (`If-None-Match`), and the answer before is handed on if not. GET only. */
  readonly isConditional?: boolean;
  /** An answer that caches on the way kept for longer (`Age`) says nothing of now, and is a failure. Default: any age will do. */
  readonly maxAgeMs?: number;
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
  if (answer?.kind !== 'ok') throw new Error('the runner gave a plain question another answer than ok');
  return answer;
}

/** Asks several questions, each of which may fail or be skipped for lack of quota; answers in the same order. */
export function* attempt<T>(questions: readonly Question<T>[]): Pull<readonly Answer<T>[]> {
  if (questions.length === 0) return [];
  return (yield { questions, tolerant: true }) as readonly Answer<T>[];
}

/** Asks one question that may fail or be skipped for lack of quota. */
export function* attemptOne<T>(question: Question<T>): Pull<Answer<T>> {
  const [answer] = yield* attempt([question]);
  return answer ?? { kind: 'skipped' };
}

/** Why a question has no answer, in a few words. */
export function whyMissing(answer: Exclude<Answer<unknown>, { readonly kind: 'ok' }>): string {
  return answer.kind === 'failed' ? answer.error.message : 'waits for quota';
}

/** What the runner remembers of an upstream and hands to its connector. */
export interface PullMemory {
  /** When each monitor's detail was last fetched, by id there; absent: never. */
  readonly detailFetchedAt: ReadonlyMap<string, EpochMs>;
  /** Incident ids of the last good snapshot that were open, by id there. */
  readonly openIncidents: ReadonlySet<string>;
  /** What is known of them, for upstreams that say nothing any more of what is over. Absent: nothing is open. */
  readonly openStories?: ReadonlyMap<string, Incident>;
  /**
   * When incidents whose own text is asked for (`Learned.readAgain`) were read last, by id there: those not asked for
   * longest, oldest first.
   */
  readonly incidentsReadAt: ReadonlyMap<string, EpochMs>;
  /** When notification channels were asked for last (`Learned.channels`); null or absent: never. */
  readonly channelsAt?: EpochMs | null;
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
  /** List requests of a quiet pass, where a pass asks more than the probe did. */
  readonly listCalls?: number;
  /** What it saw of status pages and monitors, where it defines pages: what of it stays hidden is told. */
  readonly learned?: Pick<Learned, 'monitors' | 'pages'>;
}

/**
 * A notification channel with where it leads. Its settings are keys and addresses: they are held by whoever sends, and are
 * never stored, shown or logged.
 */
export interface ChannelResource extends NotificationChannel {
  /** The block of its kind, in the names of the resource (`webhook_url`); null: it cannot be known here. */
  readonly settings: Readonly<Record<string, unknown>> | null;
}

export interface Limits {
  readonly perMinute: number | null;
  readonly perHour: number | null;
}

/** The upstream that is bound by itself: what operators write here. No upstream of the configuration may have this id. */
export const WRITTEN_ID = 'written';

export const NO_LIMITS: Limits = { perMinute: null, perHour: null };

/** One question of `pharos init`. */
export interface InitQuestion {
  /** The option, as in the example; `headers.Authorization` is nested. Where the example has `${NAME}`, a variable is asked for. */
  readonly key: string;
  readonly words: string;
  /** Taken when nothing is answered; `''` leaves the option out. Absent: there must be an answer, or the example's variable. */
  readonly suggestion?: string;
}

/** How a kind is met before it is used: in `pharos init`, in the documents and in tests. */
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
 * `options` is what stands in the configuration beside `id` and `kind`; secrets in it are plain strings here and are
 * only ever put into `Question.headers` or a log-in body.
 */
export interface Connector<Options> extends Introduction {
  readonly kind: string;
  readonly optionsSchema: z.ZodType<Options>;
  /** The documented limits, or `NO_LIMITS`. */
  readonly limits: Limits;
  /** True: it may define status pages. Until it has told which, no page is published that one of them could take over or close. */
  readonly definesPages?: boolean;
  /** Where it reads somebody else's status page, the address that people open. Its trouble is then not the page's own. */
  readonly vendorPage?: (options: Options) => string;
  /** The field that identifies an item in its lists; by it an item is salvaged that cannot be read otherwise. */
  readonly idField: string;
  /**
   * Fields whose words are a closed set, with the words we know; some say it in numbers or booleans. Any other word must
   * never look well.
   */
  readonly words: Readonly<Record<string, readonly (string | number | boolean)[]>>;
  /** The option that names a file or folder of this machine, relative to the configuration; such upstreams cost nobody anything. */
  readonly fileOption?: string;
  /** Options that `pharos preview` lays over those of the configuration. */
  readonly previewOptions?: Readonly<Record<string, unknown>>;
  readonly pull: (options: Options, context: PullContext) => Pull<Learned>;
  readonly probe: (options: Options, context: PullContext) => Pull<Probe>;
  /** Its notification channels with their settings, where it tells of them. Absent: it never does. */
  readonly channels?: (options: Options, context: PullContext) => Pull<readonly ChannelResource[]>;
}
