/** What a run asks: its own upstreams at first, and what others want to know meanwhile. */

import { MINUTE_MS } from '../../model/time.ts';
import type { PassReport, UpstreamReport } from '../../sync/pass/pass.ts';
import type { MoreAsking, RunDeps, RunOrder } from './order.ts';
import type { News } from './run-publishing.ts';

/** While it still waits for its own upstreams, or is this young, a run asks on schedule what has answered. */
const SCHEDULED_MS_MAX = MINUTE_MS;
/** Urgent questions keep a run going that waits anyway; an older one ends, and they wait for that. */
const URGENT_MS_MAX = 5 * MINUTE_MS;
/** Whose wish it is. */
type Asker = Pick<RunOrder, 'isManual' | 'isHinted' | 'isScheduled'>;

export interface Questions {
  readonly askAll: (asker: Asker, isTelling: boolean) => Promise<PassReport>;
  readonly askMore: (more: MoreAsking) => boolean;
}

/** @param waitedFor of the run's own upstreams those that have not answered; shrinks */
export function createQuestions(deps: RunDeps, waitedFor: Set<string>, news: News): Questions {
  const answers = new Map([...waitedFor].map((id) => [id, Promise.withResolvers<void>()]));
  /** Asked once more when their answer is in. */
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
    // Whoever was asked meanwhile is waited for too.
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
      // However it ends, nothing of it goes on beside the next run.
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
      // What is not heard from turns stale meanwhile, and the page has to say so; what others learned is there already.
      if (isUrgent && upstreams.length === 0) news.now();
      else news.soon();
      return true;
    },
  };
}

interface Tasks {
  readonly add: (task: Promise<void>) => void;
  readonly areUnderWay: () => boolean;
  /** When none is under way any more; rejects with the first fault. */
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
