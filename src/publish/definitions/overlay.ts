/** One page made of the configuration and of what it builds on. */

import type { PageConfig } from '../../config/schema.ts';
import type { ComponentDefinition, GroupDefinition, MonitorId, PageDefinition } from '../../model/observation.ts';
import type { DefinitionInputs } from './inputs.ts';

/** The configuration over what an upstream says, field by field. */
export function overlay(
  config: PageConfig,
  base: PageDefinition | undefined,
  monitors: DefinitionInputs['monitors'],
): PageDefinition {
  const id = base?.id ?? `config/${config.slug}`;
  return {
    id,
    slug: config.slug,
    title: config.title ?? base?.title ?? config.slug,
    description: stated(config.description, base?.description),
    homepageUrl: stated(config.homepage_url, base?.homepageUrl),
    contactUrl: stated(config.contact_url, base?.contactUrl),
    icon: stated(config.icon, base?.icon),
    customDomain: config.custom_domain ?? base?.customDomain ?? null,
    access: config.access_type ?? base?.access ?? 'public',
    emailDomains: config.auth_email_domains ?? base?.emailDomains ?? [],
    published: config.published ?? base?.published ?? true,
    theme: config.theme ?? base?.theme ?? 'system',
    groups:
      config.groups?.map(
        (group, index): GroupDefinition => ({
          id: group.id,
          name: group.name,
          order: group.order ?? index,
          defaultOpen: group.default_open,
        }),
      ) ??
      base?.groups ??
      [],
    components:
      config.components === undefined ? (base?.components ?? allMonitors(monitors)) : componentsOf(config.components),
    // That its service shows all that is placed says nothing of what the configuration places.
    presentation:
      config.components === undefined ? base?.presentation : { ...base?.presentation, showsAllPlaced: undefined },
  };
}

/** Null in the configuration takes away what an upstream says. */
function stated(own: string | null | undefined, upstream: string | null | undefined): string | null {
  return own === undefined ? (upstream ?? null) : own;
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
      ...(component.show_details ? { showsDetails: true } : {}),
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
