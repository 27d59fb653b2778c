/** Merges a configured page with the page it builds on. */

import type { PageConfig } from '../../config/schema.ts';
import { mostPrivate } from '../../model/access.ts';
import type { ComponentDefinition, MonitorId, PageDefinition } from '../../model/observation.ts';
import type { PlacedComponent } from '../../store/written.ts';
import { hasWords } from '../../views/words/index.ts';
import { configuredAccess } from '../releases/clean.ts';
import type { DefinitionInputs } from './inputs.ts';

/** A configured page, or as much of one as is needed. */
type Configured = Pick<PageConfig, 'slug'> & Partial<PageConfig>;

/** Merges field by field, with the configuration first; but the page is never less private than either. */
export function overlay(
  config: Configured,
  base: PageDefinition | null,
  monitors: DefinitionInputs['monitors'],
): PageDefinition {
  const gate = effectiveGate(config, base);
  const components =
    config.components === undefined ? (base?.components ?? allMonitors(monitors)) : defineComponents(config.components);
  return {
    id: base?.id ?? `config/${config.slug}`,
    slug: config.slug,
    title: config.title ?? base?.title ?? config.slug,
    ...translated(config),
    description: stated(config.description, base?.description),
    homepageUrl: stated(config.homepage_url, base?.homepageUrl),
    contactUrl: stated(config.contact_url, base?.contactUrl),
    icon: stated(config.icon, base?.icon),
    customDomain: stated(config.custom_domain, base?.customDomain),
    ...gate,
    published: (config.published ?? true) && (base?.published ?? true),
    theme: config.theme ?? base?.theme ?? 'system',
    groups: config.groups === undefined ? (base?.groups ?? []) : placedGroups(config.groups, components),
    components,
    // That the service shows all components of its page doesn't apply to components from the configuration.
    presentation:
      config.components === undefined ? base?.presentation : { ...base?.presentation, showsAllPlaced: undefined },
  };
}

function translated({ translations }: Configured): Pick<PageDefinition, 'titles' | 'descriptions'> {
  if (translations === undefined) return {};
  const of = (field: 'title' | 'description') =>
    Object.fromEntries(
      Object.entries(translations).flatMap(([tag, said]) => (said[field] === undefined ? [] : [[tag, said[field]]])),
    );
  return { titles: of('title'), descriptions: of('description') };
}

/** Null in the configuration removes the upstream's value. */
function stated(own: string | null | undefined, upstream: string | null | undefined): string | null {
  return own === undefined ? (upstream ?? null) : own;
}

/** The most private access rule of the two. With two lists of domains, only domains on both are allowed. */
function effectiveGate(config: Configured, base: PageDefinition | null) {
  const own = config.auth_email_domains?.map((domain) => domain.toLowerCase());
  const theirAccess = base?.access ?? 'public';
  const theirs = base !== null && base.emailDomains.length > 0 ? base.emailDomains : null;
  const both = own === undefined || theirs === null ? null : own.filter((domain) => theirs.includes(domain));
  const emailDomains = both ?? own ?? theirs ?? [];
  const wanted = mostPrivate([theirAccess, configuredAccess(config) ?? 'public']);
  // A provider replaces no list of the upstream: without one, nobody is on it.
  const isOnNoList = wanted === 'oidc' && theirAccess === 'email-domain' && emailDomains.length === 0;
  const access = isOnNoList ? theirAccess : wanted;
  const ranges = config.allow_ips;
  // Addresses open no gate of the upstream.
  const isEnough = config.access === 'any' && theirAccess === 'public';
  return {
    access,
    emailDomains,
    ...(config.oidc === undefined ? {} : { oidc: config.oidc.allow }),
    ...(ranges === undefined ? {} : { addresses: { ranges, isEnough } }),
  };
}

function defineComponents(components: NonNullable<PageConfig['components']>): readonly ComponentDefinition[] {
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
      ...(component.names === undefined ? {} : { names: component.names }),
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

/** The page with every monitor, for sites that define none. */
export function pageOfEverything({ site, monitors }: DefinitionInputs): PageDefinition {
  const slug = site.home ?? 'status';
  return overlay({ slug, title: site.name }, null, monitors);
}

/** With the components and groups that were made over the API, after all others. An id that is defined elsewhere stays as it is there. */
export function withMade(definition: PageDefinition, made: readonly PlacedComponent[]): PageDefinition {
  if (made.length === 0) return definition;
  const { groups, components } = definition;
  const taken = new Set([...groups, ...components].map(({ id }) => id));
  const orders = [...groups, ...components].map(({ order }) => order).filter((order) => order < LAST);
  const next = Math.floor(Math.max(-1, ...orders)) + 1;
  const placed = made.filter(({ id }) => !taken.has(id)).map((one, index) => ({ ...one, order: next + index }));
  return {
    ...definition,
    groups: [
      ...groups,
      ...placed
        .filter(({ kind }) => kind === 'group')
        .map(({ id, name, names, order }) => ({ ...{ id, name, order }, ...(names === undefined ? {} : { names }) })),
    ],
    components: [
      ...components,
      ...placed
        .filter(({ kind }) => kind === 'component')
        .map(({ id, name, names, description, groupId, order }) => ({
          ...(names === undefined ? {} : { names }),
          ...{ id, type: 'static' as const, monitor: null, name, description, groupId },
          ...{ order, groupOrder: order },
        })),
    ],
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

/** Place of a group without components. */
const LAST = Number.MAX_SAFE_INTEGER;
/** A position between two entries of the list. */
const STEP = 2 ** -20;

/**
 * A group is placed by its own `order`. Without one, it is placed where its first component is, and never before a group that
 * is listed earlier.
 */
function placedGroups(groups: NonNullable<PageConfig['groups']>, components: readonly ComponentDefinition[]) {
  let last = Number.NEGATIVE_INFINITY;
  return groups.map(({ id, name, names, order: own, default_open: defaultOpen, counts }) => {
    const first = components.filter(({ groupId }) => groupId === id).map(({ order }) => order);
    const order = own ?? Math.max(last + STEP, Math.min(...first));
    // A group without components isn't shown, and moves nothing.
    if (Number.isFinite(order)) last = order;
    const placed = { id, name, order: Number.isFinite(order) ? order : LAST, defaultOpen, counts };
    return names === undefined ? placed : { ...placed, names };
  });
}

// Settings of a page: from the configuration, from the service that defines it, or by default. Also lists what is
// left out.

/** An image that the page serves. */
export interface PageIcon {
  /** Base64. */
  readonly png: string;
}

/** Path of the image below the page. */
export const ICON_PATH = 'icon.png';
/** Maximum number of names in a message; further ones are counted. */
const NAMED_MAX = 5;

/** The service's settings apply unless the configuration has its own. `told`: messages about what is left out. */
export function choosePresentation(
  { presentation = {} }: PageDefinition,
  config: PageConfig | null,
  site: DefinitionInputs['site'],
) {
  const { allowIndex = true, showUptime = true } = presentation;
  const own = config?.locales ?? (config?.locale === undefined ? undefined : [config.locale]);
  const ofSite = site.locales ?? [site.locale];
  const { locale: said, locales: others = said === undefined || ofSite.length > 1 ? ofSite : [] } = presentation;
  const wanted = own ?? [...(said === undefined ? [] : [said]), ...others];
  const spoken = own ?? [...new Set(wanted.filter(hasWords))];
  const all = spoken.length === 0 ? ofSite : spoken;
  const [locale = site.locale] = all;
  const left = wanted.filter((tag) => !all.includes(tag));
  return {
    settings: {
      locale,
      ...(all.length === 1 ? {} : { languages: { all, path: '' } }),
      allowIndex: config?.allow_index ?? allowIndex,
      showUptime: config?.show_uptime ?? showUptime,
    },
    told: left.map((tag) =>
      tag === said
        ? `its language is ${tag}, which Pharos doesn’t support, so the page is in ${locale}`
        : `its language ${tag} is left out, because Pharos doesn’t support it`,
    ),
  };
}

/**
 * Returns the components that may be shown. `public: false` hides a monitor on public pages. Private pages show it, and so do
 * services whose own pages show all their components.
 */
export function shownComponents(
  { access, components, presentation }: PageDefinition,
  monitors: DefinitionInputs['monitors'],
) {
  const monitorOf = ({ monitor }: ComponentDefinition) => (monitor === null ? undefined : monitors.get(monitor));
  const isHidden = (component: ComponentDefinition): boolean =>
    access === 'public' && presentation?.showsAllPlaced !== true && monitorOf(component)?.isPublic === false;
  const hidden = components.filter(isHidden);
  if (hidden.length === 0) return { components, told: [] };
  const names = hidden.slice(0, NAMED_MAX).map((one) => JSON.stringify(one.name ?? monitorOf(one)?.name ?? one.id));
  if (hidden.length > NAMED_MAX) names.push(`${hidden.length - NAMED_MAX} more`);
  const told = `left out because their monitors are not public in the upstream: ${names.join(', ')}. Make them public, or make the page private`;
  return { components: components.filter((component) => !isHidden(component)), told: [told] };
}

/** Whether a visitor's browser would load it from another host. */
export function isForeign(address: string, pageUrl: string): boolean {
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin !== new URL(pageUrl).origin;
}
