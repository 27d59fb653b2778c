/** What maintenances and recorded outages of the uptime service mean, and where components are. */

import {
  type AffectedComponent,
  type Incident,
  type Maintenance,
  type MonitorId,
  type MonitorObservation,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import { toEpochMs } from '../../../model/time.ts';
import { compareIds, parseItems, uniqueById } from '../items.ts';
import { MaintenanceSchema, type Outage, OutageSchema } from './schema.ts';

/** Where a component is: its page there, and its monitor if it has one. */
export interface ComponentPlace {
  readonly pageId: string;
  readonly monitor: MonitorId | null;
}

/** The components of all pages by their id there; ids are unique over pages. */
export function componentPlaces(
  pages: readonly PageDefinition[],
  upstreamId: string,
): ReadonlyMap<string, ComponentPlace> {
  return new Map(
    pages.flatMap((page) =>
      page.components.map((component) => [
        component.id,
        { pageId: page.id.slice(upstreamId.length + 1), monitor: component.monitor },
      ]),
    ),
  );
}

/** The monitors of components, by their ids there. */
export function monitorsAt(ids: Iterable<string>, places: ReadonlyMap<string, ComponentPlace>): MonitorId[] {
  return [...new Set([...ids].flatMap((id) => places.get(id)?.monitor ?? []))].toSorted(compareIds);
}

/** Components as incidents name them, by their ids there; what is on no known page is left out. */
export function componentsAt(
  affected: ReadonlyMap<string, State | null>,
  {
    upstreamId,
    places,
    pageId,
  }: { upstreamId: string; places: ReadonlyMap<string, ComponentPlace>; pageId: string | null },
): AffectedComponent[] {
  return [...affected]
    .flatMap(([id, state]) => {
      const page = places.get(id)?.pageId ?? pageId;
      return page === null ? [] : [{ id: `${upstreamId}/${page}/${id}`, state }];
    })
    .toSorted((a, b) => compareIds(a.id, b.id));
}

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
        ...(item.createdAt == null ? {} : { bornAt: item.createdAt }),
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
