/** Incidents in the Statuspage v2 shape. */

import {
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  type PageUpdate,
  stateAt,
  toEpochMs,
  toIso,
  toIsoOrNull,
} from '../../model/index.ts';
import { incidentChangedAt, isOpen } from '../model/page-state.ts';
import { absoluteUrl, incidentPath, maintenancePath, shortId } from '../text/addresses.ts';
import { componentStatus, type V2ComponentSet, v2ComponentId, v2PageId } from './components.ts';

// Maintenances in the Statuspage v2 shape.

/** A maintenance's id in the v2 shape. */
export function v2MaintenanceId(model: PageModel, { id }: Pick<PageMaintenance, 'id'>): string {
  return shortId('maintenance', model.definition.id, id);
}

/** A maintenance with all of its updates, newest first; of one that repeats, its next window. */
export function v2Maintenance(model: PageModel, components: V2ComponentSet, maintenance: PageMaintenance) {
  const id = v2MaintenanceId(model, maintenance);
  const { startsAt, endsAt, status, title, componentIds, announcedAt, changedAt } = maintenance;
  return {
    id,
    name: title,
    status,
    created_at: toIso(announcedAt),
    updated_at: toIso(changedAt),
    monitoring_at: null,
    resolved_at: status === 'completed' ? toIso(endsAt) : null,
    impact: 'maintenance',
    shortlink: absoluteUrl(model, maintenancePath(maintenance.slug)),
    started_at: toIso(startsAt),
    scheduled_for: toIso(startsAt),
    scheduled_until: toIso(endsAt),
    page_id: v2PageId(model),
    incident_updates: v2Updates(id, maintenance, () => null),
    components: componentIds.map((known) => components.byId.get(known)).filter((known) => known !== undefined),
    reminder_intervals: null,
  };
}

// What was said of an incident or a maintenance, in the Statuspage v2 shape.

/** Updates in the v2 shape, newest first; one without words says the title, since clients show it. */
function v2Updates<Status extends string>(
  parentId: string,
  { title, updates }: { readonly title: string; readonly updates: readonly PageUpdate<Status>[] },
  affectedBy: ReturnType<typeof affectedComponents>,
) {
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

// Which components an incident moved from which state to which, as far as the record shows it.

/**
 * For each update of an incident, by its index: its components with their state before and after, as their time lines have
 * it; null when it names none. Before the first update is just before the incident began.
 */
function affectedComponents(
  model: PageModel,
  components: V2ComponentSet,
  { componentIds, startedAt, updates }: PageIncident,
) {
  const affected = componentIds.flatMap((id) => model.components.filter(({ definition }) => definition.id === id));
  if (affected.length === 0) return () => null;
  // The state before the first update, then the one after each, by the component's time line.
  const before = toEpochMs(Math.min(startedAt, updates[0]?.at ?? startedAt) - 1);
  const instants = [before, ...updates.map(({ at }) => at)];
  const states = affected.map(({ timeline }) => instants.map((at) => stateAt(timeline, at)));
  return (index: number) =>
    affected.map((component, nth) => ({
      code: v2ComponentId(model, component.definition.id),
      // `Group - Name`, or the name alone.
      name: components.fullNames.get(component.definition.id) ?? component.name,
      old_status: componentStatus(states[nth]?.[index] ?? 'unknown'),
      new_status: componentStatus(states[nth]?.[index + 1] ?? 'unknown'),
    }));
}

/** An incident's id in the v2 shape. */
export function v2IncidentId(model: PageModel, { id }: Pick<PageIncident, 'id'>): string {
  return shortId('incident', model.definition.id, id);
}

export type V2Incident = ReturnType<typeof v2Incident>;

/** An incident with all of its updates, newest first. */
export function v2Incident(model: PageModel, components: V2ComponentSet, incident: PageIncident) {
  const id = v2IncidentId(model, incident);
  const { title, status, updates, startedAt, endedAt, impact } = incident;
  return {
    id,
    name: title,
    status,
    created_at: toIso(updates[0]?.at ?? startedAt),
    updated_at: toIso(incidentChangedAt(incident, model.asOf)),
    monitoring_at: toIsoOrNull(updates.find((update) => update.status === 'monitoring')?.at),
    resolved_at: endedAt === null || isOpen(incident) ? null : toIso(endedAt),
    impact,
    shortlink: absoluteUrl(model, incidentPath(incident.slug)),
    started_at: toIso(startedAt),
    page_id: v2PageId(model),
    incident_updates: v2Updates(id, incident, affectedComponents(model, components, incident)),
    components: incident.componentIds.map((known) => components.byId.get(known)).filter((known) => known !== undefined),
    reminder_intervals: null,
  };
}
