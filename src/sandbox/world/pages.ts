/** The three pages of the world: one for everybody, one behind a password, one for an e-mail domain. */

import type { Service } from './services.ts';

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
