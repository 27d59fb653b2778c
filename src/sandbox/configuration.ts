/** The `pharos.yaml` that points at a running sandbox. */

import { stringify } from 'yaml';
import type { LocalUpstream } from './kind.ts';
import type { World, WorldPage } from './world/world.ts';

export interface ConfigTextOptions {
  /** Names of the upstreams in it. Default: the usual ones. */
  readonly include?: readonly string[];
  /** False leaves `pages` out: definitions then come from the upstreams. Default true. */
  readonly hasPages?: boolean;
}

interface Configured extends LocalUpstream {
  readonly id: string;
}

/** The text to paste. Secrets stand in it as `${NAME}` only. */
export function configTextOf(
  {
    url,
    world,
    upstreams,
  }: { readonly url: string; readonly world: World; readonly upstreams: readonly LocalUpstream[] },
  { include, hasPages = true }: ConfigTextOptions = {},
): string {
  const configured = withIds(
    upstreams.filter(({ name, isUsual = false }) => (include === undefined ? isUsual : include.includes(name))),
  );
  return stringify(
    {
      site: { url: 'http://127.0.0.1:4321', name: 'Acme', home: 'acme', timezone: 'Europe/Berlin', locale: 'en' },
      upstreams: configured.map(({ id, name, entry }) => ({ ...entry(`${url}/${name}`, world), id })),
      ...(hasPages ? { pages: world.pages.map((page) => pageEntry(page, configured)) } : {}),
      operators: { token: '${PHAROS_TOKEN}' },
    },
    { lineWidth: 0 },
  );
}

/** Two wires of one service have one id where only one of them is configured. */
function withIds(upstreams: readonly LocalUpstream[]): readonly Configured[] {
  const taken = new Set<string>();
  return upstreams.map((upstream) => {
    const id = upstream.ids.find((one) => !taken.has(one)) ?? upstream.name;
    taken.add(id);
    return { ...upstream, id };
  });
}

/** The monitor of a service: of the upstream that names it in `serviceIds`, else of the first that names any. */
function monitorOf(serviceId: number, upstreams: readonly Configured[]): string | null {
  const candidates = upstreams.filter(({ serviceIds }) => serviceIds !== undefined);
  const chosen = candidates.find(({ serviceIds }) => serviceIds?.includes(serviceId)) ?? candidates[0];
  return chosen === undefined ? null : `${chosen.id}/${serviceId}`;
}

function pageEntry(page: WorldPage, upstreams: readonly Configured[]): Record<string, unknown> {
  const components = page.components.flatMap(({ serviceId, name, description, groupId, order }) => {
    const monitor = serviceId === null ? null : monitorOf(serviceId, upstreams);
    if (serviceId !== null && monitor === null) return [];
    return {
      type: monitor === null ? 'static' : 'monitor',
      ...(monitor === null ? {} : { monitor }),
      name,
      ...(description === null ? {} : { description }),
      ...(groupId === null ? {} : { group_id: groupKey(page, groupId) }),
      order,
    };
  });
  const definer = upstreams.find(({ definesPages = false }) => definesPages);
  return {
    slug: page.slug,
    ...(definer === undefined ? {} : { from: definer.id }),
    title: page.title,
    ...(page.description === null ? {} : { description: page.description }),
    access_type: page.accessType,
    ...(page.accessType === 'password' ? { password: '${PARTNERS_PASSWORD}' } : {}),
    ...(page.accessType === 'email-domain' ? { auth_email_domains: page.emailDomains } : {}),
    ...(page.groups.length === 0
      ? {}
      : { groups: page.groups.map(({ id, name }) => ({ id: groupKey(page, id), name })) }),
    components,
  };
}

function groupKey(page: WorldPage, groupId: number): string {
  return (page.groups.find(({ id }) => id === groupId)?.name ?? 'group').toLowerCase();
}
