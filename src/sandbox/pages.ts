/**
 * The pages of the world: one for everybody, one behind a password, one for an e-mail domain; and in a large world one more
 * for everybody, of forty components.
 */

import acme from './acme.json' with { type: 'json' };
import type { Service } from './services.ts';

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
