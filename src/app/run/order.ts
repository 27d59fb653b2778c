/** What a run is made of and what it is asked to do. */

import type { EpochMs } from '../../model/time.ts';
import type { SiteState } from '../../publish/definitions/site-state.ts';
import type { Publisher } from '../../publish/publisher.ts';
import type { Store } from '../../store/store.ts';
import type { PassOptions, PassReport } from '../../sync/pass/pass.ts';

export interface RunDeps {
  readonly store: Pick<Store, 'upstreamTimes'>;
  readonly now: () => EpochMs;
  /** All configured upstreams. */
  readonly upstreamIds: () => readonly string[];
  readonly pass: (upstreamIds: readonly string[], options: RunPassOptions) => Promise<PassReport>;
  /** Null: nothing is published. */
  readonly publisher: () => Publisher | null;
  /** Reads the current state of the site. Access rules are in force when this resolves. */
  readonly beforePublish: (now: EpochMs) => Promise<SiteState>;
}

interface RunPassOptions extends Omit<PassOptions, 'turnOf'> {
  /** The schedule asks, so only the upstreams whose lease this node holds are queried. */
  readonly isScheduled: boolean;
}

export interface RunOrder {
  /** Only these upstreams; absent: all. Empty: none, publish only. */
  readonly upstreams?: readonly string[];
  /** Only this page is published. */
  readonly page?: string;
  /** False: store the answers and publish nothing. */
  readonly isPublishing?: boolean;
  /** An operator asks, so upstreams in back-off are queried too. */
  readonly isManual: boolean;
  /** The upstream sent a webhook, so it is queried even if it failed or rejected the key before. */
  readonly isHinted: boolean;
  /** Triggered by the schedule or by the start of this process. */
  readonly isScheduled: boolean;
  /** Called if publishing failed while other upstreams were still being queried. It is tried again with their answers. */
  readonly onTrouble: (error: unknown) => void;
}

/** Upstreams to query within the current run. */
export interface MoreAsking {
  readonly upstreams: readonly string[];
  readonly isManual: boolean;
  readonly isHinted: boolean;
  readonly isScheduled: boolean;
  /**
   * True: upstreams that are being queried right now are queried again, because that answer may be older, and the result is
   * published at once. False: such upstreams are skipped.
   */
  readonly isUrgent: boolean;
}
