/** Which status pages there are: those of the configuration, those that upstreams define, and how the two are merged. */

import type { PageConfig } from '../../config/schema.ts';
import type { Secret } from '../../config/secret.ts';
import type { ComponentDefinition, MonitorId, MonitorObservation, PageDefinition } from '../../model/observation.ts';
import type { PageSettings } from '../../model/page.ts';
import { HOST_NAME, RESERVED_SLUGS, SLUG, safeLink } from '../../model/scalars.ts';
import { MINUTE_MS } from '../../model/time.ts';
import { placedGroups } from './group-order.ts';

export interface SiteSettings {
  /** Public address of the site, without a trailing slash. */
  readonly url: string;
  readonly name: string;
  readonly home: string | null;
  readonly timezone: string;
  readonly locale: string;
  /** How far back pages look. */
  readonly historyDays: number;
}

export interface ResolvedPage {
  readonly definition: PageDefinition;
  readonly settings: PageSettings;
  /** With access `password`; the only copy outside the configuration. */
  readonly password: Secret | null;
  /** Null: it stands in no configuration. */
  readonly config: PageConfig | null;
}

export interface DefinitionProblem {
  readonly slug: string;
  readonly message: string;
}

export interface ResolvedSite {
  /** Sorted by slug; unpublished and closed pages are left out. */
  readonly pages: readonly ResolvedPage[];
  readonly problems: readonly DefinitionProblem[];
  /** Slugs that are defined and not among `pages`: nobody is to see them. */
  readonly withheld: readonly string[];
}

/** What definitions look at of a monitor. */
export type KnownMonitor = Pick<MonitorObservation, 'id' | 'name' | 'isPublic'>;

export interface DefinitionInputs {
  readonly site: SiteSettings;
  readonly pages: readonly PageConfig[];
  readonly upstreamDefinitions: readonly PageDefinition[];
  readonly monitors: ReadonlyMap<MonitorId, KnownMonitor>;
}

/** Longer than what a restart or one failed check takes. */
const DEFAULT_ENTRIES_AFTER_MS = 3 * MINUTE_MS;

/**
 * The pages to publish.
 *
 * Precedence, field by field: the configuration, then the upstream that defines the page, then defaults. A page that
 * two upstreams define under one slug is published by neither, since one could take over the other's gate. A page
 * behind a password that only an upstream knows stays closed until the configuration gives it one.
 */
export function resolvePages(inputs: DefinitionInputs): ResolvedSite {
  const problems: DefinitionProblem[] = [];
  const bySlug = new Map<string, PageDefinition>();
  const clashes = new Set<string>();
  for (const definition of inputs.upstreamDefinitions) {
    const slug = definition.slug.toLowerCase();
    if (!SLUG.test(slug) || RESERVED_SLUGS.has(slug)) {
      problems.push({
        slug,
        message: `the slug of ${definition.id} cannot be part of an address; the page is not published`,
      });
    } else if (bySlug.has(slug)) clashes.add(slug);
    else bySlug.set(slug, { ...definition, slug });
  }
  for (const slug of clashes) {
    bySlug.delete(slug);
    problems.push({
      slug,
      message: 'two upstreams define this slug; neither is published until one of them is renamed',
    });
  }
  const configured = new Set(inputs.pages.map((page) => page.slug));
  const drafts: Draft[] = inputs.pages
    .filter((config) => !clashes.has(config.slug))
    .map((config) => ({ definition: overlay(config, bySlug.get(config.slug), inputs.monitors), config }));
  for (const [slug, definition] of bySlug) if (!configured.has(slug)) drafts.push({ definition, config: null });
  if (drafts.length === 0 && problems.length === 0) drafts.push({ definition: everything(inputs), config: null });

  const pages = drafts
    .map(({ definition, config }) => finish({ definition, config, inputs }))
    .filter(({ definition, password }) => {
      if (definition.access === 'password' && password === null) {
        problems.push({
          slug: definition.slug,
          message: 'its password is known to the upstream only; set it in the configuration to open the page',
        });
        return false;
      }
      if (definition.access === 'email-domain' && definition.emailDomains.length === 0) {
        problems.push({
          slug: definition.slug,
          message: 'it names no e-mail domain, so nobody could enter; it stays closed',
        });
        return false;
      }
      if (definition.access === 'closed')
        problems.push({ slug: definition.slug, message: 'its access type is not one we can keep; it stays closed' });
      return definition.published && definition.access !== 'closed';
    })
    .toSorted((a, b) => (a.definition.slug < b.definition.slug ? -1 : 1));
  const shown = new Set(pages.map(({ definition }) => definition.slug));
  const defined = [...clashes, ...drafts.map(({ definition }) => definition.slug)];
  return { pages, problems, withheld: defined.filter((slug) => !shown.has(slug)) };
}

interface Draft {
  readonly definition: PageDefinition;
  readonly config: PageConfig | null;
}

function overlay(
  config: PageConfig,
  base: PageDefinition | undefined,
  monitors: DefinitionInputs['monitors'],
): PageDefinition {
  const id = base?.id ?? `config/${config.slug}`;
  const components =
    config.components === undefined ? (base?.components ?? allMonitors(monitors)) : componentsOf(config.components);
  return {
    id,
    slug: config.slug,
    title: config.title ?? base?.title ?? config.slug,
    description: config.description ?? base?.description ?? null,
    homepageUrl: config.homepage_url ?? base?.homepageUrl ?? null,
    contactUrl: config.contact_url ?? base?.contactUrl ?? null,
    icon: config.icon ?? base?.icon ?? null,
    customDomain: config.custom_domain ?? base?.customDomain ?? null,
    access: config.access_type ?? base?.access ?? 'public',
    emailDomains: config.auth_email_domains ?? base?.emailDomains ?? [],
    published: config.published ?? base?.published ?? true,
    theme: config.theme ?? base?.theme ?? 'system',
    groups: config.groups === undefined ? (base?.groups ?? []) : placedGroups(config.groups, components),
    components,
  };
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

function everything({ site, monitors }: DefinitionInputs): PageDefinition {
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

function finish({ definition, config, inputs }: Draft & { readonly inputs: DefinitionInputs }): ResolvedPage {
  const { site, monitors } = inputs;
  const customDomain =
    definition.customDomain !== null && HOST_NAME.test(definition.customDomain)
      ? definition.customDomain.toLowerCase()
      : null;
  // `public: false` is the upstream's word that a monitor is nobody's business; behind a gate the page decides.
  const isHidden = (component: ComponentDefinition): boolean =>
    definition.access === 'public' && component.monitor !== null && monitors.get(component.monitor)?.isPublic === false;
  return {
    definition: {
      ...definition,
      customDomain,
      homepageUrl: safeLink(definition.homepageUrl),
      contactUrl: safeLink(definition.contactUrl),
      icon: safeLink(definition.icon),
      components: uniqueIds(definition.components.filter((component) => !isHidden(component))),
    },
    settings: {
      url: customDomain === null ? `${site.url}/${definition.slug}/` : `https://${customDomain}/`,
      timezone: config?.timezone ?? site.timezone,
      locale: config?.locale ?? site.locale,
      showTargets: config?.show_targets ?? false,
      blipFloorMs: (config?.blip_floor_seconds ?? 60) * 1_000,
      uptimeDecimals: config?.uptime_decimals ?? 2,
      accentColor: config?.accent_color ?? null,
      cssVariables: config?.css_variables ?? {},
      allowIndex: config?.allow_index ?? true,
      historyDays: site.historyDays,
      entriesAfterMs: entriesAfterMs(config),
    },
    password: config?.password ?? null,
    config,
  };
}

/** How long a monitor is down before that is an incident; null: it never is by itself. */
function entriesAfterMs(config: PageConfig | null): number | null {
  const after = config?.incidents?.after ?? DEFAULT_ENTRIES_AFTER_MS;
  return after === 'off' ? null : after;
}

/** Component ids are parts of addresses: what an upstream sends is made safe and unique. */
function uniqueIds(components: readonly ComponentDefinition[]): readonly ComponentDefinition[] {
  const taken = new Set<string>();
  return components.flatMap((component) => {
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(component.id) || taken.has(component.id)) return [];
    taken.add(component.id);
    return [component];
  });
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
