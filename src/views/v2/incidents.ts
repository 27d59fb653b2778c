/** Incidents in the Statuspage v2 shape. */

import {
  type ComponentModel,
  type EpochMs,
  type IncidentStatus,
  type PageIncident,
  type PageModel,
  type PageUpdate,
  type State,
  stateAt,
  toEpochMs,
  toIso,
} from '../../model/index.ts';
import { incidentChangedAt, isOpen } from '../incident/event-times.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { incidentPath } from '../text/addresses.ts';
import { shortId } from '../text/stable-id.ts';
import { type V2ComponentSet, v2ComponentId, v2PageId } from './components.ts';
import type { V2AffectedComponent, V2Incident } from './types.ts';
import { v2Updates } from './updates.ts';
import { componentStatus } from './words.ts';

/** Which components an incident moved from which state to which, as far as the record shows it. */

/**
 * For each update of an incident, by its index: its components with their state before and after, as their time lines have
 * it; null when it names none. Before the first update is just before the incident began.
 */
function affectedComponents(
  { model, components }: { readonly model: PageModel; readonly components: V2ComponentSet },
  { componentIds, startedAt, updates }: PageIncident,
): (index: number) => V2AffectedComponent[] | null {
  const affected = componentIds.flatMap((id) => model.components.filter(({ definition }) => definition.id === id));
  if (affected.length === 0) return () => null;
  const states = affected.map((component) => statesAlong(component, startedAt, updates));
  return (index) =>
    affected.map((component, nth) => ({
      code: v2ComponentId(model, component.definition.id),
      name: components.fullNames.get(component.definition.id) ?? component.name,
      old_status: componentStatus(states[nth]?.[index] ?? 'unknown'),
      new_status: componentStatus(states[nth]?.[index + 1] ?? 'unknown'),
    }));
}

/** The state before the first update, then the one after each, by the component's time line. */
function statesAlong(
  { timeline }: ComponentModel,
  startedAt: EpochMs,
  updates: readonly PageUpdate<IncidentStatus>[],
): State[] {
  const before = toEpochMs(Math.min(startedAt, updates[0]?.at ?? startedAt) - 1);
  return [before, ...updates.map(({ at }) => at)].map((at) => stateAt(timeline, at));
}

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
    monitoring_at: isoOrNull(updates.find((update) => update.status === 'monitoring')?.at),
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

function isoOrNull(at: EpochMs | undefined): string | null {
  return at === undefined ? null : toIso(at);
}
