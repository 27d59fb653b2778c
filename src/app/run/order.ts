/** What a run is made of and what it is asked to do. */

import type { EpochMs } from '../../model/time.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';
import type { Publisher } from '../../publish/publisher.ts';
import type { Store } from '../../store/store.ts';
import type { PassOptions, PassReport } from '../../sync/pass/pass.ts';

export interface RunDeps {
  readonly store: Pick<Store, 'upstreamTimes'>;
  readonly now: () => EpochMs;
  /** All that are configured. */
  readonly upstreamIds: () => readonly string[];
  readonly pass: (upstreamIds: readonly string[], options: RunPassOptions) => Promise<PassReport>;
  /** Null: nothing is published. */
  readonly publisher: () => Publisher | null;
  /** What the site is by now; gates are up before files are. */
  readonly beforePublish: (now: EpochMs) => Promise<SiteState>;
}

export interface RunPassOptions extends Omit<PassOptions, 'turnOf'> {
  /** The schedule asks, so that an upstream is asked only where its turn is this node's. */
  readonly isScheduled: boolean;
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
  /** The upstream itself says that it changed, so that it is tried although it failed or refused before. */
  readonly isHinted: boolean;
  /** Nobody but the schedule, or the start of this process, wants to know. */
  readonly isScheduled: boolean;
  /** What was answered could not be published before the others answered; it is tried again with theirs. */
  readonly onTrouble: (error: unknown) => void;
}

/** Upstreams to ask within a run that is under way. */
export interface MoreAsking {
  readonly upstreams: readonly string[];
  readonly isManual: boolean;
  readonly isHinted: boolean;
  readonly isScheduled: boolean;
  /**
   * True: what is being asked at this moment is asked once more, since that answer may be of before, and what comes of it
   * is published at once. False: what is being asked is left out.
   */
  readonly isUrgent: boolean;
}
