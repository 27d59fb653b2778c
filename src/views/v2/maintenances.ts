/** Maintenances in the Statuspage v2 shape. */

import { type PageMaintenance, type PageModel, toIso } from '../../model/index.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { maintenancePath } from '../text/addresses.ts';
import { shortId } from '../text/stable-id.ts';
import { type V2ComponentSet, v2PageId } from './components.ts';
import type { V2Maintenance } from './types.ts';
import { v2Updates } from './updates.ts';

/** A maintenance's id in the v2 shape. */
export function v2MaintenanceId(model: PageModel, { id }: Pick<PageMaintenance, 'id'>): string {
  return shortId('maintenance', model.definition.id, id);
}

/** A maintenance with all of its updates, newest first; of one that repeats, its next window. */
export function v2Maintenance(
  model: PageModel,
  components: V2ComponentSet,
  maintenance: PageMaintenance,
): V2Maintenance {
  const id = v2MaintenanceId(model, maintenance);
  const { startsAt, endsAt, status, title, componentIds, updates, announcedAt, changedAt } = maintenance;
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
    incident_updates: v2Updates({ id, title, updates }, () => null),
    components: componentIds.map((known) => components.byId.get(known)).filter((known) => known !== undefined),
    reminder_intervals: null,
  };
}
