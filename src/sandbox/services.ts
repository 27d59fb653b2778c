/** What exists in the world: its services and the three pages that show them. */

import { DAY_MS, type EpochMs, toEpochMs } from '../model/time.ts';
import { noise, noiseBetween } from './noise.ts';

/** How a service is. Each upstream has its own words for these. */
export const SERVICE_STATUSES = ['up', 'degraded', 'down', 'pending', 'paused'] as const;
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];

export interface Service {
  /** From 1; its monitor id in every upstream. */
  readonly id: number;
  /** Unique and stable: `website`, `api` … `service-10`. */
  readonly key: string;
  /** As the uptime service calls it. */
  readonly name: string;
  /** As the server monitor calls it. */
  readonly host: string;
  readonly description: string;
  readonly kind: 'http' | 'tcp' | 'dns';
  /** URL, `host:port` or domain name, by kind. */
  readonly target: string;
  readonly isPublic: boolean;
  readonly createdAt: EpochMs;
  readonly responseTimeMs: number;
}

type Template = Pick<Service, 'key' | 'name' | 'host' | 'description' | 'kind' | 'target' | 'isPublic'>;

const TEMPLATES: readonly Template[] = [
  {
    key: 'website',
    name: 'Website',
    host: 'web-1',
    description: 'The shop and its landing pages',
    kind: 'http',
    target: 'https://www.acme.example/',
    isPublic: true,
  },
  {
    key: 'api',
    name: 'Public API',
    host: 'api-1',
    description: 'REST API for partners and apps',
    kind: 'http',
    target: 'https://api.acme.example/health',
    isPublic: true,
  },
  {
    key: 'auth',
    name: 'Sign-in',
    host: 'login-1',
    description: 'Accounts and single sign-on',
    kind: 'http',
    target: 'https://login.acme.example/',
    isPublic: true,
  },
  {
    key: 'database',
    name: 'Database',
    host: 'db-1',
    description: 'Primary of the order database',
    kind: 'tcp',
    target: 'db.acme.example:5432',
    isPublic: false,
  },
  {
    key: 'queue',
    name: 'Message queue',
    host: 'queue-1',
    description: 'Orders on their way to the warehouse',
    kind: 'tcp',
    target: 'queue.acme.example:5672',
    isPublic: false,
  },
  {
    key: 'search',
    name: 'Search',
    host: 'search-1',
    description: 'Product search',
    kind: 'http',
    target: 'https://search.acme.example/ping',
    isPublic: true,
  },
  {
    key: 'mail',
    name: 'Mail',
    host: 'mail-1',
    description: 'Receipts and newsletters',
    kind: 'tcp',
    target: 'mail.acme.example:587',
    isPublic: true,
  },
  {
    key: 'cdn',
    name: 'CDN',
    host: 'cdn-1',
    description: 'Images and scripts',
    kind: 'dns',
    target: 'cdn.acme.example',
    isPublic: true,
  },
  {
    key: 'legacy',
    name: 'Old dashboard',
    host: 'legacy-1',
    description: 'Switched off while it is being replaced',
    kind: 'http',
    target: 'https://old.acme.example/',
    isPublic: false,
  },
];

/** The services of a small world; more than these are made up by number. */
export const SERVICES_DEFAULT = TEMPLATES.length;
/** Services that keep changing after the start; the rest only have a past. */
export const LIVELY_SERVICES = 8;
/** The one that is paused all along. */
export const PAUSED_SERVICE_KEY = 'legacy';

/** `count` services, by id. The first nine have names, the rest numbers. */
export function createServices(seed: number, count: number, startedAt: EpochMs): readonly Service[] {
  return Array.from({ length: count }, (_, index) => ({
    ...(TEMPLATES[index] ?? numbered(index + 1)),
    id: index + 1,
    createdAt: toEpochMs(startedAt - (200 + (index % 100)) * DAY_MS),
    responseTimeMs: noiseBetween(20, 240, noise(seed, 'response time', index)),
  }));
}

function numbered(id: number): Template {
  const kind = (['http', 'tcp', 'dns'] as const)[id % 3] ?? 'http';
  const host = `s${id}.acme.example`;
  return {
    key: `service-${id}`,
    name: `Service ${id}`,
    host: `s${id}`,
    description: `Service number ${id}`,
    kind,
    target: { http: `https://${host}/`, tcp: `${host}:443`, dns: host }[kind],
    isPublic: true,
  };
}

export interface WorldPage {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly description: string | null;
  readonly accessType: 'public' | 'password' | 'email-domain';
  readonly emailDomains: readonly string[];
  readonly groups: readonly { readonly id: number; readonly name: string }[];
  readonly components: readonly WorldComponent[];
}

export interface WorldComponent {
  /** Unique over all pages. */
  readonly id: number;
  /** Null: a static component. */
  readonly serviceId: number | null;
  readonly name: string;
  readonly description: string | null;
  readonly groupId: number | null;
  readonly order: number;
  readonly groupOrder: number;
}

interface PagePlan extends Omit<WorldPage, 'groups' | 'components'> {
  readonly groups: readonly { readonly id: number; readonly name: string; readonly services: readonly number[] }[];
  readonly loose: readonly number[];
  readonly hasSupportDesk: boolean;
}

const PAGE_PLANS: readonly PagePlan[] = [
  {
    id: 1,
    slug: 'acme',
    title: 'Acme',
    description: 'Live status of everything at Acme',
    accessType: 'public',
    emailDomains: [],
    groups: [
      { id: 1, name: 'Core', services: [1, 2, 3] },
      { id: 2, name: 'Delivery', services: [6, 7, 8] },
    ],
    loose: [],
    hasSupportDesk: true,
  },
  {
    id: 2,
    slug: 'partners',
    title: 'Acme for partners',
    description: 'What our integrations depend on',
    accessType: 'password',
    emailDomains: [],
    groups: [],
    loose: [2, 5],
    hasSupportDesk: false,
  },
  {
    id: 3,
    slug: 'staff',
    title: 'Acme inside',
    description: null,
    accessType: 'email-domain',
    emailDomains: ['acme.example'],
    groups: [{ id: 3, name: 'Data', services: [4, 5] }],
    loose: [6, 9],
    hasSupportDesk: false,
  },
];

/** The three pages, with only the components whose service exists. */
export function createPages(services: readonly Service[]): readonly WorldPage[] {
  let componentId = 0;
  return PAGE_PLANS.map(({ groups, loose, hasSupportDesk, ...page }) => {
    const placed = [
      ...groups.flatMap((group) => group.services.map((serviceId, index) => ({ serviceId, group: group.id, index }))),
      ...loose.map((serviceId) => ({ serviceId, group: null, index: 0 })),
    ];
    const components: WorldComponent[] = [];
    for (const { serviceId, group, index } of placed) {
      const service = services[serviceId - 1];
      if (service === undefined) continue;
      componentId += 1;
      const { name, description } = service;
      const order = components.length + 1;
      components.push({ id: componentId, serviceId, name, description, groupId: group, order, groupOrder: index });
    }
    if (hasSupportDesk) {
      componentId += 1;
      const order = components.length + 1;
      const desk = { serviceId: null, name: 'Support desk', description: 'Weekdays from nine to five' };
      components.push({ id: componentId, ...desk, groupId: null, order, groupOrder: 0 });
    }
    return { ...page, groups: groups.map(({ id, name }) => ({ id, name })), components };
  });
}
