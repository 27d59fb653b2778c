/** What monitors, pages and figures of the uptime service mean. */

import { statedAccess } from '../../../model/access.ts';
import {
  type ComponentDefinition,
  type MonitorDetail,
  type MonitorObservation,
  type PageDefinition,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/span.ts';
import type { State } from '../../../model/state.ts';
import type { Day, EpochMs } from '../../../model/time.ts';
import { parseItems } from '../../connector.ts';
import {
  ACCESS_WORDS,
  lookUp,
  MONITOR_WORDS,
  placeComponents,
  placeGroups,
  THEME_WORDS,
  toSlug,
} from '../page-words.ts';
import {
  FlagSchema,
  IdSchema,
  projectMonitorList,
  stateFromWord,
  uniqueById,
  uniqueMonitors,
  unknownWord,
} from '../wire.ts';
import {
  type Component,
  ComponentDaysSchema,
  ComponentSchema,
  DayBucketSchema,
  GroupSchema,
  type Monitor,
  MonitorSchema,
  type MonitorSummary,
  type MonitorsAnswer,
  type Overview,
  type Page,
  wordOf,
} from './schema.ts';

/** Monitors of all kinds with their states, sorted by id; never throws. */
export function projectMonitors(
  answers: readonly MonitorsAnswer[],
  upstreamId: string,
): { monitors: MonitorObservation[]; problems: Problem[]; itemsTotal: number } {
  const lists = answers.flatMap((answer) => answer.lists);
  const read = lists.map(({ kind, place, items }) =>
    projectMonitorList<Monitor>({
      place,
      items,
      schema: MonitorSchema,
      project: (item, at) => projectMonitor(item, at, { upstreamId, kind }),
      placeholder: (externalId, name) => ({
        id: toMonitorId(upstreamId, externalId),
        name,
        description: null,
        kind,
        target: null,
        state: 'unknown',
        isPublic: false,
        createdAt: null,
      }),
    }),
  );
  const unique = uniqueMonitors(read.flatMap((list) => list.monitors));
  return {
    monitors: unique.monitors,
    problems: [...read.flatMap((list) => list.problems), ...unique.problems],
    itemsTotal: lists.reduce((total, list) => total + list.items.length, 0),
  };
}

function projectMonitor(
  item: Monitor,
  place: string,
  { upstreamId, kind }: { upstreamId: string; kind: string },
): { monitor: MonitorObservation; problems: Problem[] } {
  const problems: Problem[] = [];
  const isPublic = FlagSchema.nullish().safeParse(item.public);
  if (!isPublic.success) problems.push({ kind: 'gate', place: `${place}.public`, message: 'not a yes or no' });
  const isActive = FlagSchema.optional().safeParse(item.active);
  if (!isActive.success) problems.push(unknownWord(`${place}.active`, item.active));
  // The service leaves the status out when it is not specified: that is an answer, not a word we do not know.
  const word = wordOf(item.status, 'MONITOR_STATUS_') ?? 'unspecified';
  const status = stateFromWord(MONITOR_WORDS, word, `${place}.status`);
  const state: State = !isActive.success ? 'unknown' : isActive.data === false ? 'paused' : status.state;
  return {
    monitor: {
      id: toMonitorId(upstreamId, item.id),
      name: item.name,
      description: item.description,
      kind,
      target: item.url ?? item.uri,
      state,
      isPublic: isPublic.success && isPublic.data === true,
      createdAt: null,
    },
    problems: [...problems, ...status.problems],
  };
}

/** A status page with its groups and components; null when its slug could not stand in an address. Never throws. */
export function projectPage(
  overview: Overview,
  upstreamId: string,
): { page: PageDefinition | null; problems: Problem[]; itemsTotal: number } {
  const { statusPage: page } = overview;
  const place = `pages.${page.id}`;
  const itemsTotal = 1 + overview.components.length + overview.groups.length;
  const slug = toSlug(page.slug);
  if (slug === null) {
    const problem: Problem = { kind: 'dropped', place: `${place}.slug`, message: 'cannot stand in an address' };
    return { page: null, problems: [problem], itemsTotal };
  }
  const access = projectAccess(page, place);
  const components = projectComponents(overview.components, { upstreamId, place });
  const groups = parseItems(GroupSchema, overview.groups, `${place}.groups`);
  const uniqueGroups = uniqueById(groups.items);
  const placed = placeComponents(components.components, uniqueGroups.items);
  return {
    page: {
      id: `${upstreamId}/${page.id}`,
      slug,
      title: page.title,
      description: page.description,
      homepageUrl: page.homepageUrl,
      contactUrl: page.contactUrl,
      icon: page.icon,
      customDomain: page.customDomain,
      ...access.access,
      theme: lookUp(THEME_WORDS, wordOf(page.theme, 'PAGE_THEME_')) ?? 'system',
      groups: placeGroups(uniqueGroups.items, placed),
      components: placed,
    },
    problems: [...access.problems, ...components.problems, ...groups.problems, ...uniqueGroups.problems],
    itemsTotal,
  };
}

function projectAccess(
  page: Page,
  place: string,
): { access: Pick<PageDefinition, 'access' | 'emailDomains' | 'published'>; problems: Problem[] } {
  const problems: Problem[] = [];
  const word = wordOf(page.accessType, 'PAGE_ACCESS_TYPE_');
  const access = lookUp(ACCESS_WORDS, word);
  if (access === undefined)
    problems.push(
      typeof word === 'string' || word === undefined || word === null
        ? unknownWord(`${place}.accessType`, word)
        : { kind: 'gate', place: `${place}.accessType`, message: 'not a word' },
    );
  const domains = page.authEmailDomains ?? [];
  const isList = Array.isArray(domains) && domains.every((domain) => typeof domain === 'string');
  if (!isList) problems.push({ kind: 'gate', place: `${place}.authEmailDomains`, message: 'not a list of domains' });
  const emailDomains = isList ? (domains as string[]).map((domain) => domain.toLowerCase()).toSorted() : [];
  const stated = statedAccess({
    type: access ?? 'closed',
    hasPassword: page.hasPassword,
    hasEmailDomains: emailDomains.length > 0,
  });
  const published = FlagSchema.nullish().safeParse(page.published);
  if (!published.success) problems.push({ kind: 'gate', place: `${place}.published`, message: 'not a yes or no' });
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
    const parsed = ComponentSchema.safeParse(item);
    if (parsed.success) return projectComponent(parsed.data, { upstreamId, at, problems });
    problems.push({ kind: 'dropped', place: at, message: parsed.error.issues[0]?.message ?? 'unreadable' });
    const id = IdSchema.safeParse((item as { id?: unknown } | null)?.id);
    // It stays on the page as unknown: a component that vanishes would look like one that is well.
    return id.success
      ? projectComponent(ComponentSchema.parse({ id: id.data, type: 'monitor', order: 0 }), {
          upstreamId,
          at,
          problems,
        })
      : [];
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
        problems.push({ kind: 'note', place: `${place}.${day}`, message: 'its counts do not add up' });
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
  return {
    id: toMonitorId(facts.upstreamId, externalId),
    fetchedAt: facts.fetchedAt,
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
    responseTimes: [],
    reportedSpans: [],
    reportedDays: facts.days,
  };
}
