/** One run: upstreams are asked side by side, and what they answer is published without waiting for the slowest. */

import type { EpochMs } from '../model/time.ts';
import type { Publisher, PublishReport } from '../publish/publisher.ts';
import type { SiteState } from '../publish/site-state.ts';
import type { Store } from '../store/store.ts';
import type { PassOptions, PassReport } from '../sync/pass.ts';
import { createNews } from './run-news.ts';
import { createQuestions } from './run-questions.ts';

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
