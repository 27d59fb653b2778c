/** Creates incidents and maintenance windows for connectors, with defaults for everything that an upstream doesn't say. */

import type { Incident, Maintenance } from '../../model/observation.ts';
import type { EpochMs } from '../../model/time.ts';

/** Creates an incident. Default: open, minor impact, no state, and on every page of its monitors. */
export function createIncident(
  known: Pick<Incident, 'id' | 'title' | 'startedAt' | 'monitors'> & Partial<Incident>,
): Incident {
  const { id, title, startedAt, monitors, ...others } = known;
  return {
    id,
    title,
    status: (known.endedAt ?? null) === null ? 'investigating' : 'resolved',
    impact: 'minor',
    startedAt,
    endedAt: null,
    monitors,
    components: [],
    pages: null,
    affectedState: null,
    isOutage: false,
    updates: [],
    ...others,
  };
}

export function createMaintenance(
  known: Pick<Maintenance, 'id' | 'title' | 'startsAt' | 'endsAt' | 'monitors'> & Partial<Maintenance>,
): Maintenance {
  const { id, title, startsAt, endsAt, monitors, ...others } = known;
  return { id, title, startsAt, endsAt, monitors, components: [], pages: null, updates: [], ...others };
}

/**
 * Incidents that were open and aren't listed any more, over as of `now`. Only where the list is known to be complete: what is
 * missing from a list that was cut, that lost unreadable items, or whose source has just restarted, hasn't ended.
 *
 * @param open    by id there, as remembered
 * @param listed  ids there
 * @param endId   of the update that says so; absent: there is none
 */
export function endMissing(
  open: ReadonlyMap<string, Incident>,
  listed: ReadonlySet<string | null>,
  { upstreamId, now, endId }: { readonly upstreamId: string; readonly now: EpochMs; readonly endId?: string },
): Incident[] {
  return [...open]
    .filter(([id]) => !listed.has(id))
    .map(([id, known]) => ({
      ...known,
      id: `${upstreamId}/${id}`,
      status: 'resolved',
      endedAt: now,
      updates:
        endId === undefined ? known.updates : [...known.updates, { id: endId, at: now, status: 'resolved', body: '' }],
    }));
}
