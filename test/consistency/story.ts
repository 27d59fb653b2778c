/** A story: as it is known, and as the page must tell it. */

import type { Incident } from '../../src/model/observation.ts';

export interface ExpectedUpdate {
  readonly at: number;
  readonly status: string;
}

/** An incident on the page as it is known at `asOf`. */
export interface PageStory {
  readonly item: Incident;
  readonly firstSeenAt: number;
  readonly definitionId: string;
  readonly componentIds: readonly string[];
  /** Null: it is not over. */
  readonly endedAt: number | null;
  readonly status: string;
}

export interface ExpectedStory {
  /** Names it in messages and from one publish to the next. */
  readonly key: string;
  readonly isAutomatic: boolean;
  /** What opened each entry that is part of it, as `component@instant`. */
  readonly falls: readonly string[];
  readonly firstSeenAt: number;
  readonly title: string;
  readonly status: string;
  readonly impact: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** In the order of the page. */
  readonly componentIds: readonly string[];
  /** Oldest first. */
  readonly updates: readonly ExpectedUpdate[];
}
