/** `StatusReportService` and `MaintenanceService` of the real uptime service, their reading halves. */

import { json, type Reply } from '../../../exchange.ts';
import { type CallContext, found, isReply, list, type Message, paged } from './connect-calls.ts';
import { callError } from './connect-errors.ts';
import { maintenanceMessage, pageOf, reportMessage, reportSummaryMessage } from './records.ts';

const REPORT = { name: 'Status report', reason: 'STATUS_REPORT_NOT_FOUND', header: 'error-report-id' } as const;
const MAINTENANCE = { name: 'Maintenance', reason: 'MAINTENANCE_NOT_FOUND', header: 'error-maintenance-id' } as const;

export function listStatusReports(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const { statuses } = message;
  const summaries = world
    .reportsAt(now)
    .toReversed()
    .flatMap((report) => {
      const page = pageOf(world, report.serviceIds);
      return page === undefined ? [] : [reportSummaryMessage(page, report)];
    })
    .filter(({ status }) => !Array.isArray(statuses) || statuses.length === 0 || statuses.includes(status));
  return paged(message, summaries, (page, total) => ({ ...list('statusReports', page), ...total }));
}

export function getStatusReport(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const report = found(message, world.reportsAt(now), REPORT);
  if (isReply(report)) return report;
  const page = pageOf(world, report.serviceIds);
  return page === undefined
    ? callError(404, 'not_found', 'Status report not found')
    : json(200, { statusReport: reportMessage(page, report) });
}

export function listMaintenances(message: Readonly<Message>, { world }: CallContext): Reply {
  const all = world.maintenances.flatMap((maintenance) => {
    const page = pageOf(world, maintenance.serviceIds);
    return page === undefined ? [] : [maintenanceMessage(page, maintenance)];
  });
  return paged(message, all, (page, total) => ({ ...list('maintenances', page), ...total }));
}

export function getMaintenance(message: Readonly<Message>, { world }: CallContext): Reply {
  const maintenance = found(message, world.maintenances, MAINTENANCE);
  if (isReply(maintenance)) return maintenance;
  const page = pageOf(world, maintenance.serviceIds);
  return page === undefined
    ? callError(404, 'not_found', 'Maintenance not found')
    : json(200, { maintenance: maintenanceMessage(page, maintenance) });
}
