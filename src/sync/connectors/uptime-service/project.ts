/** What monitors and figures of the uptime service mean. */

import type { z } from 'zod';
import { statedAccess } from '../../../model/access.ts';
import {
  type ComponentDefinition,
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/overlap.ts';
import type { Day, EpochMs } from '../../../model/time.ts';
import { asNotes, idIn, note, parseItem, parseItems, projectMonitorLists, uniqueById } from '../items.ts';
import { createDetail } from '../measurements.ts';
import {
  ACCESS_WORDS,
  MONITOR_WORDS,
  placeComponents,
  placeGroups,
  THEME_WORDS,
  toLocale,
  toPresentation,
  toSlug,
} from '../page-words.ts';
import { FlagSchema, lookUp, stateFromWord, unknownWord } from '../wire.ts';
import {
  type Component,
  ComponentDaysSchema,
  ComponentSchema,
  DayBucketSchema,
  GroupSchema,
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
  problems: Problem[],
): { monitors: MonitorObservation[]; itemsTotal: number } {
  const lists = answers.flatMap((answer) => answer.lists);
  const project = (item: z.output<typeof MonitorSchema>, place: string): Partial<MonitorObservation> => {
    const isPublic = FlagSchema.nullish().safeParse(item.public);
    if (!isPublic.success) problems.push(unknownWord(`${place}.public`, item.public));
    const isActive = FlagSchema.optional().safeParse(item.active);
    if (!isActive.success) problems.push(unknownWord(`${place}.active`, item.active));
    // The service leaves the status out when it is not specified: that is an answer, not a word we do not know.
    const word = stripPrefix(item.status, 'MONITOR_STATUS_') ?? 'unspecified';
    const state = stateFromWord(MONITOR_WORDS, word, `${place}.status`, problems);
    return {
      name: item.name,
      description: item.description,
      target: item.url ?? item.uri,
      state: !isActive.success ? 'unknown' : isActive.data === false ? 'paused' : state,
      isPublic: isPublic.success && isPublic.data === true,
    };
  };
  const about = { isPublic: false, schema: MonitorSchema, project };
  const monitors = projectMonitorLists(
    { upstreamId, problems },
    lists.map((list) => ({ ...about, ...list })),
  );
  const itemsTotal = lists.reduce((sum, list) => sum + list.items.length, 0);
  const total = answers[0]?.total ?? 0;
  const message = `the service counts ${total} and lists ${itemsTotal}; its API leaves out ICMP, UDP and TLS monitors`;
  if (total > itemsTotal) problems.push(note('list monitors', message));
  return { monitors, itemsTotal };
}

/** Days of the past as the service counted its checks, by monitor; static components have none. */
export function projectDays(
  components: readonly unknown[],
  lastDay: Day,
  problems: Problem[],
): Map<string, ReportedDay[]> {
  const days = new Map<string, Map<Day, ReportedDay>>();
  const unread: Problem[] = [];
  for (const { monitorId, buckets } of parseItems(ComponentDaysSchema, components, 'dailySummary.components', unread)) {
    if (monitorId == null) continue;
    const place = `dailySummary.${monitorId}`;
    const counted = days.getOrInsertComputed(monitorId, () => new Map());
    for (const { count, ok, degraded, error, ...bucket } of parseItems(DayBucketSchema, buckets, place, unread)) {
      const day = bucket.day.slice(0, 10) as Day;
      if (count === 0 || day > lastDay) continue;
      // Checks that are neither: nothing is said of such a day rather than something too good.
      if (ok + degraded + error !== count) unread.push(note(`${place}.${day}`, 'its counts don’t add up'));
      else counted.set(day, { day, operational: ok, degraded, major_outage: error });
    }
  }
  problems.push(...asNotes(unread));
  return new Map(
    [...days].map(([id, byDay]) => [id, [...byDay.values()].toSorted((a, b) => (a.day < b.day ? -1 : 1))]),
  );
}

/** What one monitor's summary of some days, and its past days, say. */
export function projectDetail(
  id: MonitorId,
  fetchedAt: EpochMs,
  { summary, days }: { readonly summary: MonitorSummary | null; readonly days: readonly ReportedDay[] },
): MonitorDetail {
  const checksUp = summary === null ? 0 : summary.totalSuccessful + summary.totalDegraded;
  const checksTotal = checksUp + (summary?.totalFailed ?? 0);
  const uptime = { periodDays: SUMMARY_DAYS, checksTotal, checksUp, uptimeRatio: null, responseTimeAverageMs: null };
  return createDetail(id, fetchedAt, { uptime: checksTotal === 0 ? null : uptime, reportedDays: days });
}

/** The period of summaries, `TIME_RANGE_7D`. */
const SUMMARY_DAYS = 7;

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
  { upstreamId, isRecorded }: PageOrigin,
  problems: Problem[],
): PageDefinition | null {
  const { statusPage: page, configuration } = overview;
  const { homepageUrl, contactUrl, icon, customDomain, title, description } = page;
  const place = `pages.${page.id}`;
  const slug = toSlug(page.slug);
  const id = `${upstreamId}/${page.id}`;
  if (slug === null) {
    problems.push({ kind: 'gate', page: id, place: `${place}.slug`, message: 'can’t be part of a URL' });
    return null;
  }
  reportLeftOut(overview, place, problems);
  const access = projectAccess(page, { id, place, problems });
  // In this mode the page shows what people say and nothing that monitors saw.
  const isManual = stripPrefix(configuration?.barType, 'PAGE_BAR_TYPE_') === 'manual';
  const read = projectComponents(overview.components, { upstreamId, place, problems });
  const components = isManual ? read.map((one) => ({ ...one, type: 'static' as const, monitor: null })) : read;
  const named = parseItems(GroupSchema, overview.groups, `${place}.groups`, problems);
  const opened = named.map((group) => ({ ...group, defaultOpen: toFlag(group.defaultOpen, isRecorded) }));
  const groups = uniqueById(opened, problems);
  const placed = placeComponents(components, groups);
  return {
    ...{ id, slug, title, description, homepageUrl, contactUrl, icon, customDomain },
    ...access,
    // The service's own page never looks at it, and its interface cannot set it.
    published: isRecorded || access.published,
    theme: lookUp(THEME_WORDS, stripPrefix(page.theme, 'PAGE_THEME_')) ?? 'system',
    groups: placeGroups(groups, placed),
    components: placed,
    presentation: toPresentation({
      allowIndex: toFlag(page.allowIndex, isRecorded),
      locale: toLocale(stripPrefix(page.defaultLocale, 'LOCALE_')),
      locales: toLocales(page.locales),
      showUptime: configuration == null ? undefined : toFlag(configuration.showUptime, isRecorded),
      showsAllPlaced: isRecorded ? true : undefined,
    }),
  };
}

/** A yes or no of how a page looks; what cannot be read says nothing, and on the real wire what is left out is a no. */
function toFlag(value: unknown, isRecorded: boolean): boolean | undefined {
  const parsed = FlagSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  return isRecorded && (value === undefined || value === null) ? false : undefined;
}

/** In any order, since the service lists them in any; undefined: it says none. */
function toLocales(said: Page['locales']): readonly string[] | undefined {
  const known = said.flatMap((locale) => toLocale(stripPrefix(locale, 'LOCALE_')) ?? []);
  return known.length === 0 ? undefined : known.toSorted();
}

/** What the service draws a page by and Pharos does not. */
function reportLeftOut({ statusPage, configuration }: Overview, place: string, problems: Problem[]): void {
  const theme = stripPrefix(configuration?.themeKey, '');
  const words = statusPage.customTheme == null ? [] : ['custom colours'];
  if (typeof theme === 'string' && theme !== '' && theme !== 'default')
    words.push(`the theme ${JSON.stringify(theme.slice(0, 60))}`);
  const remedy = 'use accent_color and css_variables in pharos.yaml';
  if (words.length > 0) problems.push(note(place, `left out: ${words.join(', ')}; ${remedy}`));
}

function projectAccess(
  page: Page,
  { id, place, problems }: { readonly id: string; readonly place: string; readonly problems: Problem[] },
): Pick<PageDefinition, 'access' | 'emailDomains' | 'published'> {
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
  const { hasPassword } = page;
  const stated = statedAccess({ type: access ?? 'closed', hasPassword, hasEmailDomains: emailDomains.length > 0 });
  const published = FlagSchema.nullish().safeParse(page.published);
  if (!published.success) doubt('published', 'not true or false');
  return { access: stated ?? 'closed', emailDomains, published: published.data === true };
}

interface Place {
  readonly upstreamId: string;
  /** In the answers. */
  readonly place: string;
  readonly problems: Problem[];
}

function projectComponents(items: readonly unknown[], page: Place): ComponentDefinition[] {
  const { problems } = page;
  const components = items.flatMap((item, index) => {
    const place = `${page.place}.components[${index}]`;
    // It stays on the page as unknown: a component that vanishes would look like one that is well.
    const placeholder = { id: idIn(item), type: 'monitor', order: 0 };
    const component = parseItem(ComponentSchema, item, place, problems) ?? ComponentSchema.safeParse(placeholder).data;
    return component === undefined ? [] : projectComponent(component, { ...page, place });
  });
  return uniqueById(components, problems);
}

function projectComponent(item: Component, { upstreamId, place, problems }: Place): ComponentDefinition {
  const word = stripPrefix(item.type, 'PAGE_COMPONENT_TYPE_');
  const isStatic = word === 'static';
  if (!isStatic && word !== 'monitor') problems.push(unknownWord(`${place}.type`, item.type));
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
