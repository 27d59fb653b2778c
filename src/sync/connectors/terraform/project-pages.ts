/** Status pages with their groups and components, and what stands in none of them. */

import { statedAccess } from '../../../model/access.ts';
import {
  type AccessType,
  type ComponentDefinition,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import { uniqueById } from '../items.ts';
import {
  ACCESS_WORDS,
  lookUp,
  placeComponents,
  placeGroups,
  THEME_WORDS,
  toLocale,
  toPresentation,
  toSlug,
} from '../page-words.ts';
import { FlagSchema, NumberSchema, toHost, toLink } from '../wire.ts';
import { type ProjectFacts, type Resource, textOf } from './document.ts';

/** Pages that are managed here, and those looked up that something here is put on. */
export function projectPages(facts: ProjectFacts): { pages: PageDefinition[]; problems: Problem[] } {
  const { resources, identities } = facts;
  const parts = resources.filter(isPart);
  const problems: Problem[] = parts.flatMap((part) => unknownReferences(part, facts));
  const pages = resources
    .filter(({ type }) => type === 'status_page')
    .flatMap((page): PageDefinition[] => {
      problems.push(...unused(page));
      const isUsed = parts.some(({ values }) => identities.referenced(values['page_id']) === identities.idOf(page));
      // A page that is only looked up belongs to somebody else unless something here is put on it.
      if (page.mode === 'data' && !isUsed) {
        problems.push(left(page.address, 'left out: a data source that nothing refers to'));
        return [];
      }
      const slug = slugOf(page);
      if (slug !== null) return [projectPage(page, slug, facts)];
      const place = `${page.address}.slug`;
      const isMissing = page.values['slug'] === undefined;
      if (isMissing && (page.mode === 'data' || page.hidden.has('slug')))
        problems.push(left(place, 'left out: the whole page, because this is not known here'));
      else
        problems.push({
          kind: 'gate',
          // It may be any that is not shown.
          page: isMissing ? null : `${facts.origin.upstreamId}/${identities.idOf(page)}`,
          place,
          message: isMissing ? 'missing' : 'can’t be part of a URL',
        });
      return [];
    });
  const unique = uniqueById(pages, (page) => ({ ...page, access: 'closed' as const }));
  return { pages: unique.items, problems: [...problems, ...unique.problems] };
}

/** What a page says and nothing here does. */
function unused({ address, values, hidden }: Resource): Problem[] {
  const words: Readonly<Record<string, string>> = {
    custom_theme: 'left out: use css_variables and accent_color in pharos.yaml',
    locales: 'left out: a page has one language, default_locale',
  };
  return Object.entries(words).flatMap(([field, message]) =>
    hidden.has(field) || values[field] !== undefined ? [left(`${address}.${field}`, message)] : [],
  );
}

function left(place: string, message: string): Problem {
  return { kind: 'note', place, message };
}

/** The slug of a page; null: it is not known here, or can’t be part of a URL. */
function slugOf({ values }: Resource): string | null {
  return toSlug(textOf(values['slug']) ?? '');
}

function isPart({ mode, type }: Resource): boolean {
  return mode === 'managed' && (type === 'status_page_component' || type === 'status_page_component_group');
}

/** What a component or a group refers to and cannot be found: each is told, with what comes of it. */
function unknownReferences(
  { address, values, hidden, type }: Resource,
  { resources, identities }: ProjectFacts,
): Problem[] {
  const isComponent = type === 'status_page_component';
  const shown = resources.filter((one) => one.type === 'status_page' && slugOf(one) !== null);
  const pages = new Set(shown.map(identities.idOf));
  const groups = new Set(resources.filter((one) => one.type === 'status_page_component_group').map(identities.idOf));
  const isMissing = (field: string, known: ReadonlySet<string> | null): boolean => {
    if (hidden.has(field)) return true;
    if (values[field] === undefined) return false;
    const id = identities.referenced(values[field]);
    return id === null || (known !== null && !known.has(id));
  };
  const words = [
    isMissing('page_id', pages)
      ? ['page_id', `left out: the whole ${isComponent ? 'component' : 'group'}, because its page is not known here`]
      : null,
    isComponent && isMissing('group_id', groups)
      ? ['group_id', 'its group is not known here; shown without one']
      : null,
    isComponent && isMissing('monitor_id', null)
      ? ['monitor_id', 'its monitor is not known until it is applied; shown as unknown']
      : null,
  ].filter((word) => word !== null);
  return words.map(([field, message]) => left(`${address}.${field}`, message ?? ''));
}

function projectPage(page: Resource, slug: string, { resources, identities, origin }: ProjectFacts): PageDefinition {
  const { values } = page;
  const id = identities.idOf(page);
  const onPage = (type: string): Resource[] =>
    resources.filter(
      (resource) =>
        resource.mode === 'managed' &&
        resource.type === type &&
        identities.referenced(resource.values['page_id']) === id,
    );
  const groups = uniqueById(
    onPage('status_page_component_group').map((group) => ({
      id: identities.idOf(group),
      name: textOf(group.values['name']) ?? group.name,
      defaultOpen: FlagSchema.safeParse(group.values['default_open']).data,
    })),
  ).items;
  const components = uniqueById(
    onPage('status_page_component').map((component) => projectComponent(component, { resources, identities, origin })),
  ).items;
  const placed = placeComponents(components, groups);
  const domains = values['auth_email_domains'];
  return {
    id: `${origin.upstreamId}/${id}`,
    slug,
    title: textOf(values['title']) ?? slug,
    description: textOf(values['description']),
    homepageUrl: toLink(values['homepage_url']),
    contactUrl: toLink(values['contact_url']),
    icon: toLink(values['icon']),
    customDomain: toHost(values['custom_domain']),
    access: resourceAccess(page),
    emailDomains: Array.isArray(domains)
      ? domains
          .filter((domain) => typeof domain === 'string')
          .map((domain) => domain.toLowerCase())
          .toSorted()
      : [],
    published: isPublished(page, origin.brand),
    theme: lookUp(THEME_WORDS, values['theme']) ?? 'system',
    groups: placeGroups(groups, placed),
    components: placed,
    presentation: toPresentation({
      allowIndex: page.hidden.has('allow_index') ? false : FlagSchema.safeParse(values['allow_index']).data,
      locale: toLocale(textOf(values['default_locale'])),
      showsAllPlaced: origin.brand === 'openstatus_' ? true : undefined,
    }),
  };
}

/**
 * Read-only there and not known before it is applied; who writes a page down means to publish it. openstatus says false of
 * every page that its interface made, and shows it all the same.
 */
function isPublished({ values }: Resource, brand: string): boolean {
  return (
    brand === 'openstatus_' ||
    values['published'] === undefined ||
    FlagSchema.safeParse(values['published']).data === true
  );
}

/**
 * Who may see a page: the most private of what is written. One that says nothing is public; a word or an expression that
 * we do not know closes it.
 */
function resourceAccess({ values, hidden }: Resource): AccessType {
  const word = values['access_type'];
  const isHidden = hidden.has('access_type');
  const domains = values['auth_email_domains'];
  const stated = statedAccess({
    type: word === undefined && !isHidden ? null : (lookUp(ACCESS_WORDS, word) ?? 'closed'),
    hasPassword: hidden.has('password') || (values['password'] !== undefined && values['password'] !== ''),
    hasEmailDomains:
      hidden.has('auth_email_domains') || (Array.isArray(domains) ? domains.length > 0 : domains !== undefined),
  });
  return stated ?? 'public';
}

function projectComponent(component: Resource, { identities, origin }: ProjectFacts): ComponentDefinition {
  const { values } = component;
  const id = identities.idOf(component);
  const isStatic = values['type'] === 'static';
  // A name that no monitor has: looked up, it is unknown, never well.
  const monitor = identities.referenced(values['monitor_id']) ?? `component-${id}`;
  return {
    id,
    type: isStatic ? 'static' : 'monitor',
    monitor: isStatic ? null : toMonitorId(origin.monitorUpstream ?? origin.upstreamId, monitor),
    name: textOf(values['name']),
    description: textOf(values['description']),
    groupId: identities.referenced(values['group_id']),
    order: numberOf(values['order']),
    groupOrder: numberOf(values['group_order']),
  };
}

function numberOf(value: unknown): number {
  const parsed = NumberSchema.safeParse(value);
  return parsed.success && Number.isFinite(parsed.data) ? parsed.data : 0;
}
