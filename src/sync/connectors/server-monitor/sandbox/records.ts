/** The world in the records of the server monitor. */

import { DAY_MS, type EpochMs, MINUTE_MS, toEpochMs } from '../../../../model/time.ts';
import type { Service, ServiceState, ServiceStatus, World, WorldIncident } from '../../../../sandbox/world/world.ts';
import { naiveTime, offsetTime } from './naive-time.ts';

/** It has no word for slow: a degraded service answers, so it is up. */
const WORDS: Readonly<Record<ServiceStatus, 'up' | 'down' | 'pending' | 'paused'>> = {
  up: 'up',
  degraded: 'up',
  down: 'down',
  pending: 'pending',
  paused: 'paused',
};

export function monitorRecord(
  { service, status, since }: ServiceState,
  offsetMinutes: number,
): Record<string, unknown> {
  const time = (at: EpochMs): string => naiveTime(at, offsetMinutes).replace('T', ' ');
  return {
    id: service.id,
    name: service.host,
    type: service.kind,
    target: service.target,
    status: WORDS[status],
    is_active: status === 'paused' ? 0 : 1,
    created_at: time(service.createdAt),
    updated_at: time(since),
  };
}

export function incidentRecord(incident: WorldIncident, offsetMinutes: number): Record<string, unknown> {
  const { id, service, startedAt, endedAt, title, description } = incident;
  return {
    id,
    monitor_id: service.id,
    monitor_name: service.host,
    target: service.target,
    started_at: naiveTime(startedAt, offsetMinutes),
    ended_at: endedAt === null ? null : naiveTime(endedAt, offsetMinutes),
    title,
    description,
  };
}

export function statusRecord(world: World, now: EpochMs, offsetMinutes: number): Record<string, unknown> {
  const counts = { up: 0, down: 0, pending: 0, paused: 0 };
  for (const service of world.services) counts[WORDS[world.stateOf(service, now).status]] += 1;
  const checked = counts.up + counts.down;
  const open = world.incidentsAt(now).filter(({ endedAt }) => endedAt === null);
  return {
    status: {
      total: world.services.length,
      ...counts,
      overall_status: counts.down === 0 ? 'operational' : 'degraded',
      uptime_percentage: checked === 0 ? 0 : percentage(counts.up, checked),
    },
    active_incidents: open.map((incident) => incidentRecord(incident, offsetMinutes)),
    timestamp: offsetTime(now, offsetMinutes),
  };
}

export function uptimeRecord(world: World, service: Service, days: number, now: EpochMs): Record<string, unknown> {
  const from = toEpochMs(now - days * DAY_MS);
  const { total, up } = world.checksOf(service, from, now);
  return {
    period_days: days,
    total_checks: total,
    up_checks: up,
    uptime_percentage: total === 0 ? 0 : percentage(up, total),
    avg_response_time: Math.round((world.responseTimeBetween(service, from, now) ?? 0) * 100) / 100,
  };
}

/** The newest checks first. The document does not show this record; the fields are ours. */
export function logRecords(
  world: World,
  service: Service,
  { limit, now, offsetMinutes }: { readonly limit: number; readonly now: EpochMs; readonly offsetMinutes: number },
): readonly Record<string, unknown>[] {
  const last = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  return Array.from({ length: limit }, (_, index) => {
    const at = toEpochMs(last - index * MINUTE_MS);
    const { status } = world.stateOf(service, at);
    return {
      id: at / MINUTE_MS,
      monitor_id: service.id,
      status: WORDS[status],
      response_time: world.responseTimeAt(service, at),
      status_code: service.kind === 'http' ? (status === 'down' ? 503 : 200) : null,
      checked_at: naiveTime(at, offsetMinutes).replace('T', ' '),
    };
  });
}

function percentage(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 100;
}
