/** What monitors and figures of the uptime service mean. */

import { statedAccess } from '../../../model/access.ts';
import {
  type ComponentDefinition,
  type MonitorDetail,
  type MonitorObservation,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/overlap.ts';
import type { State } from '../../../model/state.ts';
import type { Day, EpochMs } from '../../../model/time.ts';
import { idIn, note, parseItem, parseItems, projectMonitorLists, uniqueById, unknownMonitor } from '../items.ts';
import { createDetail } from '../measurements.ts';
import {
  ACCESS_WORDS,
  lookUp,
  MONITOR_WORDS,
  placeComponents,
  placeGroups,
  THEME_WORDS,
  toLocale,
  toPresentation,
  toSlug,
} from '../page-words.ts';
import { FlagSchema, stateFromWord, unknownWord } from '../wire.ts';
import {
  type Component,
  ComponentDaysSchema,
  ComponentSchema,
  DayBucketSchema,
  GroupSchema,
  ID_FIELD,
  type Monitor,
  MonitorSchema,
  type MonitorSummary,
  type MonitorsAnswer,
  type Overview,
  type Page,
  stripPrefix,
} from './schema.ts';

/** Monitors of all kinds with their states, sorted by id; never throws. */
export function projectMonitors(
  answers: readonly MonitorsAnswer[],
  upstreamId: string,
): { monitors: MonitorObservation[]; problems: Problem[]; itemsTotal: number } {
  const lists = answers.flatMap((answer) => answer.lists);
  const projected = projectMonitorLists<Monitor>(
    lists.map(({ kind, place, items }) => ({
      place,
      items,
      schema: MonitorSchema,
      idField: ID_FIELD,
      project: (item, at) => projectMonitor(item, at, { upstreamId, kind }),
      placeholder: (externalId) => ({ ...unknownMonitor(upstreamId, externalId, kind), isPublic: false }),
    })),
  );
  const itemsTotal = lists.reduce((sum, list) => sum + list.items.length, 0);
  const total = answers[0]?.total ?? 0;
  const hidden =
    total > itemsTotal
      ? [
          note(
            'list monitors',
            `the service counts ${total} and lists ${itemsTotal}; its API leaves out ICMP, UDP and TLS monitors`,
          ),
        ]
      : [];
  return { ...projected, problems: [...projected.problems, ...hidden], itemsTotal };
}

function projectMonitor(
  item: Monitor,
  place: string,
  { upstreamId, kind }: { upstreamId: string; kind: string },
): { monitor: MonitorObservation; problems: Problem[] } {
  const problems: Problem[] = [];
  const isPublic = FlagSchema.nullish().safeParse(item.public);
  if (!isPublic.success) problems.push(unknownWord(`${place}.public`, item.public));
  const isActive = FlagSchema.optional().safeParse(item.active);
  if (!isActive.success) problems.push(unknownWord(`${place}.active`, item.active));
  // The service leaves the status out when it is not specified: that is an answer, not a word we do not know.
  const word = stripPrefix(item.status, 'MONITOR_STATUS_') ?? 'unspecified';
  const status = stateFromWord(MONITOR_WORDS, word, `${place}.status`);
  const state: State = !isActive.success ? 'unknown' : isActive.data === false ? 'paused' : status.state;
  return {
    monitor: {
      ...unknownMonitor(upstreamId, item.id, kind),
      name: item.name,
      description: item.description,
      target: item.url ?? item.uri,
      state,
      isPublic: isPublic.success && isPublic.data === true,
    },
    problems: [...problems, ...status.problems],
  };
}

/** Days of the past as the service counted its checks, by monitor; static components have none. */
export function projectDays(
  components: readonly unknown[],
  lastDay: Day,
): { days: Map<string, ReportedDay[]>; problems: Problem[] } {
  const parsed = parseItems(ComponentDaysSchema, components, 'dailySummary.components');
  const problems: Problem[] = parsed.problems.map((problem) => ({ ...problem, kind: 'note' }));
  const days = new Map<string, ReportedDay[]>();
  for (const component of parsed.items) {
    if (component.monitorId === undefined || component.monitorId === null) continue;
    const place = `dailySummary.${component.monitorId}`;
    const buckets = parseItems(DayBucketSchema, component.buckets, place);
    problems.push(...buckets.problems.map((problem): Problem => ({ ...problem, kind: 'note' })));
    const counted = buckets.items.flatMap((bucket): ReportedDay[] => {
      const day = bucket.day.slice(0, 10) as Day;
      const sum = bucket.ok + bucket.degraded + bucket.error;
      if (bucket.count === 0 || day > lastDay) return [];
      // Checks that are neither: nothing is said of such a day rather than something too good.
      if (sum !== bucket.count) {
        problems.push({ kind: 'note', place: `${place}.${day}`, message: 'its counts don’t add up' });
        return [];
      }
      return [{ day, operational: bucket.ok, degraded: bucket.degraded, major_outage: bucket.error }];
    });
    const known = days.get(component.monitorId) ?? [];
    const byDay = new Map([...known, ...counted].map((entry) => [entry.day, entry]));
    days.set(
      component.monitorId,
      [...byDay.values()].toSorted((a, b) => (a.day < b.day ? -1 : 1)),
    );
  }
  return { days, problems };
}

/** What one monitor's summary and days say. */
export function projectDetail(
  externalId: string,
  facts: {
    readonly upstreamId: string;
    readonly fetchedAt: EpochMs;
    readonly summary: MonitorSummary | null;
    readonly periodDays: number;
    readonly days: readonly ReportedDay[];
  },
): MonitorDetail {
  const { summary } = facts;
  const up = summary === null ? 0 : summary.totalSuccessful + summary.totalDegraded;
  const total = summary === null ? 0 : up + summary.totalFailed;
  return createDetail(toMonitorId(facts.upstreamId, externalId), facts.fetchedAt, {
    uptime:
      total === 0
        ? null
        : {
            periodDays: facts.periodDays,
            checksTotal: total,
            checksUp: up,
            uptimeRatio: null,
            responseTimeAverageMs: null,
          },
    reportedDays: facts.days,
  });
}

// What status pages of the uptime service mean: who may see them, what is on them, and how they are drawn.

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
  const isManual = stripPrefix(configuration?.barType, 'PAGE_BAR_TYPE_') === 'manual';
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
      theme: lookUp(THEME_WORDS, stripPrefix(page.theme, 'PAGE_THEME_')) ?? 'system',
      groups: placeGroups(uniqueGroups.items, placed),
      components: placed,
      presentation: toPresentation({
        allowIndex: toFlag(page.allowIndex, isRecorded),
        locale: toLocale(toText(stripPrefix(page.defaultLocale, 'LOCALE_'))),
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

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** In any order, since the service lists them in any; undefined: it says none. */
function toLocales(said: Page['locales']): readonly string[] | undefined {
  const known = said.flatMap((locale) => toLocale(toText(stripPrefix(locale, 'LOCALE_'))) ?? []);
  return known.length === 0 ? undefined : known.toSorted();
}

/** What the service draws a page by and Pharos does not. */
function leftOut({ statusPage, configuration }: Overview, place: string): Problem[] {
  const theme = stripPrefix(configuration?.themeKey, '');
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
  const word = stripPrefix(page.accessType, 'PAGE_ACCESS_TYPE_');
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
  const word = stripPrefix(item.type, 'PAGE_COMPONENT_TYPE_');
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
