/** `StatusPageService` of the real uptime service, its reading half. */

import type { WorldPage } from '../../../../../src/sandbox/services.ts';
import { json, type Reply } from '../../../exchange.ts';
import { shifted } from '../../../faults.ts';
import type { World } from '../../../world.ts';
import { type CallContext, found, isReply, list, type Message, paged } from './connect-calls.ts';
import { domainError, rangeError } from './connect-errors.ts';
import { dailySummary } from './days.ts';
import {
  componentMessages,
  groupMessages,
  isOpen,
  maintenanceMessage,
  pageMessage,
  pageOf,
  pageSummaryMessage,
  reportMessage,
} from './records.ts';

const PAGE = { name: 'Status page', reason: 'STATUS_PAGE_NOT_FOUND', header: 'error-page-id' } as const;
/** The most days that are counted. */
const DAYS_MAX = 45;

export function listStatusPages(message: Readonly<Message>, { world, pagingShift }: CallContext): Reply {
  const newestFirst = shifted(world.pages.toReversed(), pagingShift);
  return paged(message, newestFirst, (page, total) => ({
    ...list(
      'statusPages',
      page.map((one) => pageSummaryMessage(world, one)),
    ),
    ...total,
  }));
}

export function getStatusPage(message: Readonly<Message>, { world, pagePassword }: CallContext): Reply {
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
  const reports = world.reportsAt(now);
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
      mine(world.maintenances).map((maintenance) => maintenanceMessage(page, maintenance)),
    ),
  };
}

export function getStatusPageContent(message: Readonly<Message>, context: CallContext): Reply {
  const page = identified(message, context.world);
  return isReply(page) ? page : json(200, contentOf(page, context));
}

export function getStatusPageOverview(message: Readonly<Message>, context: CallContext): Reply {
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

export function getOverallStatus(message: Readonly<Message>, context: CallContext): Reply {
  const page = identified(message, context.world);
  return isReply(page) ? page : json(200, overallOf(page, context));
}

const OVERALL_WORST_FIRST = ['MAJOR_OUTAGE', 'DEGRADED', 'MAINTENANCE', 'OPERATIONAL'] as const;

/** The service's own roll-up, as odd as the real one: an open report says degraded even when the monitor is down. */
function overallOf(page: WorldPage, { world, now }: CallContext): Message {
  const reports = world.reportsAt(now);
  const statuses = page.components.map(({ id, serviceId }) => {
    const service = serviceId === null ? undefined : world.services[serviceId - 1];
    const concerns = ({ serviceIds }: { readonly serviceIds: readonly number[] }): boolean =>
      serviceId !== null && serviceIds.includes(serviceId);
    const isDown = service !== undefined && world.stateOf(service, now).status === 'down';
    const isMaintained = world.maintenances.some((one) => concerns(one) && one.from <= now && now < one.to);
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

export function getDailySummary(message: Readonly<Message>, { world, now }: CallContext): Reply {
  const page = identified(message, world);
  if (isReply(page)) return page;
  const { days = DAYS_MAX } = message;
  if (typeof days !== 'number' || days < 1 || days > DAYS_MAX) return rangeError('days', 3, 1, DAYS_MAX);
  return json(200, dailySummary(world, page, days, now));
}
