/** What maintenances and recorded outages of the uptime service mean. */

import {
  type Incident,
  type Maintenance,
  type MonitorObservation,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import { toEpochMs } from '../../../model/time.ts';
import { compareIds, parseItems, uniqueById } from '../items.ts';
import { type ComponentPlace, monitorsAt } from './project-reports.ts';
import { MaintenanceSchema, type Outage, OutageSchema } from './schema.ts';

/** Maintenances of one page, sorted by id. Never throws. */
export function projectMaintenances(
  items: readonly unknown[],
  { upstreamId, pageId, places }: { upstreamId: string; pageId: string; places: ReadonlyMap<string, ComponentPlace> },
): { maintenances: Maintenance[]; problems: Problem[] } {
  const parsed = parseItems(MaintenanceSchema, items, `pages.${pageId}.maintenances`);
  const problems = [...parsed.problems];
  const maintenances = parsed.items.flatMap((item): Maintenance[] => {
    if (item.to <= item.from) {
      problems.push({ kind: 'dropped', place: `maintenances.${item.id}`, message: 'ends before it starts' });
      return [];
    }
    const ids = (item.pageComponentIds ?? []).toSorted(compareIds);
    return [
      {
        id: `${upstreamId}/maintenance-${item.id}`,
        title: item.title,
        startsAt: item.from,
        endsAt: item.to,
        monitors: monitorsAt(ids, places),
        components: ids.map((id) => `${upstreamId}/${places.get(id)?.pageId ?? pageId}/${id}`),
        pages: [`${upstreamId}/${pageId}`],
        updates: [],
        ...(item.message === null ? {} : { body: item.message }),
        ...(item.createdAt === null || item.createdAt === undefined ? {} : { bornAt: item.createdAt }),
      },
    ];
  });
  const unique = uniqueById(maintenances);
  return { maintenances: unique.items, problems: [...problems, ...unique.problems] };
}

/** The failed checks that the service recorded, as outages, sorted by id. Never throws. */
export function projectOutages(
  items: readonly unknown[],
  { upstreamId, monitors }: { upstreamId: string; monitors: readonly MonitorObservation[] },
): { incidents: Incident[]; problems: Problem[] } {
  const names = new Map(monitors.map((monitor) => [monitor.id, monitor.name]));
  const parsed = parseItems(OutageSchema, items, 'incidents');
  const incidents = parsed.items.map((item: Outage): Incident => {
    const monitor = toMonitorId(upstreamId, item.monitorId);
    const endedAt = item.resolvedAt ?? null;
    return {
      id: `${upstreamId}/incident-${item.id}`,
      title: names.get(monitor) ?? `Monitor ${item.monitorId}`,
      status: endedAt === null ? 'investigating' : 'resolved',
      impact: 'critical',
      startedAt: item.startedAt,
      endedAt: endedAt === null ? null : toEpochMs(Math.max(endedAt, item.startedAt)),
      monitors: [monitor],
      components: [],
      pages: null,
      affectedState: 'major_outage',
      isOutage: true,
      updates: [],
      bornAt: item.startedAt,
    };
  });
  const unique = uniqueById(incidents);
  return { incidents: unique.items, problems: [...parsed.problems, ...unique.problems] };
}
