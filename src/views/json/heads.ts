/** How our own JSON documents name a page, its components and its events: the same fields in each of them. */

import {
  type ComponentModel,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  toIso,
} from '../../model/index.ts';
import { absoluteUrl, incidentPath, maintenancePath } from '../text/addresses.ts';
import { v2ComponentId, v2PageId } from '../v2/components.ts';
import { v2IncidentId, v2MaintenanceId } from '../v2/incidents.ts';

interface EventHead {
  /** As in `api/v2/`. */
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly status: string;
}

export function pageHead(model: PageModel) {
  return { id: v2PageId(model), name: model.definition.title, url: model.settings.url };
}

/** @param group  the name of the group it stands in */
export function componentHead(
  model: PageModel,
  { definition, plainName: name }: ComponentModel,
  group: string | null | undefined,
) {
  return { id: definition.id, v2_id: v2ComponentId(model, definition.id), name, group: group ?? null };
}

export function incidentHead(model: PageModel, incident: PageIncident): EventHead {
  const { title, slug, status } = incident;
  return { id: v2IncidentId(model, incident), title, url: absoluteUrl(model, incidentPath(slug)), status };
}

export function maintenanceHead(model: PageModel, maintenance: PageMaintenance): EventHead {
  const { title, slug, status } = maintenance;
  return { id: v2MaintenanceId(model, maintenance), title, url: absoluteUrl(model, maintenancePath(slug)), status };
}

/** An end as it is written; null: nobody knows yet. */
export function endText(endedAt: PageIncident['endedAt']): string | null {
  return endedAt === null ? null : toIso(endedAt);
}
