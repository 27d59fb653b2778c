/** How our own JSON documents name a page, its components and its events: the same fields in each of them. */

import type { ComponentModel, PageIncident, PageMaintenance, PageModel } from '../../model/index.ts';
import { absoluteUrl, incidentPath, maintenancePath } from '../text/addresses.ts';
import { v2ComponentId, v2PageId } from '../v2/components.ts';
import { v2IncidentId, v2MaintenanceId } from '../v2/incidents.ts';

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

export function incidentHead(model: PageModel, { title, slug, status, id }: PageIncident) {
  // As in `api/v2/`.
  return {
    id: v2IncidentId(model, { id }),
    title,
    url: absoluteUrl(model, incidentPath(slug)),
    status: status as string,
  };
}

export function maintenanceHead(
  model: PageModel,
  { title, slug, status, id }: PageMaintenance,
): ReturnType<typeof incidentHead> {
  return { id: v2MaintenanceId(model, { id }), title, url: absoluteUrl(model, maintenancePath(slug)), status };
}
