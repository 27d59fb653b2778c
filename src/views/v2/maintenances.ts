/** Maintenances in the Statuspage v2 shape. */

import {
  MAINTENANCE_STATUSES,
  type MaintenanceStatus,
  type PageMaintenance,
  type PageModel,
  toIso,
} from '../../model/index.ts';
import { maintenanceChangedAt, maintenanceKnownSince } from '../incident/event-times.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { maintenancePath } from '../text/addresses.ts';
import { shortId } from '../text/stable-id.ts';
import { type V2ComponentSet, v2PageId } from './components.ts';
import type { V2Maintenance } from './types.ts';
import { type StatusUpdate, statusUpdates, v2Updates } from './updates.ts';

/** A maintenance's id in the v2 shape. */
export function v2MaintenanceId(model: PageModel, { id }: Pick<PageMaintenance, 'id'>): string {
  return shortId('maintenance', model.definition.id, id);
}

/** A maintenance with all of its updates, newest first; at least one, made from its window when it has none. */
export function v2Maintenance(
  model: PageModel,
  components: V2ComponentSet,
  maintenance: PageMaintenance,
): V2Maintenance {
  const id = v2MaintenanceId(model, maintenance);
  const { startsAt, endsAt, status, title, componentIds } = maintenance;
  const updates = maintenanceUpdates(maintenance);
  return {
    id,
    name: title,
    status,
    created_at: toIso(maintenanceKnownSince(maintenance)),
    updated_at: toIso(maintenanceChangedAt(maintenance, model.asOf)),
    monitoring_at: null,
    resolved_at: status === 'completed' ? toIso(endsAt) : null,
    impact: 'maintenance',
    shortlink: absoluteUrl(model, maintenancePath(maintenance.slug)),
    started_at: toIso(startsAt),
    scheduled_for: toIso(startsAt),
    scheduled_until: toIso(endsAt),
    page_id: v2PageId(model),
    incident_updates: v2Updates(updates, id, () => null),
    components: componentIds.map((known) => components.byId.get(known)).filter((known) => known !== undefined),
    reminder_intervals: null,
  };
}

/** Its own updates; without any, one that says its title. */
export function maintenanceUpdates(maintenance: PageMaintenance): StatusUpdate<MaintenanceStatus>[] {
  const { updates, title } = maintenance;
  if (updates.length > 0) return statusUpdates(updates, MAINTENANCE_STATUSES, 'scheduled');
  return [{ id: 'scheduled', at: maintenanceKnownSince(maintenance), status: 'scheduled', body: title }];
}
