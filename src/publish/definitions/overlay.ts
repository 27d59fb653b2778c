/** One page made of the configuration and of what it builds on. */

import type { PageConfig } from '../../config/schema.ts';
import { mostPrivate, statedAccess } from '../../model/access.ts';
import type {
  AccessType,
  ComponentDefinition,
  GroupDefinition,
  MonitorId,
  PageDefinition,
} from '../../model/observation.ts';
import type { DefinitionInputs } from './inputs.ts';

/** The configuration over what it builds on, field by field; but never more open than either of the two. */
export function overlay(config: PageConfig, base: PageDefinition | null, inputs: DefinitionInputs): PageDefinition {
  const { access, emailDomains } = effectiveGate(config, base);
  return {
    id: base?.id ?? `config/${config.slug}`,
    slug: config.slug,
    title: config.title ?? base?.title ?? config.slug,
    description: config.description ?? base?.description ?? null,
    homepageUrl: config.homepage_url ?? base?.homepageUrl ?? null,
    contactUrl: config.contact_url ?? base?.contactUrl ?? null,
    icon: config.icon ?? base?.icon ?? null,
    customDomain: config.custom_domain === undefined ? (base?.customDomain ?? null) : config.custom_domain,
    access,
    emailDomains,
    published: (config.published ?? true) && (base?.published ?? true),
    theme: config.theme ?? base?.theme ?? 'system',
    groups:
      config.groups?.map(
        (group, index): GroupDefinition => ({ id: group.id, name: group.name, order: group.order ?? index }),
      ) ??
      base?.groups ??
      [],
    components:
      config.components === undefined
        ? (base?.components ?? allMonitors(inputs.monitors))
        : componentsOf(config.components),
  };
}

/** The most private gate that either states. Two lists of domains let in who is on both. */
function effectiveGate(
  config: PageConfig,
  base: PageDefinition | null,
): { readonly access: AccessType; readonly emailDomains: readonly string[] } {
  const own = config.auth_email_domains?.map((domain) => domain.toLowerCase());
  const stated = statedAccess({
    type: config.access_type ?? null,
    hasPassword: config.password !== undefined,
    hasEmailDomains: own !== undefined,
  });
  const access = mostPrivate([...(base === null ? [] : [base.access]), ...(stated === null ? [] : [stated])]);
  const theirs = base !== null && base.emailDomains.length > 0 ? base.emailDomains : null;
  if (own === undefined || theirs === null) return { access, emailDomains: own ?? theirs ?? [] };
  return { access, emailDomains: own.filter((domain) => theirs.includes(domain)) };
}

function componentsOf(components: NonNullable<PageConfig['components']>): readonly ComponentDefinition[] {
  const taken = new Set<string>();
  return components.map((component, index) => {
    const wanted = component.id ?? componentIdFrom(component.monitor ?? component.name ?? 'component');
    const id = taken.has(wanted) ? `${wanted}-${index + 1}` : wanted;
    taken.add(id);
    return {
      id,
      type: component.type,
      monitor: component.type === 'monitor' ? ((component.monitor ?? null) as MonitorId | null) : null,
      name: component.name ?? null,
      description: component.description ?? null,
      groupId: component.group_id ?? null,
      order: component.order ?? index,
      groupOrder: component.group_order ?? component.order ?? index,
    };
  });
}

function allMonitors(monitors: DefinitionInputs['monitors']): readonly ComponentDefinition[] {
  return [...monitors.values()]
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1))
    .map((monitor, order) => ({
      id: componentIdFrom(monitor.id),
      type: 'monitor',
      monitor: monitor.id,
      name: null,
      description: null,
      groupId: null,
      order,
      groupOrder: 0,
    }));
}

/** The page that there is when nothing defines one. */
export function pageOfEverything({ site, monitors }: DefinitionInputs): PageDefinition {
  const slug = site.home ?? 'status';
  return {
    id: `config/${slug}`,
    slug,
    title: site.name,
    description: null,
    homepageUrl: null,
    contactUrl: null,
    icon: null,
    customDomain: null,
    access: 'public',
    emailDomains: [],
    published: true,
    theme: 'system',
    groups: [],
    components: allMonitors(monitors),
  };
}

function componentIdFrom(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 128) || 'component'
  );
}
