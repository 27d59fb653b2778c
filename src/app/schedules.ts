/** When each upstream is asked: as configured, and no host of a vendor more than once a minute. */

import type { Config } from '../config/load.ts';
import { MINUTE_MS } from '../model/time.ts';
import { connectorOf } from '../sync/connectors/index.ts';
import { intervalMsOf } from '../sync/schedule/schedule.ts';

/** Minutes of an hour among which pages of one host are dealt out. */
const MINUTES = 60;

/**
 * Cron expressions by upstream id. Pages of vendors on one host that have no schedule of their own take turns where the
 * site's would ask the host more than once a minute: of three, each is asked every third minute.
 */
export function schedulesOf({
  upstreams,
  schedule,
}: Pick<Config, 'upstreams' | 'schedule'>): ReadonlyMap<string, string> {
  const sharing = Map.groupBy(
    upstreams.filter((entry) => entry.schedule === null),
    ({ kind, options }) => {
      const page = connectorOf(kind).vendorPage?.(options as never);
      return page === undefined ? null : new URL(page).host;
    },
  );
  const schedules = new Map(upstreams.map((entry) => [entry.id, entry.schedule ?? schedule]));
  for (const [host, entries] of sharing) {
    const every = Math.min(entries.length, MINUTES);
    if (host === null || every === 1 || intervalMsOf(schedule) >= every * MINUTE_MS) continue;
    for (const [index, { id }] of entries.entries()) schedules.set(id, `${index % every}-59/${every} * * * *`);
  }
  return schedules;
}
