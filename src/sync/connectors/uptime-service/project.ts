/** What the uptime service's answers mean. */

import {
  type AccessType,
  type AffectedComponent,
  type ComponentDefinition,
  type GroupDefinition,
  type Incident,
  type IncidentImpact,
  type IncidentStatus,
  type Maintenance,
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  type PageDefinition,
  type Problem,
  type Theme,
  toMonitorId,
  type Update,
} from '../../../model/observation.ts';
import type { ReportedDay } from '../../../model/span.ts';
import { isWorse, type State } from '../../../model/state.ts';
import { type Day, type EpochMs, toEpochMs } from '../../../model/time.ts';
import { parseItems } from '../../connector.ts';
import {
  compareIds,
  FlagSchema,
  IdSchema,
  monitorsOf,
  type StateWords,
  stateOf,
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
  MaintenanceSchema,
  type Monitor,
  MonitorSchema,
  type MonitorSummary,
  type MonitorsAnswer,
  type Outage,
  OutageSchema,
  type Overview,
  type Page,
  type Report,
  ReportSchema,
  type ReportUpdate,
  UpdateSchema,
  wordOf,
} from './schema.ts';

const MONITOR_WORDS: StateWords = {
  active: 'operational',
  degraded: 'degraded',
  error: 'major_outage',
  unknown: 'unknown',
  unspecified: 'unknown',
};

const IMPACT_WORDS: StateWords = {
  operational: 'operational',
  degraded_performance: 'degraded',
  degraded: 'degraded',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
  // An open report that does not say how bad it is still says that something is wrong.
  unspecified: 'degraded',
};

const REPORT_WORDS: Readonly<Record<string, IncidentStatus>> = {
  investigating: 'investigating',
  identified: 'identified',
  monitoring: 'monitoring',
  resolved: 'resolved',
};

const ACCESS_WORDS: Readonly<Record<string, AccessType>> = {
  public: 'public',
  password: 'password',
  password_protected: 'password',
  'email-domain': 'email-domain',
  authenticated: 'email-domain',
  // There is no gate by address here, so nobody gets in.
  'ip-restriction': 'closed',
  ip_restricted: 'closed',
};

const THEME_WORDS: Readonly<Record<string, Theme>> = { system: 'system', light: 'light', dark: 'dark' };

/** Impact of an incident by the worst state of its components. */
const IMPACT_OF_STATE: Readonly<Record<State, IncidentImpact>> = {
  operational: 'none',
  degraded: 'minor',
  partial_outage: 'major',
  major_outage: 'critical',
  maintenance: 'none',
  paused: 'none',
  unknown: 'minor',
};

function lookUp<T>(words: Readonly<Record<string, T>>, word: unknown): T | undefined {
  return typeof word === 'string' && Object.hasOwn(words, word) ? words[word] : undefined;
}

/** Monitors of all kinds with their states, sorted by id; never throws. */
export function projectMonitors(
  answers: readonly MonitorsAnswer[],
  upstreamId: string,
): { monitors: MonitorObservation[]; problems: Problem[]; itemsTotal: number } {
  const lists = answers.flatMap((answer) => answer.lists);
  const read = lists.map(({ kind, place, items }) =>
    monitorsOf<Monitor>({
      place,
      items,
      schema: MonitorSchema,
      project: (item, at) => projectMonitor(item, at, { upstreamId, kind }),
      placeholder: (idThere, name) => ({
        id: toMonitorId(upstreamId, idThere),
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
  const isActive = FlagSchema.nullish().safeParse(item.active);
  if (!isActive.success) problems.push(unknownWord(`${place}.active`, item.active));
  // The service leaves the status out when it is not specified: that is an answer, not a word we do not know.
  const word = wordOf(item.status, 'MONITOR_STATUS_') ?? 'unspecified';
  const status = stateOf(MONITOR_WORDS, word, `${place}.status`);
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
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(page.slug)) {
    const problem: Problem = { kind: 'dropped', place: `${place}.slug`, message: 'cannot stand in an address' };
    return { page: null, problems: [problem], itemsTotal };
  }
  const access = projectAccess(page, place);
  const components = projectComponents(overview.components, { upstreamId, place });
  const groups = parseItems(GroupSchema, overview.groups, `${place}.groups`);
  const uniqueGroups = uniqueById(groups.items);
  const groupIds = new Set(uniqueGroups.items.map((group) => group.id));
  const placed = components.components.map((component) =>
    component.groupId !== null && !groupIds.has(component.groupId) ? { ...component, groupId: null } : component,
  );
  return {
    page: {
      id: `${upstreamId}/${page.id}`,
      slug: page.slug,
      title: page.title,
      description: page.description,
      homepageUrl: page.homepageUrl,
      contactUrl: page.contactUrl,
      icon: page.icon,
      customDomain: page.customDomain ?? null,
      ...access.access,
      theme: lookUp(THEME_WORDS, wordOf(page.theme, 'PAGE_THEME_')) ?? 'system',
      groups: placeGroups(uniqueGroups.items, placed),
      components: placed.toSorted((a, b) => a.order - b.order || compareIds(a.id, b.id)),
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
  const published = FlagSchema.nullish().safeParse(page.published);
  if (!published.success) problems.push({ kind: 'gate', place: `${place}.published`, message: 'not a yes or no' });
  return {
    access: {
      access: access ?? 'closed',
      emailDomains: isList ? (domains as string[]).map((domain) => domain.toLowerCase()).toSorted() : [],
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

/** Groups have no order of their own there: each stands where the first of its components does. */
function placeGroups(
  groups: readonly { id: string; name: string }[],
  components: readonly ComponentDefinition[],
): GroupDefinition[] {
  return groups
    .map((group) => ({
      ...group,
      order: Math.min(
        ...components.filter((component) => component.groupId === group.id).map((component) => component.order),
        Number.MAX_SAFE_INTEGER,
      ),
    }))
    .toSorted((a, b) => a.order - b.order || compareIds(a.id, b.id));
}

/** Where a component is: its page there, and its monitor if it has one. */
export interface ComponentPlace {
  readonly pageId: string;
  readonly monitor: MonitorId | null;
}

/** The components of all pages by their id there; ids are unique over pages. */
export function placesOf(pages: readonly PageDefinition[], upstreamId: string): ReadonlyMap<string, ComponentPlace> {
  return new Map(
    pages.flatMap((page) =>
      page.components.map((component) => [
        component.id,
        { pageId: page.id.slice(upstreamId.length + 1), monitor: component.monitor },
      ]),
    ),
  );
}

/** A report as it came, and the page whose answer it came in; null: it came without one. */
export interface ReportItem {
  readonly item: unknown;
  readonly pageId: string | null;
}

/** Reports as incidents, sorted by id; one that comes with several pages is published on all of them. Never throws. */
export function projectReports(
  reports: readonly ReportItem[],
  { upstreamId, places }: { upstreamId: string; places: ReadonlyMap<string, ComponentPlace> },
): { incidents: Incident[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const incidents = reports.flatMap(({ item, pageId }, index) => {
    const parsed = parseItems(ReportSchema, [item], 'statusReports');
    problems.push(
      ...parsed.problems.map((problem) => ({ ...problem, place: problem.place.replace('[0]', `[${index}]`) })),
    );
    return parsed.items.map((report) => projectReport(report, { upstreamId, places, pageId, problems }));
  });
  const merged = [...Map.groupBy(incidents, (incident) => incident.id).values()].flatMap((twins) => {
    const pages = [...new Set(twins.flatMap((twin) => twin.pages ?? []))].toSorted(compareIds);
    return twins.map((twin) => ({ ...twin, pages }));
  });
  const unique = uniqueById(merged);
  return { incidents: unique.items, problems: [...problems, ...unique.problems.filter(({ kind }) => kind !== 'note')] };
}

function projectReport(
  report: Report,
  facts: {
    upstreamId: string;
    places: ReadonlyMap<string, ComponentPlace>;
    pageId: string | null;
    problems: Problem[];
  },
): Incident {
  const { upstreamId, places, pageId, problems } = facts;
  const place = `statusReports.${report.id}`;
  const parsed = parseItems(UpdateSchema, report.updates, `${place}.updates`);
  problems.push(...parsed.problems);
  const updates = parsed.items.toSorted((a, b) => a.date - b.date || compareIds(a.id, b.id));
  const status = statusOf(report.status, place, problems);
  const affected = affectedComponents(report, updates, { place, problems });
  const startedAt = toEpochMs(Math.min(report.createdAt, ...updates.map((update) => update.date)));
  const lastResolved = updates.findLast((update) => wordOf(update.status, 'STATUS_REPORT_STATUS_') === 'resolved');
  const endedAt = status === 'resolved' ? (lastResolved?.date ?? report.updatedAt ?? report.createdAt) : null;
  const pageIds = new Set([...affected.keys()].flatMap((id) => places.get(id)?.pageId ?? []));
  if (pageId !== null) pageIds.add(pageId);
  const worst = [...affected.values()].reduce<State>(
    (worse, state) => (isWorse(state, worse) ? state : worse),
    'operational',
  );
  return {
    id: `${upstreamId}/report-${report.id}`,
    title: report.title,
    status,
    impact: affected.size === 0 ? 'minor' : IMPACT_OF_STATE[worst],
    startedAt,
    endedAt: endedAt === null ? null : toEpochMs(Math.max(endedAt, startedAt)),
    monitors: monitorsAt(affected.keys(), places),
    components: componentsAt(affected, { upstreamId, places, pageId }),
    pages: [...pageIds].toSorted(compareIds).map((id) => `${upstreamId}/${id}`),
    affectedState: null,
    isOutage: false,
    updates: updates.map(
      (update): Update => ({
        id: update.id,
        at: update.date,
        status: lookUp(REPORT_WORDS, wordOf(update.status, 'STATUS_REPORT_STATUS_')) ?? null,
        body: update.message ?? '',
      }),
    ),
  };
}

/** An unknown word counts as open: a report must not end because of a word. */
function statusOf(value: unknown, place: string, problems: Problem[]): IncidentStatus {
  const status = lookUp(REPORT_WORDS, wordOf(value, 'STATUS_REPORT_STATUS_'));
  if (status === undefined) problems.push(unknownWord(`${place}.status`, value));
  return status ?? 'investigating';
}

/** Each component the report is about, in the state that the newest update naming it gave. */
function affectedComponents(
  report: Report,
  updates: readonly ReportUpdate[],
  { place, problems }: { place: string; problems: Problem[] },
): ReadonlyMap<string, State> {
  const affected = new Map<string, State>((report.pageComponentIds ?? []).map((id) => [id, 'degraded']));
  for (const update of updates)
    for (const { pageComponentId, impact } of update.componentImpacts) {
      const word = wordOf(impact, 'PAGE_COMPONENT_IMPACT_') ?? 'unspecified';
      const { state, problems: unknown } = stateOf(IMPACT_WORDS, word, `${place}.updates.${update.id}.impact`);
      problems.push(...unknown);
      affected.set(pageComponentId, state);
    }
  return affected;
}

function monitorsAt(ids: Iterable<string>, places: ReadonlyMap<string, ComponentPlace>): MonitorId[] {
  return [...new Set([...ids].flatMap((id) => places.get(id)?.monitor ?? []))].toSorted(compareIds);
}

function componentsAt(
  affected: ReadonlyMap<string, State>,
  {
    upstreamId,
    places,
    pageId,
  }: { upstreamId: string; places: ReadonlyMap<string, ComponentPlace>; pageId: string | null },
): AffectedComponent[] {
  return [...affected]
    .flatMap(([id, state]) => {
      const page = places.get(id)?.pageId ?? pageId;
      return page === null ? [] : [{ id: `${upstreamId}/${page}/${id}`, state }];
    })
    .toSorted((a, b) => compareIds(a.id, b.id));
}

/** Maintenances of one page, sorted by id. Never throws. */
export function projectMaintenances(
  items: readonly unknown[],
  { upstreamId, pageId, places }: { upstreamId: string; pageId: string; places: ReadonlyMap<string, ComponentPlace> },
): { maintenances: Maintenance[]; problems: Problem[] } {
  const parsed = parseItems(MaintenanceSchema, items, `pages.${pageId}.maintenances`);
  const problems = [...parsed.problems];
  const maintenances = parsed.items.flatMap((item): Maintenance[] => {
    if (item.to <= item.from) {
      problems.push({ kind: 'dropped', place: `maintenances.${item.id}`, message: 'ends before it starts' });
      return [];
    }
    const ids = (item.pageComponentIds ?? []).toSorted(compareIds);
    return [
      {
        id: `${upstreamId}/maintenance-${item.id}`,
        title: item.title,
        startsAt: item.from,
        endsAt: item.to,
        monitors: monitorsAt(ids, places),
        components: ids.map((id) => `${upstreamId}/${places.get(id)?.pageId ?? pageId}/${id}`),
        pages: [`${upstreamId}/${pageId}`],
        updates:
          item.message === null
            ? []
            : [{ id: 'message', at: item.createdAt ?? item.from, status: null, body: item.message }],
      },
    ];
  });
  const unique = uniqueById(maintenances);
  return { maintenances: unique.items, problems: [...problems, ...unique.problems] };
}

/** The failed checks that the service recorded, as outages, sorted by id. Never throws. */
export function projectOutages(
  items: readonly unknown[],
  { upstreamId, monitors }: { upstreamId: string; monitors: readonly MonitorObservation[] },
): { incidents: Incident[]; problems: Problem[] } {
  const names = new Map(monitors.map((monitor) => [monitor.id, monitor.name]));
  const parsed = parseItems(OutageSchema, items, 'incidents');
  const incidents = parsed.items.map((item: Outage): Incident => {
    const monitor = toMonitorId(upstreamId, item.monitorId);
    const endedAt = item.resolvedAt ?? null;
    return {
      id: `${upstreamId}/incident-${item.id}`,
      title: names.get(monitor) ?? `Monitor ${item.monitorId}`,
      status: endedAt === null ? 'investigating' : 'resolved',
      impact: 'critical',
      startedAt: item.startedAt,
      endedAt: endedAt === null ? null : toEpochMs(Math.max(endedAt, item.startedAt)),
      monitors: [monitor],
      components: [],
      pages: null,
      affectedState: 'major_outage',
      isOutage: true,
      updates: [],
    };
  });
  const unique = uniqueById(incidents);
  return { incidents: unique.items, problems: [...parsed.problems, ...unique.problems] };
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
  idThere: string,
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
    id: toMonitorId(facts.upstreamId, idThere),
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
