/** One run: queries upstreams in parallel, and publishes their answers without waiting for the slowest. */

import type { PublishReport } from '../../publish/publish-report.ts';
import type { PassReport } from '../../sync/pass/report.ts';
import type { MoreAsking, RunDeps, RunOrder } from './order.ts';
import { createNews } from './run-publishing.ts';
import { createQuestions } from './run-questions.ts';

export interface ActiveRun {
  /** False: not accepted, because the run no longer waits for upstreams. */
  readonly ask: (more: MoreAsking) => boolean;
  readonly outcome: Promise<RunOutcome>;
}

export interface RunOutcome {
  /** First the upstreams of the run, in that order; then those that joined, as they answered. */
  readonly pass: PassReport | null;
  readonly publish: PublishReport | null;
}

/** Starts a run. `outcome` rejects only for internal errors: failures of upstreams and pages are data. */
export function beginRun(deps: RunDeps, order: RunOrder): ActiveRun {
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
  return { ask: (more) => order.isPublishing !== false && questions.askMore(more), outcome: execute() };
}
