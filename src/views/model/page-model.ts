/** Everything known about one status page, from what is remembered and what defines it. */

import type {
  Announcement,
  ComponentDefinition,
  Incident,
  Maintenance,
  MonitorId,
  MonitorObservation,
  PageDefinition,
} from '../../model/observation.ts';
import { upstreamOf } from '../../model/observation.ts';
import type {
  ComponentModel,
  MaintenanceStatus,
  PageIncident,
  PageMaintenance,
  PageModel,
  PageSettings,
  SourceFreshness,
} from '../../model/page.ts';
import { type MonitorPast, reportedSpans } from '../../model/reported.ts';
import type { Span, TimelineSpan } from '../../model/span.ts';
import { combinedState, type State, worse } from '../../model/state.ts';
import { DAY_MS, type EpochMs, type Interval, toEpochMs } from '../../model/time.ts';
import { timelineOf } from '../../model/timeline.ts';
import { HEARTBEAT_MS } from './heartbeat.ts';

/** As far back as a page looks: a year for its calendar and some slack. */
export const HISTORY_DAYS = 400;

export interface PageInputs {
  readonly definition: PageDefinition;
  readonly settings: PageSettings;
  readonly monitors: ReadonlyMap<MonitorId, MonitorObservation>;
  readonly pasts: ReadonlyMap<MonitorId, MonitorPast>;
  readonly incidents: readonly Incident[];
  readonly maintenances: readonly Maintenance[];
  readonly announcements: readonly Announcement[];
  /** Of every upstream; those the page does not draw on are left out of its model. */
  readonly sources: readonly SourceFreshness[];
  readonly asOf: EpochMs;
}

/** The model of one page. Pure: the same inputs give the same model. */
export function pageModel(inputs: PageInputs): PageModel {
  const { definition, settings, asOf } = inputs;
  const sources = relevantSources(inputs);
  const incidents = incidentsOf(inputs);
  const maintenances = pageMaintenances(inputs);
  const groups = definition.groups.toSorted((a, b) => a.order - b.order || compare(a.name, b.name));
  const groupRank = new Map(groups.map((group, index) => [group.id, index]));
  const rankOf = (component: ComponentDefinition): readonly number[] =>
    component.groupId === null || !groupRank.has(component.groupId)
      ? [-1, component.order, 0]
      : [groupRank.get(component.groupId) ?? 0, component.groupOrder, component.order];
  const components = definition.components
    .toSorted((a, b) => compareAll(rankOf(a), rankOf(b)) || compare(a.id, b.id))
    .map((component) => componentModel(component, { inputs, sources, incidents, maintenances }));
  const isStale = sources.some((source) => source.isMonitorsStale || source.isIncidentsStale);
  const times = sources.map((source) => source.monitorsAt);
  const intervalMs = Math.max(0, ...sources.map((source) => source.intervalMs));
  return {
    definition,
    settings,
    state: combinedState(components.map((component) => component.state)),
    groups,
    components,
    incidents,
    maintenances,
    announcements: inputs.announcements.filter(
      (item) =>
        (item.pages === null || item.pages.includes(definition.slug)) &&
        item.from <= asOf &&
        (item.to === null || item.to > asOf),
    ),
    sources,
    asOf,
    staleAfter: toEpochMs(asOf + HEARTBEAT_MS + 2 * intervalMs),
    dataFrom: times.reduce<EpochMs | null>(
      (oldest, at) => (oldest === null || at === null ? null : toEpochMs(Math.min(oldest, at))),
      asOf,
    ),
    isStale,
  };
}

/** The upstreams a page draws on, their instants no newer than `asOf`, so that a pass without news changes no file. */
function relevantSources({ definition, sources, asOf }: PageInputs): readonly SourceFreshness[] {
  const used = new Set(
    definition.components.flatMap((component) => (component.monitor === null ? [] : [upstreamOf(component.monitor)])),
  );
  const [definedBy] = definition.id.split('/');
  if (definedBy !== undefined) used.add(definedBy);
  const capped = (at: EpochMs | null): EpochMs | null => (at === null ? null : toEpochMs(Math.min(at, asOf)));
  return sources
    .filter((source) => used.has(source.upstreamId))
    .map((source) => ({ ...source, monitorsAt: capped(source.monitorsAt), incidentsAt: capped(source.incidentsAt) }))
    .toSorted((a, b) => compare(a.upstreamId, b.upstreamId));
}

interface ComponentContext {
  readonly inputs: PageInputs;
  readonly sources: readonly SourceFreshness[];
  readonly incidents: readonly PageIncident[];
  readonly maintenances: readonly PageMaintenance[];
}

function componentModel(definition: ComponentDefinition, context: ComponentContext): ComponentModel {
  const { inputs, sources, incidents, maintenances } = context;
  const monitor = definition.monitor === null ? undefined : inputs.monitors.get(definition.monitor);
  const source =
    definition.monitor === null
      ? undefined
      : sources.find((item) => item.upstreamId === upstreamOf(definition.monitor as MonitorId));
  const isStale =
    definition.monitor === null ? sources.some((item) => item.isIncidentsStale) : source?.isMonitorsStale !== false;
  const mine = incidents.filter((incident) => incident.componentIds.includes(definition.id));
  const windows = maintenances.filter((item) => item.componentIds.includes(definition.id));
  const past = definition.monitor === null ? undefined : inputs.pasts.get(definition.monitor);
  return {
    definition,
    name: definition.name ?? monitor?.name ?? definition.monitor ?? definition.id,
    description: definition.description ?? monitor?.description ?? null,
    target: inputs.settings.showTargets ? (monitor?.target ?? null) : null,
    state: stateNow({ definition, monitorState: monitor?.state ?? null, isStale, mine, windows }, inputs),
    isStale,
    timeline: timelineOfComponent({ past, source, mine, windows }, inputs.asOf),
    responseTimes: past?.responseTimes ?? [],
    upstreamUptime: past?.uptime ?? null,
  };
}

interface StateFacts {
  readonly definition: ComponentDefinition;
  readonly monitorState: State | null;
  readonly isStale: boolean;
  readonly mine: readonly PageIncident[];
  readonly windows: readonly PageMaintenance[];
}

/**
 * The state of a component now. A running maintenance of it comes first; a known open incident counts even while its
 * monitor is not heard from, since `unknown` never hides a known outage. A static component has nothing but incidents.
 */
function stateNow(
  { definition, monitorState, isStale, mine, windows }: StateFacts,
  { definition: page, asOf }: PageInputs,
): State {
  if (windows.some((item) => item.startsAt <= asOf && asOf < item.endsAt)) return 'maintenance';
  const watched: State = isStale
    ? 'unknown'
    : definition.type === 'static'
      ? 'operational'
      : (monitorState ?? 'unknown');
  const said = mine
    .filter((incident) => incident.startedAt <= asOf && (incident.endedAt === null || asOf < incident.endedAt))
    .map(
      (incident) =>
        incident.components.find((item) => item.id === `${page.id}/${definition.id}`)?.state ?? incident.affectedState,
    );
  return said.filter((state) => state !== null).reduce<State>(worse, watched);
}

function timelineOfComponent(
  {
    past,
    source,
    mine,
    windows,
  }: {
    past: MonitorPast | undefined;
    source: SourceFreshness | undefined;
    mine: readonly PageIncident[];
    windows: readonly PageMaintenance[];
  },
  asOf: EpochMs,
): readonly TimelineSpan[] {
  const outages = mine
    .filter((incident) => incident.isOutage)
    .map((incident): Interval => ({ from: incident.startedAt, to: incident.endedAt ?? asOf }));
  const observed = heldUntil(past?.observed ?? [], source, asOf);
  const reported = reportedSpans(
    { observed, reported: past?.reported ?? [], reportedDays: past?.reportedDays ?? [] },
    asOf,
  );
  const first = [observed[0]?.from, reported[0]?.from, ...outages.map((item) => item.from)].filter(
    (at) => at !== undefined,
  );
  const from = toEpochMs(Math.max(asOf - HISTORY_DAYS * DAY_MS, Math.min(asOf, ...first)));
  return timelineOf(
    { observed, reported, outages, maintenances: windows.map((item) => ({ from: item.startsAt, to: item.endsAt })) },
    { from, to: asOf },
  );
}

/** A state heard in time holds until the next answer is due: without this, every page would end in a sliver of unknown. */
function heldUntil(observed: readonly Span[], source: SourceFreshness | undefined, asOf: EpochMs): readonly Span[] {
  const last = observed.at(-1);
  if (last === undefined || source === undefined || source.isMonitorsStale || source.monitorsAt === null)
    return observed;
  if (last.to < source.monitorsAt || last.to >= asOf) return observed;
  return [...observed.slice(0, -1), { ...last, to: asOf }];
}

function incidentsOf(inputs: PageInputs): readonly PageIncident[] {
  const slugs = slugger();
  return inputs.incidents
    .filter((incident) => incident.startedAt <= inputs.asOf)
    .toSorted((a, b) => b.startedAt - a.startedAt || compare(a.id, b.id))
    .flatMap((incident) => {
      const componentIds = affected(
        inputs,
        incident.monitors,
        incident.components.map((item) => item.id),
      );
      return isOn(inputs, incident.pages, componentIds)
        ? [{ ...incident, slug: slugs(incident.id), componentIds }]
        : [];
    });
}

function pageMaintenances(inputs: PageInputs): readonly PageMaintenance[] {
  const slugs = slugger();
  return inputs.maintenances
    .toSorted((a, b) => b.startsAt - a.startsAt || compare(a.id, b.id))
    .flatMap((item) => {
      const componentIds = affected(inputs, item.monitors, item.components);
      if (!isOn(inputs, item.pages, componentIds)) return [];
      return [{ ...item, slug: slugs(item.id), componentIds, status: maintenanceStatus(item, inputs.asOf) }];
    });
}

function maintenanceStatus(item: Maintenance, asOf: EpochMs): MaintenanceStatus {
  if (asOf < item.startsAt) return 'scheduled';
  return asOf < item.endsAt ? 'in_progress' : 'completed';
}

function affected(
  { definition }: PageInputs,
  monitors: readonly MonitorId[],
  components: readonly string[],
): readonly string[] {
  const monitorIds = new Set(monitors);
  const componentIds = new Set(components);
  return definition.components
    .filter(
      (component) =>
        (component.monitor !== null && monitorIds.has(component.monitor)) ||
        componentIds.has(`${definition.id}/${component.id}`),
    )
    .map((component) => component.id);
}

function isOn({ definition }: PageInputs, pages: readonly string[] | null, componentIds: readonly string[]): boolean {
  return pages === null ? componentIds.length > 0 : pages.includes(definition.id) || pages.includes(definition.slug);
}

/** Ids as parts of addresses: small letters, digits and `-`; two that become alike are told apart by a number. */
function slugger(): (id: string) => string {
  const taken = new Set<string>();
  return (id) => {
    const plain =
      id
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-+|-+$/g, '') || 'x';
    let slug = plain;
    for (let number = 2; taken.has(slug); number += 1) slug = `${plain}-${number}`;
    taken.add(slug);
    return slug;
  };
}

function compareAll(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
