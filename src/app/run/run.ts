/** One run: upstreams are asked side by side, and what they answer is published without waiting for the slowest. */

import type { PublishReport } from '../../publish/publish-report.ts';
import type { PassReport } from '../../sync/pass/report.ts';
import type { MoreAsking, RunDeps, RunOrder } from './order.ts';
import { createNews } from './run-publishing.ts';
import { createQuestions } from './run-questions.ts';

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

/** Begins a run. Its outcome rejects for a fault of ours only: upstreams and pages that fail are data. */
export function beginRun(deps: RunDeps, order: RunOrder): ActiveRun {
  const ids = order.upstreams ?? deps.upstreamIds();
  const isAsking = order.upstreams === undefined || ids.length > 0;
  // No name twice, since each is waited for.
  const waitedFor = new Set(ids);
  const news = createNews(deps, order, waitedFor);
  const questions = createQuestions(deps, waitedFor, news);

  async function execute(): Promise<RunOutcome> {
    const pass = isAsking ? await questions.askAll(order, order.page === undefined) : null;
    return { pass, publish: await news.last() };
  }
  return { ask: (more) => order.isPublishing !== false && questions.askMore(more), outcome: execute() };
}
