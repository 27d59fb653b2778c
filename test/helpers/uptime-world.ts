/** A small world of the uptime service, and a pass over it. */

import type { Learned } from '../../src/model/observation.ts';
import { HOUR_MS, toEpochMs, toIso } from '../../src/model/time.ts';
import type { PullMemory } from '../../src/sync/connector.ts';
import { uptimeService } from '../../src/sync/connectors/uptime-service/connector.ts';
import { contextOf, drive, NOW, type Respond, refusal } from './drive.ts';

export type Row = Readonly<Record<string, unknown>>;

export const optionsOf = (more: Row = {}) =>
  uptimeService.optionsSchema.parse({ rpcUrl: 'https://up.test/rpc', apiKey: 'key', preset: 'openstatus', ...more });

export async function pull(respond: Respond, memory: Partial<PullMemory> = {}, options: Row = {}) {
  return drive<Learned>(uptimeService.pull(optionsOf(options), contextOf(memory)), respond);
}

export interface World {
  readonly monitors?: readonly Row[];
  readonly pages?: readonly Row[];
  /** What is on each page, by its id. */
  readonly overviews?: Readonly<Record<string, Row>>;
  readonly reports?: readonly Row[];
  /** `{ id, pageId }`, as the REST interface tells them. */
  readonly reportPages?: readonly Row[];
  readonly days?: unknown;
  readonly outages?: unknown;
  /** Notification channels, as a channel is told by itself. */
  readonly channels?: readonly Row[];
}

/** The service over a small world; `before` may answer in its place. */
export function service(world: World, before: Respond = () => undefined): Respond {
  const {
    monitors = [],
    pages = [],
    overviews = {},
    reports = [],
    reportPages = [],
    days = {},
    outages = [],
    channels = [],
  } = world;
  return (question, index) => {
    const early = before(question, index);
    if (early !== undefined) return early;
    const operation = new URL(question.url).pathname.split('/').at(-1);
    const body = (question.body ?? {}) as { id?: string; limit?: number; offset?: number };
    const slice = (items: readonly Row[]) => items.slice(body.offset ?? 0, (body.offset ?? 0) + (body.limit ?? 50));
    switch (operation) {
      case 'ListMonitors':
      case 'listMonitors':
        return { httpMonitors: slice(monitors), totalSize: monitors.length };
      case 'ListStatusPages':
        return { statusPages: slice(pages), totalSize: pages.length };
      case 'GetStatusPageOverview': {
        const page = pages.find(({ id }) => id === body.id);
        return page === undefined ? refusal(404) : { statusPage: page, ...overviews[body.id ?? ''] };
      }
      case 'ListStatusReports':
        return {
          statusReports: slice(reports.map(({ updates: _, ...summary }) => summary)),
          totalSize: reports.length,
        };
      case 'GetStatusReport':
        return { statusReport: reports.find(({ id }) => id === body.id) };
      case 'GetPageComponentDailySummary':
        return days;
      case 'ListNotifications':
        return { notifications: slice(channels.map(({ monitorIds: _, data: __, ...summary }) => summary)) };
      case 'GetNotification':
        return { notification: channels.find(({ id }) => id === body.id) };
      case 'status_report':
        return reportPages;
      case 'incident':
        return outages;
      case 'GetMonitorSummary':
        return { id: body.id };
      default:
        return refusal(404);
    }
  };
}

export const monitor = (id: number, more: Row = {}): Row => ({
  id: String(id),
  name: `Monitor ${id}`,
  url: 'https://x.test',
  active: true,
  public: true,
  status: 'MONITOR_STATUS_ACTIVE',
  ...more,
});
export const page = (more: Row = {}): Row => ({
  id: '1',
  title: 'Acme',
  slug: 'acme',
  published: true,
  accessType: 'PAGE_ACCESS_TYPE_PUBLIC',
  ...more,
});
export const report = (id: number, more: Row = {}): Row => ({
  id: String(id),
  status: 'STATUS_REPORT_STATUS_RESOLVED',
  title: `Report ${id}`,
  pageComponentIds: ['10'],
  updates: [],
  createdAt: toIso(toEpochMs(NOW - HOUR_MS)),
  updatedAt: toIso(toEpochMs(NOW - HOUR_MS)),
  ...more,
});
export const components = [
  { id: '10', type: 'PAGE_COMPONENT_TYPE_MONITOR', monitorId: '1', name: 'API' },
  { id: '11', type: 'PAGE_COMPONENT_TYPE_STATIC', name: 'Desk' },
];
export const names = (questions: readonly { name: string }[]): string[] => questions.map(({ name }) => name);
