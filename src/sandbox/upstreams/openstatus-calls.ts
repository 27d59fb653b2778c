/** The read calls of the real uptime service, by service and method. */

import { type EpochMs, MINUTE_MS, toEpochMs, toIso } from '../../model/time.ts';
import { json, type Reply } from '../exchange.ts';
import { type PagingShift, shifted } from '../faults.ts';
import type { World, WorldPage } from '../world.ts';
import { callError, domainError, rangeError } from './connect-errors.ts';
import { dailySummary } from './openstatus-days.ts';
import {
  componentMessages,
  groupMessages,
  isOpen,
  maintenanceMessage,
  monitorMessage,
  pageMessage,
  pageOf,
  pageSummaryMessage,
  regionsOf,
  reportMessage,
  reportSummaryMessage,
} from './openstatus-records.ts';
import { uptimeMonitor } from './uptime-records.ts';

type Message = Record<string, unknown>;

export interface CallContext {
  readonly world: World;
  readonly now: EpochMs;
  readonly pagePassword: string;
  readonly pagingShift: PagingShift | null;
}

export type Call = (message: Readonly<Message>, context: CallContext) => Reply;

/** Every read call that is answered, by the path below `/rpc/`. */
export const READ_CALLS: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['openstatus.monitor.v1.MonitorService/ListMonitors', listMonitors],
  ['openstatus.monitor.v1.MonitorService/GetMonitor', getMonitor],
  ['openstatus.monitor.v1.MonitorService/GetMonitorStatus', getMonitorStatus],
  ['openstatus.monitor.v1.MonitorService/GetMonitorSummary', getMonitorSummary],
  ['openstatus.status_page.v1.StatusPageService/ListStatusPages', listStatusPages],
  ['openstatus.status_page.v1.StatusPageService/GetStatusPage', getStatusPage],
  ['openstatus.status_page.v1.StatusPageService/GetStatusPageContent', getStatusPageContent],
  ['openstatus.status_page.v1.StatusPageService/GetStatusPageOverview', getStatusPageOverview],
  ['openstatus.status_page.v1.StatusPageService/GetOverallStatus', getOverallStatus],
  ['openstatus.status_page.v1.StatusPageService/GetPageComponentDailySummary', getDailySummary],
  ['openstatus.status_report.v1.StatusReportService/ListStatusReports', listStatusReports],
  ['openstatus.status_report.v1.StatusReportService/GetStatusReport', getStatusReport],
  ['openstatus.maintenance.v1.MaintenanceService/ListMaintenances', listMaintenances],
  ['openstatus.maintenance.v1.MaintenanceService/GetMaintenance', getMaintenance],
]);

/** Calls that would change something; named so that scopes can be told apart. */
export const WRITE_CALLS: ReadonlySet<string> = new Set(
  [
    'CreateHTTPMonitor',
    'CreateTCPMonitor',
    'CreateDNSMonitor',
    'UpdateHTTPMonitor',
    'DeleteMonitor',
    'TriggerMonitor',
  ].map((method) => `openstatus.monitor.v1.MonitorService/${method}`),
);

const LIST_MAX = 100;
const LIST_DEFAULT = 50;
const DAYS_MAX = 45;

/** Cuts `limit` and `offset` out of a list and hands on the page and the size of the whole. */
function paged<T>(
  message: Readonly<Message>,
  items: readonly T[],
  answer: (page: readonly T[], total: Message) => Message,
): Reply {
  const { limit = LIST_DEFAULT, offset = 0 } = message;
  if (typeof limit !== 'number' || limit < 1 || limit > LIST_MAX) return rangeError('limit', 1, 1, LIST_MAX);
  if (typeof offset !== 'number' || offset < 0) {
    return callError(400, 'invalid_argument', 'offset: must be greater than or equal to 0 [int32.gte]');
  }
  const total = items.length === 0 ? {} : { totalSize: items.length };
  return json(200, answer(items.slice(offset, offset + limit), total));
}

/** A list as protobuf has it: absent when empty. */
function list(name: string, items: readonly unknown[]): Message {
  return items.length === 0 ? {} : { [name]: items };
}

function listMonitors(message: Readonly<Message>, { world, now, pagingShift }: CallContext): Reply {
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

/** Finds by the numeric id of the message; the real service stumbles over an id that is no number. */
function found<T extends { readonly id: number }>(
  message: Readonly<Message>,
  items: readonly T[],
  entity: { readonly name: string; readonly reason: string; readonly header: `error-${string}` },
): T | Reply {
  const id = String(message['id'] ?? '');
  if (!/^\d+$/.test(id)) return callError(500, 'internal', 'Internal error');
  const item = items.find((one) => one.id === Number(id));
  return item ?? domainError(404, `${entity.name} not found`, { [entity.header]: id, 'error-reason': entity.reason });
}

function isReply(value: object): value is Reply {
  return 'body' in value && 'headers' in value;
}

const MONITOR = { name: 'Monitor', reason: 'MONITOR_NOT_FOUND', header: 'error-monitor-id' } as const;
const PAGE = { name: 'Status page', reason: 'STATUS_PAGE_NOT_FOUND', header: 'error-page-id' } as const;
const REPORT = { name: 'Status report', reason: 'STATUS_REPORT_NOT_FOUND', header: 'error-report-id' } as const;
const MAINTENANCE = { name: 'Maintenance', reason: 'MAINTENANCE_NOT_FOUND', header: 'error-maintenance-id' } as const;

function getMonitor(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const service = found(message, world.services, MONITOR);
  return isReply(service) ? service : json(200, { monitor: { [service.kind]: monitorMessage(world, service, now) } });
}

function getMonitorStatus(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const service = found(message, world.services, MONITOR);
  if (isReply(service)) return service;
  const { regions, status } = uptimeMonitor(world.stateOf(service, now));
  const word = status === 'unknown' ? {} : { status: `MONITOR_STATUS_${status.toUpperCase()}` };
  return json(200, { id: String(service.id), regions: regionsOf(regions).map((region) => ({ region, ...word })) });
}

const TIME_RANGES: Readonly<Record<string, number>> = { TIME_RANGE_1D: 1, TIME_RANGE_7D: 7, TIME_RANGE_14D: 14 };
const DAY_MINUTES = 1_440;

function getMonitorSummary(message: Readonly<Message>, { world, now }: CallContext): Reply {
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

function listStatusPages(message: Readonly<Message>, { world, pagingShift }: CallContext): Reply {
  const newestFirst = shifted(world.pages.toReversed(), pagingShift);
  return paged(message, newestFirst, (page, total) => ({
    ...list(
      'statusPages',
      page.map((one) => pageSummaryMessage(world, one)),
    ),
    ...total,
  }));
}

function getStatusPage(message: Readonly<Message>, { world, pagePassword }: CallContext): Reply {
  const page = found(message, world.pages, PAGE);
  return isReply(page) ? page : json(200, { statusPage: pageMessage(world, page, pagePassword) });
}

/** By id as its owner, or by slug as any visitor: then a gate shuts out, whatever the key. */
function identified(message: Readonly<Message>, world: World): WorldPage | Reply {
  const { slug } = message;
  if (typeof slug !== 'string') return found(message, world.pages, PAGE);
  const page = world.pages.find((one) => one.slug === slug);
  if (page === undefined) {
    return domainError(404, 'Status page not found', { 'error-reason': PAGE.reason, 'error-slug': slug });
  }
  if (page.accessType === 'public') return page;
  return domainError(403, `Status page requires ${page.accessType} access`, {
    'error-access-type': page.accessType,
    'error-reason': 'STATUS_PAGE_ACCESS_DENIED',
    'error-slug': slug,
  });
}

/** Reports that are open, and all maintenances, newest first. */
function contentOf(page: WorldPage, { world, now, pagePassword }: CallContext): Message {
  const { reports, maintenances } = world.at(now);
  const mine = <T extends { readonly serviceIds: readonly number[] }>(items: readonly T[]): readonly T[] =>
    items.filter(({ serviceIds }) => pageOf(world, serviceIds) === page).toReversed();
  return {
    statusPage: pageMessage(world, page, pagePassword),
    ...list('components', componentMessages(world, page)),
    ...list('groups', groupMessages(world, page)),
    ...list(
      'statusReports',
      mine(reports)
        .filter(isOpen)
        .map((report) => reportMessage(page, report)),
    ),
    ...list(
      'maintenances',
      mine(maintenances).map((maintenance) => maintenanceMessage(page, maintenance)),
    ),
  };
}

function getStatusPageContent(message: Readonly<Message>, context: CallContext): Reply {
  const page = identified(message, context.world);
  return isReply(page) ? page : json(200, contentOf(page, context));
}

function getStatusPageOverview(message: Readonly<Message>, context: CallContext): Reply {
  const page = identified(message, context.world);
  if (isReply(page)) return page;
  const { statusPage, ...rest } = contentOf(page, context);
  const configuration = {
    metricType: 'PAGE_METRIC_TYPE_REQUESTS',
    barType: 'PAGE_BAR_TYPE_ABSOLUTE',
    showUptime: true,
    themeKey: 'default',
    days: DAYS_MAX,
  };
  return json(200, { statusPage, configuration, ...rest, ...overallOf(page, context) });
}

function getOverallStatus(message: Readonly<Message>, context: CallContext): Reply {
  const page = identified(message, context.world);
  return isReply(page) ? page : json(200, overallOf(page, context));
}

const OVERALL_WORST_FIRST = ['MAJOR_OUTAGE', 'DEGRADED', 'MAINTENANCE', 'OPERATIONAL'] as const;

/** The service's own roll-up, as odd as the real one: an open report says degraded even when the monitor is down. */
function overallOf(page: WorldPage, { world, now }: CallContext): Message {
  const { reports, maintenances } = world.at(now);
  const statuses = page.components.map(({ id, serviceId }) => {
    const service = serviceId === null ? undefined : world.services[serviceId - 1];
    const concerns = ({ serviceIds }: { readonly serviceIds: readonly number[] }): boolean =>
      serviceId !== null && serviceIds.includes(serviceId);
    const isDown = service !== undefined && world.stateOf(service, now).status === 'down';
    const isMaintained = maintenances.some((one) => concerns(one) && one.from <= now && now < one.to);
    const word = reports.some((report) => concerns(report) && isOpen(report))
      ? 'DEGRADED'
      : isMaintained
        ? 'MAINTENANCE'
        : isDown
          ? 'MAJOR_OUTAGE'
          : 'OPERATIONAL';
    return { componentId: String(id), word } as const;
  });
  const worst = OVERALL_WORST_FIRST.find((word) => statuses.some((one) => one.word === word)) ?? 'OPERATIONAL';
  const componentStatuses = statuses.map(({ componentId, word }) => ({
    componentId,
    status: `OVERALL_STATUS_${word}`,
  }));
  return { overallStatus: `OVERALL_STATUS_${worst}`, componentStatuses };
}

function getDailySummary(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const page = identified(message, world);
  if (isReply(page)) return page;
  const { days = DAYS_MAX } = message;
  if (typeof days !== 'number' || days < 1 || days > DAYS_MAX) return rangeError('days', 3, 1, DAYS_MAX);
  return json(200, dailySummary(world, page, days, now));
}

function listStatusReports(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const { statuses } = message;
  const summaries = world
    .at(now)
    .reports.toReversed()
    .flatMap((report) => {
      const page = pageOf(world, report.serviceIds);
      return page === undefined ? [] : [reportSummaryMessage(page, report)];
    })
    .filter(({ status }) => !Array.isArray(statuses) || statuses.length === 0 || statuses.includes(status));
  return paged(message, summaries, (page, total) => ({ ...list('statusReports', page), ...total }));
}

function getStatusReport(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const report = found(message, world.at(now).reports, REPORT);
  if (isReply(report)) return report;
  const page = pageOf(world, report.serviceIds);
  return page === undefined
    ? callError(404, 'not_found', 'Status report not found')
    : json(200, { statusReport: reportMessage(page, report) });
}

function listMaintenances(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const all = world.at(now).maintenances.flatMap((maintenance) => {
    const page = pageOf(world, maintenance.serviceIds);
    return page === undefined ? [] : [maintenanceMessage(page, maintenance)];
  });
  return paged(message, all, (page, total) => ({ ...list('maintenances', page), ...total }));
}

function getMaintenance(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const maintenance = found(message, world.at(now).maintenances, MAINTENANCE);
  if (isReply(maintenance)) return maintenance;
  const page = pageOf(world, maintenance.serviceIds);
  return page === undefined
    ? callError(404, 'not_found', 'Maintenance not found')
    : json(200, { maintenance: maintenanceMessage(page, maintenance) });
}
