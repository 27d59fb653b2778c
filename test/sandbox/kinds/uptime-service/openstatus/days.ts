/** Days of a page's components as the real uptime service counts them, in UTC, with what happened on them. */

import { DAY_MS, type EpochMs, toEpochMs, toIso } from '../../../../../src/model/time.ts';
import type { Service, WorldPage } from '../../../../../src/sandbox/services.ts';
import type { World } from '../../../world.ts';
import { componentIdsOf, isOpen, pageOf } from './records.ts';

type Message = Record<string, unknown>;

/** One record for each component, oldest day first; a static one has days without counts. */
export function dailySummary(world: World, page: WorldPage, days: number, now: EpochMs): Message {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const starts = Array.from({ length: days }, (_, index) => toEpochMs(today - (days - 1 - index) * DAY_MS));
  const components = page.components.map(({ id, serviceId, name }) => {
    const service = serviceId === null ? undefined : world.services[serviceId - 1];
    const head = { componentId: String(id) };
    if (service === undefined) {
      const status = 'COMPONENT_DAY_STATUS_EMPTY';
      const buckets = starts.map((day) => ({ day: toIso(day), status }));
      return { ...head, type: 'PAGE_COMPONENT_TYPE_STATIC', name, buckets };
    }
    const buckets = starts.map((day) => dayMessage(world, service, day, now));
    const events = serviceEvents(world, service, { from: starts[0] ?? now, now });
    const monitorId = String(service.id);
    const record = { ...head, type: 'PAGE_COMPONENT_TYPE_MONITOR', monitorId, name, buckets };
    return events.length === 0 ? record : { ...record, events };
  });
  return { components };
}

function dayMessage(world: World, service: Service, day: EpochMs, now: EpochMs): Message {
  const end = toEpochMs(Math.min(day + DAY_MS, now));
  const { total, up, degraded } = world.checksOf(service, day, end);
  const hasMaintenance = world.maintenances.some(
    ({ serviceIds, from, to }) => serviceIds.includes(service.id) && from < end && to > day,
  );
  const counts = { count: total, ok: up - degraded, degraded, error: total - up };
  const sent = Object.entries(counts).flatMap(([key, value]) => (value === 0 ? [] : [[key, String(value)]]));
  const status =
    total === 0
      ? 'EMPTY'
      : counts.error > 0
        ? 'DOWN'
        : hasMaintenance
          ? 'MAINTENANCE'
          : degraded > 0
            ? 'DEGRADED'
            : 'OPERATIONAL';
  return { day: toIso(day), ...Object.fromEntries(sent), status: `COMPONENT_DAY_STATUS_${status}` };
}

/** Outages, then reports, then maintenances that reach into the days shown and have begun. */
function serviceEvents(
  world: World,
  service: Service,
  shown: { readonly from: EpochMs; readonly now: EpochMs },
): Message[] {
  const reaches = (from: EpochMs, to: EpochMs | null): boolean => from <= shown.now && (to ?? shown.now) >= shown.from;
  const outages = world
    .incidentsAt(shown.now, service)
    .filter((one) => reaches(one.startedAt, one.endedAt))
    .map((one) => event('INCIDENT', 'DOWN', { id: one.id, name: 'Downtime', from: one.startedAt, to: one.endedAt }));
  const written = world.reportsAt(shown.now).flatMap((report) => {
    const first = report.updates[0];
    const last = report.updates.at(-1);
    const page = pageOf(world, report.serviceIds);
    if (first === undefined || last === undefined || page === undefined) return [];
    const to = isOpen(report) ? null : last.at;
    if (!report.serviceIds.includes(service.id) || !reaches(first.at, to)) return [];
    if (componentIdsOf(page, [service.id]).length === 0) return [];
    const impact = `PAGE_COMPONENT_IMPACT_${report.impact.toUpperCase()}`;
    return [{ ...event('REPORT', 'DEGRADED', { id: report.id, name: report.title, from: first.at, to }), impact }];
  });
  const windows = world.maintenances
    .filter(({ serviceIds, from, to }) => serviceIds.includes(service.id) && reaches(from, to))
    .map(({ id, title, from, to }) => event('MAINTENANCE', 'MAINTENANCE', { id, name: title, from, to }));
  return [...outages, ...written, ...windows];
}

function event(
  type: string,
  status: string,
  {
    id,
    name,
    from,
    to,
  }: { readonly id: number; readonly name: string; readonly from: EpochMs; readonly to: EpochMs | null },
): Message {
  return {
    id: String(id),
    name,
    type: `COMPONENT_EVENT_TYPE_${type}`,
    status: `COMPONENT_EVENT_STATUS_${status}`,
    from: toIso(from),
    ...(to === null ? {} : { to: toIso(to) }),
  };
}
