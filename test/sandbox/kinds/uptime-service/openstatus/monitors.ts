/** `MonitorService` of the real uptime service, its reading half. */

import { MINUTE_MS, toEpochMs, toIso } from '../../../../../src/model/time.ts';
import { json, type Reply } from '../../../exchange.ts';
import { shifted } from '../../../faults.ts';
import { uptimeMonitor } from '../../../monitor-record.ts';
import { type CallContext, found, isReply, list, type Message, paged } from './connect-calls.ts';
import { monitorMessage, regionsOf } from './records.ts';

const MONITOR = { name: 'Monitor', reason: 'MONITOR_NOT_FOUND', header: 'error-monitor-id' } as const;

export function listMonitors(message: Readonly<Message>, { world, now, pagingShift }: CallContext): Reply {
  return paged(message, shifted(world.services, pagingShift), (page, total) => {
    const ofKind = (kind: string): readonly Message[] =>
      page.filter((service) => service.kind === kind).map((service) => monitorMessage(world, service, now));
    return {
      ...list('httpMonitors', ofKind('http')),
      ...list('tcpMonitors', ofKind('tcp')),
      ...list('dnsMonitors', ofKind('dns')),
      ...total,
    };
  });
}

export function getMonitor(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const service = found(message, world.services, MONITOR);
  return isReply(service) ? service : json(200, { monitor: { [service.kind]: monitorMessage(world, service, now) } });
}

export function getMonitorStatus(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const service = found(message, world.services, MONITOR);
  if (isReply(service)) return service;
  const { regions, status } = uptimeMonitor(world.stateOf(service, now));
  const word = status === 'unknown' ? {} : { status: `MONITOR_STATUS_${status.toUpperCase()}` };
  return json(200, { id: String(service.id), regions: regionsOf(regions).map((region) => ({ region, ...word })) });
}

const TIME_RANGES: Readonly<Record<string, number>> = { TIME_RANGE_1D: 1, TIME_RANGE_7D: 7, TIME_RANGE_14D: 14 };
const DAY_MINUTES = 1_440;

export function getMonitorSummary(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const service = found(message, world.services, MONITOR);
  if (isReply(service)) return service;
  const timeRange = String(message['timeRange'] ?? 'TIME_RANGE_1D');
  const days = new Map(Object.entries(TIME_RANGES)).get(timeRange) ?? 1;
  const { total, up, degraded } = world.checksOf(service, toEpochMs(now - days * DAY_MINUTES * MINUTE_MS), now);
  const counts = { totalSuccessful: up - degraded, totalDegraded: degraded, totalFailed: total - up };
  const percentiles = Object.entries({ p50: 1, p75: 1.08, p90: 1.12, p95: 1.14, p99: 1.15 }).map(([key, factor]) => [
    key,
    String(Math.round(service.responseTimeMs * factor)),
  ]);
  return json(200, {
    id: String(service.id),
    lastPingAt: toIso(toEpochMs(Math.floor(now / MINUTE_MS) * MINUTE_MS)),
    ...Object.fromEntries(Object.entries(counts).flatMap(([key, n]) => (n === 0 ? [] : [[key, String(n)]]))),
    ...Object.fromEntries(percentiles),
    timeRange,
    regions: regionsOf(uptimeMonitor(world.stateOf(service, now)).regions),
  });
}
