/** What the team has written down as infrastructure: monitors, a channel, two pages, and what they look up. */

import { DAY_MS, toEpochMs, toIso } from '../../../../src/model/time.ts';
import type { Service } from '../../../../src/sandbox/services.ts';
import { uptimeMonitor } from '../../monitor-record.ts';
import type { World } from '../../world.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Resource {
  readonly mode: 'managed' | 'data';
  /** Without the brand before it: `http_monitor`. */
  readonly type: string;
  readonly name: string;
  readonly values: Values;
  /** Paths of sensitive values inside, with dots. */
  readonly sensitive: readonly string[];
}

/** Services that are managed as code, by id. */
const MANAGED_SERVICES = [1, 2, 4, 8];
const PLATFORM_ID = '11';
const SUPPLIERS_ID = '12';
const GROUP_ID = '21';

/** @param secret  a secret by its name, the same for the same world */
export function terraformResources(world: World, secret: (name: string) => string): readonly Resource[] {
  const services = MANAGED_SERVICES.flatMap((id) => world.services[id - 1] ?? []);
  const made = toIso(toEpochMs(world.startedAt - 60 * DAY_MS));
  const stamps = { created_at: made, updated_at: made };
  return [
    ...services.map((service) => monitorResource(world, service)),
    {
      mode: 'managed',
      type: 'notification',
      name: 'oncall',
      values: {
        id: '31',
        name: 'On call',
        provider_type: 'slack',
        monitor_ids: services.map(({ id }) => String(id)),
        slack: [{ webhook_url: `https://hooks.acme.example/${secret('webhook')}` }],
        ...stamps,
      },
      sensitive: ['slack.0.webhook_url'],
    },
    page({ id: PLATFORM_ID, slug: 'platform', title: 'Acme platform', access_type: 'public' }, stamps),
    page(
      {
        id: SUPPLIERS_ID,
        slug: 'suppliers',
        title: 'Acme for suppliers',
        access_type: 'password',
        password: secret('suppliers'),
      },
      stamps,
    ),
    {
      mode: 'managed',
      type: 'status_page_component_group',
      name: 'front',
      values: { id: GROUP_ID, page_id: PLATFORM_ID, name: 'Front', ...stamps },
      sensitive: [],
    },
    ...services
      .filter(({ isPublic }) => isPublic)
      .map((service, index) => component(service, { id: `4${index}`, page_id: PLATFORM_ID, index, stamps })),
    ...services
      .filter(({ id }) => id === 2)
      .map((service) => component(service, { id: '49', page_id: SUPPLIERS_ID, index: 0, stamps })),
    ...lookups(world),
  ];
}

function monitorResource(world: World, service: Service): Resource {
  const {
    active,
    public: isPublic,
    degradedAt,
    regions,
    ...monitor
  } = uptimeMonitor(world.stateOf(service, world.startedAt));
  const { id, name, description, periodicity, timeout, retry, status } = monitor;
  const common = { id, name, description, periodicity, timeout, retry, status, regions, degraded_at: degradedAt };
  const target =
    service.kind === 'http'
      ? {
          url: service.target,
          method: 'GET',
          body: null,
          follow_redirects: true,
          headers: [],
          status_code_assertions: [{ target: 200, comparator: 'eq' }],
          body_assertions: [],
          header_assertions: [],
        }
      : { uri: service.target };
  const records = service.kind === 'dns' ? { record_assertions: [] } : {};
  return {
    mode: 'managed',
    type: `${service.kind}_monitor`,
    name: service.key,
    values: { ...common, active, public: isPublic, ...target, ...records },
    sensitive: [],
  };
}

function page(values: Values & { readonly slug: string }, stamps: Values): Resource {
  const nothing = { description: null, homepage_url: null, contact_url: null, icon: null, custom_domain: null };
  const readOnly = { published: true, theme: 'system', ...stamps };
  return {
    mode: 'managed',
    type: 'status_page',
    name: values.slug,
    values: { password: null, auth_email_domains: null, ...nothing, ...values, ...readOnly },
    sensitive: ['password'],
  };
}

function component(
  service: Service,
  place: { readonly id: string; readonly page_id: string; readonly index: number; readonly stamps: Values },
): Resource {
  const { id, page_id, index, stamps } = place;
  const isGrouped = page_id === PLATFORM_ID && index < 2;
  return {
    mode: 'managed',
    type: 'status_page_component',
    name: `${page_id === PLATFORM_ID ? 'platform' : 'suppliers'}_${service.key}`,
    values: {
      id,
      page_id,
      type: 'monitor',
      monitor_id: String(service.id),
      name: service.name,
      description: null,
      order: index,
      group_id: isGrouped ? GROUP_ID : null,
      group_order: isGrouped ? index : null,
      ...stamps,
    },
    sensitive: [],
  };
}

/** Data sources: one monitor, and the first of all of them. */
function lookups(world: World): readonly Resource[] {
  const search = world.services[5];
  const first = world.services.slice(0, 50).map(({ id, name, kind }) => ({ id: String(id), name, type: kind }));
  const all: Resource = {
    mode: 'data',
    type: 'monitors',
    name: 'all',
    values: { limit: 50, offset: 0, monitors: first },
    sensitive: [],
  };
  if (search === undefined) return [all];
  const {
    id,
    name,
    description,
    periodicity,
    timeout,
    active,
    public: isPublic,
    status,
  } = uptimeMonitor(world.stateOf(search, world.startedAt));
  const one = { id, name, description, periodicity, timeout, active, public: isPublic, status };
  const values = { ...one, type: search.kind, url: search.target, uri: null, method: 'GET' };
  return [all, { mode: 'data', type: 'monitor', name: 'search', values, sensitive: [] }];
}
