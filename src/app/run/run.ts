/** One run: queries upstreams in parallel, and publishes their answers without waiting for the slowest. */

import pLimit from 'p-limit';
import { type EpochMs, MINUTE_MS } from '../../model/time.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';
import type { Publisher, PublishReport } from '../../publish/publisher.ts';
import type { Store } from '../../store/create-store.ts';
import type { PassOptions, PassReport, UpstreamReport } from '../../sync/pass/pass.ts';

export interface RunDeps {
  readonly store: Pick<Store, 'upstreamTimes'>;
  readonly now: () => EpochMs;
  /** All configured upstreams. */
  readonly upstreamIds: () => readonly string[];
  readonly pass: (upstreamIds: readonly string[], options: Omit<PassOptions, 'turnOf'> & Asker) => Promise<PassReport>;
  /** Null: nothing is published. */
  readonly publisher: () => Publisher | null;
  /** Reads the current state of the site. Access rules are in force when this resolves. */
  readonly beforePublish: (now: EpochMs) => Promise<SiteState>;
}

/** Who asks. */
export interface Asker {
  /** An operator asks, so upstreams in back-off are queried too. */
  readonly isManual: boolean;
  /** The upstream sent a webhook, so it is queried even if it failed or rejected the key before. */
  readonly isHinted: boolean;
  /** Triggered by the schedule or by the start of this process. Only upstreams whose lease this node holds are queried. */
  readonly isScheduled: boolean;
}

export interface RunOrder extends Asker {
  /** Only these upstreams; absent: all. Empty: none, publish only. */
  readonly upstreams?: readonly string[];
  /** Only this page is published. */
  readonly page?: string;
  /** False: store the answers and publish nothing. */
  readonly isPublishing?: boolean;
  /** Called if publishing failed while other upstreams were still being queried. It is tried again with their answers. */
  readonly onTrouble: (error: unknown) => void;
}

/** Upstreams to query within the current run. */
interface MoreAsking extends Asker {
  readonly upstreams: readonly string[];
  /**
   * True: upstreams that are being queried right now are queried again, because that answer may be older, and the result is
   * published at once. False: such upstreams are skipped.
   */
  readonly isUrgent: boolean;
}

export type ActiveRun = ReturnType<typeof beginRun>;

export interface RunOutcome {
  /** First the upstreams of the run, in that order; then those that joined, as they answered. */
  readonly pass: PassReport | null;
  readonly publish: PublishReport | null;
}

/** Starts a run. `outcome` rejects only for internal errors: failures of upstreams and pages are data. */
export function beginRun(deps: RunDeps, order: RunOrder) {
  const ids = order.upstreams ?? deps.upstreamIds();
  const isAsking = order.upstreams === undefined || ids.length > 0;
  // A set, because each upstream is waited for once.
  const waitedFor = new Set(ids);
  const news = createNews(deps, order, waitedFor);
  const questions = createQuestions(deps, waitedFor, news);

  async function execute(): Promise<RunOutcome> {
    const pass = isAsking ? await questions.askAll(order, order.page === undefined) : null;
    return { pass, publish: await news.last() };
  }
  return {
    /** False: not accepted, because the run no longer waits for upstreams. */
    ask: (more: MoreAsking): boolean => order.isPublishing !== false && questions.askMore(more),
    outcome: execute(),
  };
}

/** Healthy upstreams answer at about the same time, and one publish for all of them is cheaper than one for each. */
const GATHER_MS = 250;

type News = ReturnType<typeof createNews>;

/**
 * Publishes within a run: news while it waits for slow upstreams, and the rest at the end.
 *
 * @param waitedFor of the run's own upstreams those that have not answered
 */
function createNews(deps: RunDeps, order: RunOrder, waitedFor: ReadonlySet<string>) {
  const reports: PublishReport[] = [];
  const inTurn = pLimit(1);
  let gathering: NodeJS.Timeout | null = null;

  async function publish(page?: string): Promise<void> {
    const publisher = deps.publisher();
    if (publisher === null || order.isPublishing === false) return;
    const state = await deps.beforePublish(deps.now());
    reports.push(await publisher.publish(state, page === undefined ? {} : { slug: page }));
  }

  /** An upstream that never answered may make a page private or claim its slug. Until it answers, nothing is published. */
  async function mayPublish(): Promise<boolean> {
    const times = await deps.store.upstreamTimes();
    return [...waitedFor].every((id) => (times.get(id)?.monitorsAt ?? null) !== null);
  }

  function now(): void {
    // The publisher keeps pages that fail here and tries them again at the end.
    inTurn(async () => ((await mayPublish()) ? publish() : undefined)).catch(order.onTrouble);
  }

  return {
    /** Publishes what is known now. */
    now,
    /** The same after a moment, together with further answers. */
    soon: () => {
      gathering ??= setTimeout(() => {
        gathering = null;
        now();
      }, GATHER_MS);
    },
    /** Publishes the rest when all upstreams have answered. Resolves with the report of the whole run. */
    last: async () => {
      if (gathering !== null) clearTimeout(gathering);
      await inTurn(() => publish(order.page));
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

/** As long as a run waits for its own upstreams, or is younger than this, scheduled requests join it. */
const SCHEDULED_MS_MAX = MINUTE_MS;
/** Urgent requests join a run only up to this age. After that, they wait until it has ended. */
const URGENT_MS_MAX = 5 * MINUTE_MS;
/**
 * Queries upstreams within a run: its own at first, and those that others ask for in the meantime.
 *
 * @param waitedFor of the run's own upstreams those that have not answered; shrinks
 */
function createQuestions(deps: RunDeps, waitedFor: Set<string>, news: News) {
  const answers = new Map([...waitedFor].map((id) => [id, Promise.withResolvers<void>()]));
  /** Upstreams to query again once they have answered. */
  const queued = new Map<string, Record<keyof Asker | 'isUrgent', boolean>>();
  const added: UpstreamReport[] = [];
  const tasks = createTasks();
  const startedAt = deps.now();

  function answered(id: string): void {
    waitedFor.delete(id);
    answers.get(id)?.resolve();
    answers.delete(id);
  }

  async function askOnce(id: string, wanted: Asker & { readonly isUrgent: boolean }): Promise<void> {
    const mine = { ...wanted };
    queued.set(id, mine);
    // It may have been queried again in the meantime; wait for that too.
    for (let answer = answers.get(id); answer !== undefined; answer = answers.get(id)) await answer.promise;
    queued.delete(id);
    answers.set(id, Promise.withResolvers());
    try {
      const { isManual, isHinted, isScheduled } = mine;
      const { upstreams } = await deps.pass([id], { isManual, isHinted, isScheduled });
      added.push(...upstreams);
    } finally {
      answered(id);
    }
    if (mine.isUrgent) news.now();
    else news.soon();
  }

  return {
    askAll: async ({ isManual, isHinted, isScheduled }: Asker, isTelling: boolean): Promise<PassReport> => {
      const onReport = ({ upstreamId }: UpstreamReport): void => {
        answered(upstreamId);
        if (isTelling && waitedFor.size > 0) news.soon();
      };
      const own = deps.pass([...waitedFor], { isManual, isHinted, isScheduled, onReport }).finally(() => {
        for (const id of [...waitedFor]) answered(id);
      });
      // Even after an error, nothing may continue during the next run.
      await own.catch(() => undefined);
      await tasks.ended();
      const report = await own;
      return added.length === 0
        ? report
        : { ...report, endedAt: deps.now(), upstreams: [...report.upstreams, ...added] };
    },
    askMore: ({ upstreams, isManual, isHinted, isScheduled, isUrgent }: MoreAsking): boolean => {
      const ageMs = deps.now() - startedAt;
      const isWaiting = waitedFor.size > 0 || tasks.areUnderWay();
      if (!isWaiting || (isUrgent && ageMs >= URGENT_MS_MAX)) return false;
      const isAsking = isUrgent || waitedFor.size > 0 || ageMs < SCHEDULED_MS_MAX;
      for (const id of isAsking ? upstreams : []) {
        const waiting = queued.get(id);
        if (waiting !== undefined) {
          waiting.isManual ||= isManual;
          waiting.isHinted ||= isHinted;
          waiting.isScheduled &&= isScheduled;
          waiting.isUrgent ||= isUrgent;
        } else if (isUrgent || !answers.has(id)) tasks.add(askOnce(id, { isManual, isHinted, isScheduled, isUrgent }));
      }
      // Upstreams that don't answer become stale, and the page has to show it. Other answers are already stored.
      if (isUrgent && upstreams.length === 0) news.now();
      else news.soon();
      return true;
    },
  };
}

function createTasks() {
  const underWay = new Set<Promise<void>>();
  let fault: { readonly error: unknown } | null = null;
  return {
    add: (task: Promise<void>) => {
      const kept = task
        .catch((error: unknown) => {
          fault ??= { error };
        })
        .finally(() => underWay.delete(kept));
      underWay.add(kept);
    },
    areUnderWay: () => underWay.size > 0,
    /** Resolves when no query is running; rejects with the first error. */
    ended: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
      if (fault !== null) throw fault.error;
    },
  };
}
