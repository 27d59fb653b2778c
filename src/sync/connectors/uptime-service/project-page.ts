/** What status pages of the uptime service mean: who may see them, what is on them, and how they are drawn. */

import { statedAccess } from '../../../model/access.ts';
import {
  type ComponentDefinition,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import { idIn, parseItem, parseItems, uniqueById } from '../items.ts';
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
import { FlagSchema, unknownWord } from '../wire.ts';
import { type Component, ComponentSchema, GroupSchema, ID_FIELD, type Overview, type Page, wordOf } from './schema.ts';

/** A component shows a monitor, or nothing but its name. */
export const COMPONENT_TYPES = ['monitor', 'static'] as const;

export interface PageOrigin {
  readonly upstreamId: string;
  /** True: the real wire, in which what is false or empty is left out. */
  readonly isRecorded: boolean;
}

/** A status page with its groups and components; null when its slug could not stand in an address. Never throws. */
export function projectPage(
  overview: Overview,
  origin: PageOrigin,
): { page: PageDefinition | null; problems: Problem[]; itemsTotal: number } {
  const { upstreamId, isRecorded } = origin;
  const { statusPage: page, configuration } = overview;
  const place = `pages.${page.id}`;
  const itemsTotal = 1 + overview.components.length + overview.groups.length;
  const slug = toSlug(page.slug);
  const id = `${upstreamId}/${page.id}`;
  if (slug === null) {
    const problem: Problem = { kind: 'gate', page: id, place: `${place}.slug`, message: 'can’t be part of a URL' };
    return { page: null, problems: [problem], itemsTotal };
  }
  const access = projectAccess(page, { id, place });
  const read = projectComponents(overview.components, { upstreamId, place });
  // In this mode the page shows what people say and nothing that monitors saw.
  const isManual = wordOf(configuration?.barType, 'PAGE_BAR_TYPE_') === 'manual';
  const components = isManual ? { ...read, components: read.components.map(withoutMonitor) } : read;
  const groups = parseItems(GroupSchema, overview.groups, `${place}.groups`);
  const uniqueGroups = uniqueById(
    groups.items.map(({ id, name, defaultOpen }) => ({ id, name, defaultOpen: toFlag(defaultOpen, isRecorded) })),
  );
  const placed = placeComponents(components.components, uniqueGroups.items);
  return {
    page: {
      id,
      slug,
      title: page.title,
      description: page.description,
      homepageUrl: page.homepageUrl,
      contactUrl: page.contactUrl,
      icon: page.icon,
      customDomain: page.customDomain,
      ...access.access,
      // The service's own page never looks at it, and its interface cannot set it.
      published: isRecorded || access.access.published,
      theme: lookUp(THEME_WORDS, wordOf(page.theme, 'PAGE_THEME_')) ?? 'system',
      groups: placeGroups(uniqueGroups.items, placed),
      components: placed,
      presentation: toPresentation({
        allowIndex: toFlag(page.allowIndex, isRecorded),
        locale: toLocale(textOf(wordOf(page.defaultLocale, 'LOCALE_'))),
        locales: toLocales(page.locales),
        showUptime:
          configuration === null || configuration === undefined
            ? undefined
            : toFlag(configuration.showUptime, isRecorded),
        showsAllPlaced: isRecorded ? true : undefined,
      }),
    },
    problems: [
      ...leftOut(overview, place),
      ...access.problems,
      ...components.problems,
      ...groups.problems,
      ...uniqueGroups.problems,
    ],
    itemsTotal,
  };
}

function withoutMonitor(component: ComponentDefinition): ComponentDefinition {
  return { ...component, type: 'static', monitor: null };
}

/** A yes or no of how a page looks; what cannot be read says nothing, and on the real wire what is left out is a no. */
function toFlag(value: unknown, isRecorded: boolean): boolean | undefined {
  const parsed = FlagSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  return isRecorded && (value === undefined || value === null) ? false : undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** In any order, since the service lists them in any; undefined: it says none. */
function toLocales(said: Page['locales']): readonly string[] | undefined {
  const known = said.flatMap((locale) => toLocale(textOf(wordOf(locale, 'LOCALE_'))) ?? []);
  return known.length === 0 ? undefined : known.toSorted();
}

/** What the service draws a page by and Pharos does not. */
function leftOut({ statusPage, configuration }: Overview, place: string): Problem[] {
  const theme = wordOf(configuration?.themeKey, '');
  const words = [
    statusPage.customTheme === undefined || statusPage.customTheme === null ? null : 'custom colours',
    typeof theme === 'string' && theme !== '' && theme !== 'default'
      ? `the theme ${JSON.stringify(theme.slice(0, 60))}`
      : null,
  ].filter((word) => word !== null);
  if (words.length === 0) return [];
  const remedy = 'use accent_color and css_variables in pharos.yaml';
  return [{ kind: 'note', place, message: `left out: ${words.join(', ')}; ${remedy}` }];
}

function projectAccess(
  page: Page,
  { id, place }: { readonly id: string; readonly place: string },
): { access: Pick<PageDefinition, 'access' | 'emailDomains' | 'published'>; problems: Problem[] } {
  const problems: Problem[] = [];
  const doubt = (field: string, message: string): void =>
    void problems.push({ kind: 'gate', page: id, place: `${place}.${field}`, message });
  const word = wordOf(page.accessType, 'PAGE_ACCESS_TYPE_');
  const access = lookUp(ACCESS_WORDS, word);
  if (access === undefined) {
    if (typeof word === 'string' || word === undefined || word === null)
      problems.push(unknownWord(`${place}.accessType`, word));
    else doubt('accessType', 'not a word');
  }
  const domains = page.authEmailDomains ?? [];
  const isList = Array.isArray(domains) && domains.every((domain) => typeof domain === 'string');
  if (!isList) doubt('authEmailDomains', 'not a list of domains');
  const emailDomains = isList ? (domains as string[]).map((domain) => domain.toLowerCase()).toSorted() : [];
  const stated = statedAccess({
    type: access ?? 'closed',
    hasPassword: page.hasPassword,
    hasEmailDomains: emailDomains.length > 0,
  });
  const published = FlagSchema.nullish().safeParse(page.published);
  if (!published.success) doubt('published', 'not true or false');
  return {
    access: {
      access: stated ?? 'closed',
      emailDomains,
      published: published.success && published.data === true,
    },
    problems,
  };
}

function projectComponents(
  items: readonly unknown[],
  { upstreamId, place }: { upstreamId: string; place: string },
): { components: ComponentDefinition[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const components = items.flatMap((item, index) => {
    const at = `${place}.components[${index}]`;
    const parsed = parseItem(ComponentSchema, item, at);
    if ('item' in parsed) return projectComponent(parsed.item, { upstreamId, at, problems });
    problems.push(parsed.problem);
    const id = idIn(item, ID_FIELD);
    // It stays on the page as unknown: a component that vanishes would look like one that is well.
    return id === null
      ? []
      : projectComponent(ComponentSchema.parse({ id, type: 'monitor', order: 0 }), { upstreamId, at, problems });
  });
  const unique = uniqueById(components);
  return { components: unique.items, problems: [...problems, ...unique.problems] };
}

function projectComponent(
  item: Component,
  { upstreamId, at, problems }: { upstreamId: string; at: string; problems: Problem[] },
): ComponentDefinition {
  const word = wordOf(item.type, 'PAGE_COMPONENT_TYPE_');
  const isStatic = word === 'static';
  if (!isStatic && word !== 'monitor') problems.push(unknownWord(`${at}.type`, item.type));
  // A name that no monitor has: looked up, it is unknown, never well.
  const monitorThere = item.monitorId ?? `component-${item.id}`;
  return {
    id: item.id,
    type: isStatic ? 'static' : 'monitor',
    monitor: isStatic ? null : toMonitorId(upstreamId, monitorThere),
    name: item.name ?? null,
    description: item.description,
    groupId: item.groupId ?? null,
    order: item.order ?? 0,
    groupOrder: item.groupOrder ?? 0,
  };
}
