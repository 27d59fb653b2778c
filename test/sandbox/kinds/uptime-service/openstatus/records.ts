/** The world in the messages of the real uptime service: protobuf as JSON, where int64 are strings and defaults are left out. */

import { DAY_MS, type EpochMs, toEpochMs, toIso } from '../../../../../src/model/time.ts';
import type { Service, WorldPage } from '../../../../../src/sandbox/services.ts';
import type { WorldMaintenance, WorldReport } from '../../../../../src/sandbox/world.ts';
import { uptimeMonitor } from '../../../monitor-record.ts';
import type { World } from '../../../world.ts';

type Message = Record<string, unknown>;

const ACCESS_TYPES: Readonly<Record<WorldPage['accessType'], string>> = {
  public: 'PAGE_ACCESS_TYPE_PUBLIC',
  password: 'PAGE_ACCESS_TYPE_PASSWORD_PROTECTED',
  'email-domain': 'PAGE_ACCESS_TYPE_AUTHENTICATED',
};

/** Without what protobuf leaves out: false, zero, empty text and empty lists. */
function withoutDefaults(message: Message): Message {
  return Object.fromEntries(
    Object.entries(message).filter(
      ([, value]) =>
        value !== undefined &&
        value !== null &&
        value !== false &&
        value !== 0 &&
        value !== '' &&
        !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/** One of `http`, `tcp`, `dns` as the wire has it. These fields have presence, so false and empty text are sent. */
export function monitorMessage(world: World, service: Service, now: EpochMs): Message {
  const monitor = uptimeMonitor(world.stateOf(service, now));
  const isHttp = service.kind === 'http';
  return {
    id: monitor.id,
    name: monitor.name,
    ...(isHttp ? { url: service.target } : { uri: service.target }),
    periodicity: `PERIODICITY_${monitor.periodicity.toUpperCase()}`,
    ...(isHttp ? { method: 'HTTP_METHOD_GET' } : {}),
    timeout: String(monitor.timeout),
    ...(isHttp ? { degradedAt: String(monitor.degradedAt) } : {}),
    retry: String(monitor.retry),
    ...(isHttp
      ? { followRedirects: true, statusCodeAssertions: [{ target: '200', comparator: 'NUMBER_COMPARATOR_EQUAL' }] }
      : {}),
    ...(service.kind === 'dns'
      ? { recordAssertions: [{ record: 'A', comparator: 'RECORD_COMPARATOR_EQUAL', target: '203.0.113.10' }] }
      : {}),
    description: monitor.description,
    active: monitor.active,
    public: monitor.public,
    regions: regionsOf(monitor.regions),
    ...(monitor.status === 'unknown' ? {} : { status: `MONITOR_STATUS_${monitor.status.toUpperCase()}` }),
  };
}

export function regionsOf(regions: readonly string[]): readonly string[] {
  return regions.map((region) => `REGION_${region.toUpperCase().replaceAll('-', '_')}`);
}

/** Who made the page when; the world does not care, the wire must say. */
function stamps(at: EpochMs): Message {
  return { createdAt: toIso(at), updatedAt: toIso(at) };
}

export function pageSummaryMessage(world: World, page: WorldPage): Message {
  return { id: String(page.id), title: page.title, slug: page.slug, published: true, ...stamps(madeAt(world)) };
}

export function pageMessage(world: World, page: WorldPage, password: string): Message {
  return withoutDefaults({
    id: String(page.id),
    title: page.title,
    description: page.description,
    slug: page.slug,
    published: true,
    accessType: ACCESS_TYPES[page.accessType],
    theme: 'PAGE_THEME_SYSTEM',
    homepageUrl: 'https://www.acme.example',
    contactUrl: 'mailto:help@acme.example',
    ...stamps(madeAt(world)),
    defaultLocale: 'LOCALE_EN',
    password: page.accessType === 'password' ? password : '',
    authEmailDomains: page.emailDomains,
    allowIndex: true,
  });
}

export function componentMessages(world: World, page: WorldPage): readonly Message[] {
  return page.components.map((component) =>
    withoutDefaults({
      id: String(component.id),
      pageId: String(page.id),
      name: component.name,
      description: component.description,
      type: component.serviceId === null ? 'PAGE_COMPONENT_TYPE_STATIC' : 'PAGE_COMPONENT_TYPE_MONITOR',
      monitorId: component.serviceId === null ? undefined : String(component.serviceId),
      order: component.order,
      groupId: component.groupId === null ? undefined : String(component.groupId),
      groupOrder: component.groupOrder,
      ...stamps(madeAt(world)),
    }),
  );
}

export function groupMessages(world: World, page: WorldPage): readonly Message[] {
  return page.groups.map(({ id, name }, index) =>
    withoutDefaults({
      id: String(id),
      pageId: String(page.id),
      name,
      ...stamps(madeAt(world)),
      defaultOpen: index === 0,
    }),
  );
}

/** A report or a maintenance belongs to one page: the first that shows one of its services. */
export function pageOf(world: World, serviceIds: readonly number[]): WorldPage | undefined {
  return world.pages.find((page) => componentIdsOf(page, serviceIds).length > 0);
}

export function componentIdsOf(page: WorldPage, serviceIds: readonly number[]): readonly string[] {
  return page.components.flatMap(({ id, serviceId }) =>
    serviceId !== null && serviceIds.includes(serviceId) ? [String(id)] : [],
  );
}

export function isOpen(report: WorldReport): boolean {
  return report.updates.at(-1)?.status !== 'resolved';
}

/** Without its updates, as lists have it. */
export function reportSummaryMessage(page: WorldPage, report: WorldReport): Message {
  const first = report.updates[0];
  const last = report.updates.at(-1);
  return withoutDefaults({
    id: String(report.id),
    status: `STATUS_REPORT_STATUS_${(last?.status ?? 'investigating').toUpperCase()}`,
    title: report.title,
    pageComponentIds: componentIdsOf(page, report.serviceIds),
    createdAt: first === undefined ? undefined : toIso(first.at),
    updatedAt: last === undefined ? undefined : toIso(last.at),
  });
}

/** With its updates, newest first; the impact stands in the first one written. */
export function reportMessage(page: WorldPage, report: WorldReport): Message {
  const { createdAt, updatedAt, ...summary } = reportSummaryMessage(page, report);
  const impact = `PAGE_COMPONENT_IMPACT_${report.impact.toUpperCase()}`;
  const impacts = componentIdsOf(page, report.serviceIds).map((pageComponentId) => ({ pageComponentId, impact }));
  const updates = report.updates.map((update, index) =>
    withoutDefaults({
      id: String(update.id),
      status: `STATUS_REPORT_STATUS_${update.status.toUpperCase()}`,
      date: toIso(update.at),
      message: update.message,
      createdAt: toIso(update.at),
      componentImpacts: index === 0 ? impacts : [],
    }),
  );
  return { ...summary, updates: updates.reverse(), createdAt, updatedAt };
}

export function maintenanceMessage(page: WorldPage, maintenance: WorldMaintenance): Message {
  return withoutDefaults({
    id: String(maintenance.id),
    title: maintenance.title,
    message: maintenance.message,
    from: toIso(maintenance.from),
    to: toIso(maintenance.to),
    pageId: String(page.id),
    pageComponentIds: componentIdsOf(page, maintenance.serviceIds),
    ...stamps(toEpochMs(maintenance.from - 3 * DAY_MS)),
  });
}

function madeAt(world: World): EpochMs {
  return toEpochMs(world.startedAt - 150 * DAY_MS);
}
