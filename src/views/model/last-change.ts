/**
 * When what a page says last changed. Unlike the age of its data this stands still while nothing happens, so files
 * that state it need no rewriting.
 */

import { type ComponentModel, type EpochMs, type PageModel, toEpochMs } from '../../model/index.ts';
import { incidentChangedAt, maintenanceChangedAt } from '../incident/event-times.ts';

/** What nothing is known of began here: an instant nobody takes for a measured one. */
export const NEVER: EpochMs = toEpochMs(0);

/** The latest change of a state, an incident, a maintenance or the freshness of a source, at most `asOf`; else `NEVER`. */
export function lastChangeAt(model: PageModel): EpochMs {
  let latest: number = NEVER;
  const note = (at: number | null): void => {
    if (at !== null && at > latest && at <= model.asOf) latest = at;
  };
  for (const component of model.components) note(stateSince(component));
  for (const incident of model.incidents) note(incidentChangedAt(incident, model.asOf));
  for (const maintenance of model.maintenances) note(maintenanceChangedAt(maintenance, model.asOf));
  for (const { from } of model.announcements) note(from);
  for (const source of model.sources)
    if (source.isMonitorsStale && source.monitorsAt !== null) note(source.monitorsAt + 2 * source.intervalMs);
  return toEpochMs(latest);
}

/** When the component's time line came into the state it ends in; `NEVER` when nothing is known of it. */
export function stateSince({ timeline }: ComponentModel): EpochMs {
  let since = NEVER;
  for (let index = timeline.length - 1; index >= 0; index -= 1) {
    const span = timeline[index];
    if (span === undefined || span.state !== timeline.at(-1)?.state) return since;
    // A time line begins with silence where there is no history yet; how far back it reaches says nothing.
    since = index === 0 && span.provenance === 'none' ? NEVER : span.from;
  }
  return since;
}

/** The first instant anything is known of a component; null: never. */
export function firstHeardAt({ timeline }: Pick<ComponentModel, 'timeline'>): EpochMs | null {
  return timeline.find(({ provenance }) => provenance !== 'none')?.from ?? null;
}
