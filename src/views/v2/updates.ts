/** What was said of an incident or a maintenance, in the Statuspage v2 shape. */

import { type EpochMs, toIso, type Update } from '../../model/index.ts';
import { shortId } from '../text/stable-id.ts';
import type { V2AffectedComponent, V2Update } from './types.ts';

/** An update whose status is known to be one of its parent's words. */
export interface StatusUpdate<Status extends string> {
  readonly id: string;
  readonly at: EpochMs;
  readonly status: Status;
  readonly body: string;
}

/**
 * Updates with the status each left its parent in, oldest first.
 *
 * @param words    the parent's words; another word, or none, means that the status did not change
 * @param initial  the status before the first update
 */
export function statusUpdates<Status extends string>(
  updates: readonly Update[],
  words: readonly Status[],
  initial: Status,
): StatusUpdate<Status>[] {
  let status = initial;
  return updates.map(({ id, at, status: said, body }) => {
    status = words.find((word) => word === said) ?? status;
    return { id, at, status, body };
  });
}

/** Updates in the v2 shape, newest first. */
export function v2Updates<Status extends string>(
  updates: readonly StatusUpdate<Status>[],
  parentId: string,
  affectedBy: (index: number) => readonly V2AffectedComponent[] | null,
): V2Update<Status>[] {
  return updates
    .map(({ id, at, status, body }, index) => ({
      id: shortId('update', parentId, id),
      status,
      body,
      incident_id: parentId,
      created_at: toIso(at),
      updated_at: toIso(at),
      display_at: toIso(at),
      affected_components: affectedBy(index),
      deliver_notifications: true,
      custom_tweet: null,
      tweet_id: null,
    }))
    .reverse();
}
