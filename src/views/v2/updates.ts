/** What was said of an incident or a maintenance, in the Statuspage v2 shape. */

import { type PageUpdate, toIso } from '../../model/index.ts';
import { shortId } from '../text/stable-id.ts';
import type { V2AffectedComponent, V2Update } from './types.ts';

/** Updates in the v2 shape, newest first; one without words says the title, since clients show it. */
export function v2Updates<Status extends string>(
  {
    id: parentId,
    title,
    updates,
  }: { readonly id: string; readonly title: string; readonly updates: readonly PageUpdate<Status>[] },
  affectedBy: (index: number) => readonly V2AffectedComponent[] | null,
): V2Update<Status>[] {
  return updates
    .map(({ id, at, status, body, notify }, index) => ({
      id: shortId('update', parentId, id),
      status,
      body: body === '' ? title : body,
      incident_id: parentId,
      created_at: toIso(at),
      updated_at: toIso(at),
      display_at: toIso(at),
      affected_components: affectedBy(index),
      deliver_notifications: notify !== false,
      custom_tweet: null,
      tweet_id: null,
    }))
    .reverse();
}
