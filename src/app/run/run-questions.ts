/** Queries upstreams within a run: its own at first, and those that others ask for in the meantime. */

import { MINUTE_MS } from '../../model/time.ts';
import type { PassReport, UpstreamReport } from '../../sync/pass/pass.ts';
import type { MoreAsking, RunDeps, RunOrder } from './order.ts';
import type { News } from './run-publishing.ts';

/** As long as a run waits for its own upstreams, or is younger than this, scheduled requests join it. */
const SCHEDULED_MS_MAX = MINUTE_MS;
/** Urgent requests join a run only up to this age. After that, they wait until it has ended. */
const URGENT_MS_MAX = 5 * MINUTE_MS;
/** Who asks. */
type Asker = Pick<RunOrder, 'isManual' | 'isHinted' | 'isScheduled'>;

interface Questions {
  readonly askAll: (asker: Asker, isTelling: boolean) => Promise<PassReport>;
  readonly askMore: (more: MoreAsking) => boolean;
}

/** @param waitedFor of the run's own upstreams those that have not answered; shrinks */
export function createQuestions(deps: RunDeps, waitedFor: Set<string>, news: News): Questions {
  const answers = new Map([...waitedFor].map((id) => [id, Promise.withResolvers<void>()]));
  /** Upstreams to query again once they have answered. */
  const queued = new Map<string, { isManual: boolean; isHinted: boolean; isScheduled: boolean; isUrgent: boolean }>();
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
    askAll: async ({ isManual, isHinted, isScheduled }, isTelling) => {
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
    askMore: ({ upstreams, isManual, isHinted, isScheduled, isUrgent }) => {
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

interface Tasks {
  readonly add: (task: Promise<void>) => void;
  readonly areUnderWay: () => boolean;
  /** Resolves when no query is running; rejects with the first error. */
  readonly ended: () => Promise<void>;
}

function createTasks(): Tasks {
  const underWay = new Set<Promise<void>>();
  let fault: { readonly error: unknown } | null = null;
  return {
    add: (task) => {
      const kept = task
        .catch((error: unknown) => {
          fault ??= { error };
        })
        .finally(() => underWay.delete(kept));
      underWay.add(kept);
    },
    areUnderWay: () => underWay.size > 0,
    ended: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
      if (fault !== null) throw fault.error;
    },
  };
}
