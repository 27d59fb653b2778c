/** The services of the world, and the pages that show them. */

import { DAY_MS, type EpochMs, toEpochMs } from '../model/time.ts';
import acme from './acme.json' with { type: 'json' };

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

type Template = Omit<Service, 'id' | 'createdAt' | 'responseTimeMs'>;

const TEMPLATES = acme.services as readonly Template[];

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

// Randomness that is a function of its arguments: the same seed and the same words give the same number.

/** A number in [0, 1) that depends on `seed` and every part, and on nothing else. */
export function noise(seed: number, ...parts: readonly (number | string)[]): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (const part of parts) {
    for (const character of `${part};`) {
      hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
    }
  }
  // The finaliser of MurmurHash3: neighbouring words must not give neighbouring numbers.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** A whole number in [from, to), as `noise`. */
export function noiseBetween(from: number, to: number, noiseRatio: number): number {
  return from + Math.floor(noiseRatio * (to - from));
}

/** `length` hexadecimal digits, as `noise`: identifiers that look like identifiers. */
export function noiseHex(length: number, seed: number, ...parts: readonly (number | string)[]): string {
  const digits = Array.from({ length }, (_, index) => noiseBetween(0, 16, noise(seed, ...parts, index)).toString(16));
  return digits.join('');
}

/**
 * The pages of the world: one for everybody, one behind a password, one for an e-mail domain; and in a large world one more
 * for everybody, of forty components.
 */
export type WorldPage = ReturnType<typeof createPages>[number];

interface PagePlan extends Readonly<Omit<(typeof acme.pages)[number], 'description' | 'accessType'>> {
  readonly description: string | null;
  readonly accessType: 'public' | 'password' | 'email-domain';
}

/** The services of the large page, after those that have names: each product in each region. */
const FIRST_OF_CLOUD = 10;
const LARGE_PAGE = 'cloud';
const { regions, products } = acme.cloud;
/** As many services as fill every page. */
export const SERVICES_OF_ALL_PAGES = FIRST_OF_CLOUD - 1 + regions.length * products.length;

const PAGE_PLANS: readonly PagePlan[] = [
  ...(acme.pages as readonly PagePlan[]),
  {
    id: 4,
    slug: LARGE_PAGE,
    title: 'Acme Cloud',
    description: 'Every service in every region',
    accessType: 'public',
    emailDomains: [],
    groups: regions.map((name, region) => ({
      id: 4 + region,
      name,
      services: products.map((_, product) => FIRST_OF_CLOUD + region * products.length + product),
    })),
    loose: [],
  },
];

/** What a service is called on a page: those of the large page by what they are, the others by their own name. */
function nameOnPage({ id, name, description }: Service) {
  const product = id < FIRST_OF_CLOUD ? undefined : products[(id - FIRST_OF_CLOUD) % products.length];
  return product === undefined ? { name, description } : { name: product, description: null };
}

/** The pages, with only the components whose service exists; the large one only where it has any. */
export function createPages(services: readonly Service[]) {
  let componentId = 0;
  const plans = PAGE_PLANS.filter(({ slug }) => slug !== LARGE_PAGE || services.length >= FIRST_OF_CLOUD);
  return plans.map(({ groups, loose, ...page }) => {
    const placed = [
      ...groups.flatMap(({ id: groupId, services: ids }) =>
        ids.map((serviceId, groupOrder) => ({ serviceId, groupId, groupOrder })),
      ),
      ...loose.map((serviceId) => ({ serviceId, groupId: null, groupOrder: 0 })),
    ];
    const components = placed
      .flatMap(({ serviceId, ...place }) => {
        const service = services[serviceId - 1];
        return service === undefined ? [] : [{ serviceId, ...nameOnPage(service), ...place }];
      })
      .map((component, index) => {
        componentId += 1;
        // The id is unique over all pages.
        return { id: componentId, ...component, order: index + 1 };
      });
    return { ...page, groups: groups.map(({ id, name }) => ({ id, name })), components };
  });
}
