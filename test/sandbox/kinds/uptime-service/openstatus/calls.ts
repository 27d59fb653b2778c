/** Which calls the real uptime service has, as far as they are answered here. */

import { getNotification, listNotifications } from './channels.ts';
import type { Call } from './connect-calls.ts';
import { getMonitor, getMonitorStatus, getMonitorSummary, listMonitors } from './monitors.ts';
import {
  getDailySummary,
  getOverallStatus,
  getStatusPage,
  getStatusPageContent,
  getStatusPageOverview,
  listStatusPages,
} from './pages.ts';
import { getMaintenance, getStatusReport, listMaintenances, listStatusReports } from './posts.ts';

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
  ['openstatus.notification.v1.NotificationService/ListNotifications', listNotifications],
  ['openstatus.notification.v1.NotificationService/GetNotification', getNotification],
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
