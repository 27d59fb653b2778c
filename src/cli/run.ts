/** One run: upstreams are asked side by side, and what they answer is published without waiting for the slowest. */

import { type EpochMs, MINUTE_MS } from '../model/time.ts';
import type { Publisher, PublishReport } from '../publish/publisher.ts';
import type { SiteState } from '../publish/site-state.ts';
import type { Store } from '../store/store.ts';
import type { PassOptions, PassReport, UpstreamReport } from '../sync/pass.ts';

export interface RunDeps {
  readonly store: Pick<Store, 'upstreamTimes'>;
  readonly now: () => EpochMs;
  /** All that are configured. */
  readonly upstreamIds: () => readonly string[];
  readonly pass: (upstreamIds: readonly string[], options: PassOptions) => Promise<PassReport>;
  /** Null: nothing is published. */
  readonly publisher: () => Publisher | null;
  /** What the site is by now; gates are up before files are. */
  readonly beforePublish: (now: EpochMs) => Promise<SiteState>;
}

export interface RunOrder {
  /** Only these upstreams; absent: all. Empty: none, publish only. */
  readonly upstreams?: readonly string[];
  /** Only this page is published. */
  readonly page?: string;
  /** False: into the store and no further. */
  readonly isPublishing?: boolean;
  /** An operator asks, so an upstream that is being left alone is tried all the same. */
  readonly isManual: boolean;
  /** What was answered could not be published before the others answered; it is tried again with theirs. */
  readonly onTrouble: (error: unknown) => void;
}

/** Upstreams to ask within a run that is under way. */
export interface MoreAsking {
  readonly upstreams: readonly string[];
  readonly isManual: boolean;
  /**
   * True: what is being asked at this moment is asked once more, since that answer may be of before, and what comes of it
   * is published at once. False: what is being asked is left out.
   */
  readonly isUrgent: boolean;
}

export interface ActiveRun {
  /** False: nothing is done, since the run does not wait for upstreams any more. */
  readonly ask: (more: MoreAsking) => boolean;
  readonly outcome: Promise<RunOutcome>;
}

export interface RunOutcome {
  /** First what the run was for, in that order; then what was asked within it, as it answered. */
  readonly pass: PassReport | null;
  readonly publish: PublishReport | null;
}

/** While it still waits for its own upstreams, or is this young, a run asks on schedule what has answered. */
const SCHEDULED_MS_MAX = MINUTE_MS;
/** Urgent questions keep a run going that waits anyway; an older one ends, and they wait for that. */
const URGENT_MS_MAX = 5 * MINUTE_MS;
/** Upstreams that are well answer together; one publish for all of them is cheaper than one for each. */
const GATHER_MS = 250;

/** Begins a run. Its outcome rejects for a fault of ours only: upstreams and pages that fail are data. */
export function beginRun(deps: RunDeps, order: RunOrder): ActiveRun {
  const ids = order.upstreams ?? deps.upstreamIds();
  const isAsking = order.upstreams === undefined || ids.length > 0;
  // No name twice, since each is waited for.
  const waitedFor = new Set(ids);
  const news = createNews(deps, order, waitedFor);
  const questions = createQuestions(deps, waitedFor, news);

  async function execute(): Promise<RunOutcome> {
    const pass = isAsking ? await questions.askAll(order.isManual, order.page === undefined) : null;
    return { pass, publish: await news.last() };
  }
  return { ask: (more) => order.isPublishing !== false && questions.askMore(more), outcome: execute() };
}

interface Questions {
  readonly askAll: (isManual: boolean, isTelling: boolean) => Promise<PassReport>;
  readonly askMore: (more: MoreAsking) => boolean;
}

/** @param waitedFor of the run's own upstreams those that have not answered; shrinks */
function createQuestions(deps: RunDeps, waitedFor: Set<string>, news: News): Questions {
  const answers = new Map([...waitedFor].map((id) => [id, Promise.withResolvers<void>()]));
  /** Asked once more when their answer is in. */
  const queued = new Map<string, { isManual: boolean; isUrgent: boolean }>();
  const added: UpstreamReport[] = [];
  const addedTasks = new Set<Promise<void>>();
  const startedAt = deps.now();

  /** What went wrong with one of them; a fault of ours. */
  let fault: { readonly error: unknown } | null = null;

  function add(task: Promise<void>): void {
    const kept = task
      .catch((error: unknown) => {
        fault ??= { error };
      })
      .finally(() => addedTasks.delete(kept));
    addedTasks.add(kept);
  }

  function answered(id: string): void {
    waitedFor.delete(id);
    answers.get(id)?.resolve();
    answers.delete(id);
  }

  async function askOnce(id: string, wanted: { isManual: boolean; isUrgent: boolean }): Promise<void> {
    queued.set(id, wanted);
    // Whoever was asked meanwhile is waited for too.
    for (let answer = answers.get(id); answer !== undefined; answer = answers.get(id)) await answer.promise;
    queued.delete(id);
    answers.set(id, Promise.withResolvers());
    try {
      const { upstreams } = await deps.pass([id], { isManual: wanted.isManual });
      added.push(...upstreams);
    } finally {
      answered(id);
    }
    if (wanted.isUrgent) news.now();
    else news.soon();
  }

  return {
    askAll: async (isManual, isTelling) => {
      const onReport = ({ upstreamId }: UpstreamReport): void => {
        answered(upstreamId);
        if (isTelling && waitedFor.size > 0) news.soon();
      };
      const own = deps.pass([...waitedFor], { isManual, onReport }).finally(() => {
        for (const id of [...waitedFor]) answered(id);
      });
      // However it ends, nothing of it goes on beside the next run.
      await own.catch(() => undefined);
      while (addedTasks.size > 0) await Promise.allSettled(addedTasks);
      if (fault !== null) throw fault.error;
      const report = await own;
      return added.length === 0
        ? report
        : { ...report, endedAt: deps.now(), upstreams: [...report.upstreams, ...added] };
    },
    askMore: ({ upstreams, isManual, isUrgent }) => {
      const ageMs = deps.now() - startedAt;
      const isWaiting = waitedFor.size > 0 || addedTasks.size > 0;
      if (!isWaiting || (isUrgent && ageMs >= URGENT_MS_MAX)) return false;
      const isAsking = isUrgent || waitedFor.size > 0 || ageMs < SCHEDULED_MS_MAX;
      for (const id of isAsking ? upstreams : []) {
        const waiting = queued.get(id);
        if (waiting !== undefined) {
          waiting.isManual ||= isManual;
          waiting.isUrgent ||= isUrgent;
        } else if (isUrgent || !answers.has(id)) add(askOnce(id, { isManual, isUrgent }));
      }
      // What is not heard from turns stale meanwhile, and the page has to say so.
      news.soon();
      return true;
    },
  };
}

interface News {
  /** Publishes what is known by now. */
  readonly now: () => void;
  /** The same in a moment, together with what is answered until then. */
  readonly soon: () => void;
  /** Publishes what is left, when everything has answered; what the whole run published. */
  readonly last: () => Promise<PublishReport | null>;
}

function createNews(deps: RunDeps, order: RunOrder, waitedFor: ReadonlySet<string>): News {
  const reports: PublishReport[] = [];
  let before: Promise<void> = Promise.resolve();
  let gathering: NodeJS.Timeout | null = null;

  async function publish(page?: string): Promise<void> {
    const publisher = deps.publisher();
    if (publisher === null || order.isPublishing === false) return;
    const state = await deps.beforePublish(deps.now());
    reports.push(await publisher.publish(state, page === undefined ? {} : { slug: page }));
  }

  /** One that never answered may put a page behind a gate, or claim its name: before it has, nothing is published. */
  async function mayPublish(): Promise<boolean> {
    const times = await deps.store.upstreamTimes();
    return [...waitedFor].every((id) => (times.get(id)?.monitorsAt ?? null) !== null);
  }

  function now(): void {
    // What fails here is kept by the publisher and tried again at the end.
    before = before.then(async () => ((await mayPublish()) ? publish() : undefined)).catch(order.onTrouble);
  }

  return {
    now,
    soon: () => {
      gathering ??= setTimeout(() => {
        gathering = null;
        now();
      }, GATHER_MS);
    },
    last: async () => {
      if (gathering !== null) clearTimeout(gathering);
      await before;
      await publish(order.page);
      return together(reports);
    },
  };
}

function together(reports: readonly PublishReport[]): PublishReport | null {
  const last = reports.at(-1);
  if (last === undefined) return null;
  return {
    pages: reports.flatMap(({ pages }) => pages),
    problems: last.problems,
    durationMs: reports.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}
