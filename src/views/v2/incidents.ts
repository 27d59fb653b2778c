/** Incidents in the Statuspage v2 shape. */

import {
  type EpochMs,
  INCIDENT_STATUSES,
  type IncidentStatus,
  isOverStatus,
  type PageIncident,
  type PageModel,
  toIso,
} from '../../model/index.ts';
import { incidentChangedAt, isOpen } from '../incident/event-times.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { incidentPath } from '../text/addresses.ts';
import { shortId } from '../text/stable-id.ts';
import { affectedComponents } from './affected-components.ts';
import { type V2ComponentSet, v2PageId } from './components.ts';
import type { V2Incident } from './types.ts';
import { type StatusUpdate, statusUpdates, v2Updates } from './updates.ts';

/** An incident's id in the v2 shape. */
export function v2IncidentId(model: PageModel, { id }: Pick<PageIncident, 'id'>): string {
  return shortId('incident', model.definition.id, id);
}

/** An incident with all of its updates, newest first; at least one, made from its start and end when it has none. */
export function v2Incident(model: PageModel, components: V2ComponentSet, incident: PageIncident): V2Incident {
  const id = v2IncidentId(model, incident);
  const updates = incidentUpdates(incident, model.asOf);
  return {
    id,
    name: incident.title,
    status: v2IncidentStatus(incident, model.asOf),
    created_at: toIso(incident.startedAt),
    updated_at: toIso(incidentChangedAt(incident, model.asOf)),
    monitoring_at: isoOf(updates.find(({ status }) => status === 'monitoring')?.at),
    resolved_at: resolvedAtOf(incident, updates, model.asOf),
    impact: incident.impact,
    shortlink: absoluteUrl(model, incidentPath(incident.slug)),
    started_at: toIso(incident.startedAt),
    page_id: v2PageId(model),
    incident_updates: v2Updates(updates, id, affectedComponents({ model, components }, incident, updates)),
    components: incident.componentIds.map((known) => components.byId.get(known)).filter((known) => known !== undefined),
    reminder_intervals: null,
  };
}

/** Its own updates; without any, what its record says: when it began and, once over, when it ended. */
export function incidentUpdates(incident: PageIncident, asOf: EpochMs): StatusUpdate<IncidentStatus>[] {
  if (incident.updates.length > 0) return statusUpdates(incident.updates, INCIDENT_STATUSES, 'investigating');
  const { startedAt, endedAt, title } = incident;
  const status = v2IncidentStatus(incident, asOf);
  const started = { id: 'started', at: startedAt, status: 'investigating', body: title } as const;
  if (endedAt === null || endedAt > asOf) return [{ ...started, status }];
  return [started, { id: 'ended', at: endedAt, status, body: title }];
}

/** Over is over, also where the upstream's last word was not `resolved`. */
function v2IncidentStatus(incident: PageIncident, asOf: EpochMs): IncidentStatus {
  return isOpen(incident, asOf) || isOverStatus(incident.status) ? incident.status : 'resolved';
}

/** Its end, or the update that says it is over; null while it is open. */
function resolvedAtOf(
  { endedAt, status }: PageIncident,
  updates: readonly StatusUpdate<IncidentStatus>[],
  asOf: EpochMs,
): string | null {
  if (endedAt !== null && endedAt <= asOf) return toIso(endedAt);
  return isOverStatus(status) ? isoOf(updates.find((update) => isOverStatus(update.status))?.at) : null;
}

function isoOf(at: EpochMs | undefined): string | null {
  return at === undefined ? null : toIso(at);
}
