/** Incidents in the Statuspage v2 shape. */

import { type EpochMs, type PageIncident, type PageModel, toIso } from '../../model/index.ts';
import { incidentChangedAt, isOpen } from '../incident/event-times.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { incidentPath } from '../text/addresses.ts';
import { shortId } from '../text/stable-id.ts';
import { affectedComponents } from './affected-components.ts';
import { type V2ComponentSet, v2PageId } from './components.ts';
import type { V2Incident } from './types.ts';
import { v2Updates } from './updates.ts';

/** An incident's id in the v2 shape. */
export function v2IncidentId(model: PageModel, { id }: Pick<PageIncident, 'id'>): string {
  return shortId('incident', model.definition.id, id);
}

/** An incident with all of its updates, newest first. */
export function v2Incident(model: PageModel, components: V2ComponentSet, incident: PageIncident): V2Incident {
  const id = v2IncidentId(model, incident);
  const { title, status, updates, startedAt, endedAt, impact } = incident;
  return {
    id,
    name: title,
    status,
    created_at: toIso(updates[0]?.at ?? startedAt),
    updated_at: toIso(incidentChangedAt(incident, model.asOf)),
    monitoring_at: isoOf(updates.find((update) => update.status === 'monitoring')?.at),
    resolved_at: endedAt === null || isOpen(incident) ? null : toIso(endedAt),
    impact,
    shortlink: absoluteUrl(model, incidentPath(incident.slug)),
    started_at: toIso(startedAt),
    page_id: v2PageId(model),
    incident_updates: v2Updates({ id, title, updates }, affectedComponents({ model, components }, incident)),
    components: incident.componentIds.map((known) => components.byId.get(known)).filter((known) => known !== undefined),
    reminder_intervals: null,
  };
}

function isoOf(at: EpochMs | undefined): string | null {
  return at === undefined ? null : toIso(at);
}
