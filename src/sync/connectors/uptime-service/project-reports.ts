/** What people wrote and what the service recorded: reports as incidents, with what each update says of components; maintenances; outages. */

import {
  type AffectedComponent,
  type Incident,
  type IncidentImpact,
  type IncidentStatus,
  type Maintenance,
  type MonitorId,
  type MonitorObservation,
  type PageDefinition,
  type Problem,
  toMonitorId,
  type Update,
} from '../../../model/observation.ts';
import { isWorse, type State } from '../../../model/state.ts';
import { later } from '../../../model/time.ts';
import { createIncident } from '../entries.ts';
import { compareIds, parseItem, parseItems, uniqueById, uniqueOverlapping } from '../items.ts';
import { lookUp, type StateWords, stateFromWord, unknownWord } from '../wire.ts';
import {
  MaintenanceSchema,
  OutageSchema,
  type Report,
  ReportSchema,
  type ReportUpdate,
  stripPrefix,
  UpdateSchema,
} from './schema.ts';

export const IMPACT_WORDS: StateWords = {
  operational: 'operational',
  degraded_performance: 'degraded',
  degraded: 'degraded',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
  // An open report that does not say how bad it is still says that something is wrong.
  unspecified: 'degraded',
};

export const REPORT_WORDS: Readonly<Record<string, IncidentStatus>> = {
  investigating: 'investigating',
  identified: 'identified',
  monitoring: 'monitoring',
  resolved: 'resolved',
};

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

/** Where a component is: its page there, and its monitor if it has one. */
interface ComponentPlace {
  readonly pageId: string;
  readonly monitor: MonitorId | null;
}

/** The components of all pages by their id there; ids are unique over pages. */
export type Places = ReadonlyMap<string, ComponentPlace>;

export function componentPlaces(pages: readonly PageDefinition[], upstreamId: string): Places {
  const placesOn = (page: PageDefinition): [string, ComponentPlace][] => {
    const pageId = page.id.slice(upstreamId.length + 1);
    return page.components.map(({ id, monitor }) => [id, { pageId, monitor }]);
  };
  return new Map(pages.flatMap(placesOn));
}

/** A report as it came, and the page whose answer it came in; null: it came without one. */
export interface ReportItem {
  readonly item: unknown;
  readonly pageId: string | null;
}

/** Reports as incidents, sorted by id; one that comes with several pages is published on all of them. Never throws. */
export function projectReports(reports: readonly ReportItem[], facts: Facts): Incident[] {
  const { problems } = facts;
  const incidents = reports.flatMap(({ item, pageId }, index) => {
    const report = parseItem(ReportSchema, item, `statusReports[${index}]`, problems);
    return report === undefined ? [] : projectReport(report, { ...facts, pageId });
  });
  const merged = [...Map.groupBy(incidents, (incident) => incident.id).values()].flatMap((variants) => {
    const pages = [...new Set(variants.flatMap((variant) => variant.pages ?? []))].toSorted(compareIds);
    return variants.map((variant) => ({ ...variant, pages }));
  });
  return uniqueOverlapping(merged, problems);
}

interface Facts {
  readonly upstreamId: string;
  readonly places: Places;
  readonly problems: Problem[];
}
type ReportFacts = Facts & Pick<ReportItem, 'pageId'>;

function projectReport(report: Report, facts: ReportFacts): Incident {
  const { upstreamId, places, pageId, problems } = facts;
  const place = `statusReports.${report.id}`;
  const updates = parseItems(UpdateSchema, report.updates, `${place}.updates`, problems);
  const byId = new Map(updates.map((item) => [item.id, item]));
  const items = [...byId.values()].sort((a, b) => a.date - b.date || compareIds(a.id, b.id));
  const known = toStatus(report);
  if (known === undefined) problems.push(unknownWord(`${place}.status`, report.status));
  // An unknown word counts as open: a report must not end because of a word.
  const status = known ?? 'investigating';
  const { impacts, affected } = readImpacts(report, items, place, problems);
  const startedAt = items[0]?.date ?? report.createdAt;
  const endedAt = status === 'resolved' ? (items.at(-1)?.date ?? report.updatedAt ?? report.createdAt) : null;
  const pageIds = new Set([...affected.keys()].flatMap((id) => places.get(id)?.pageId ?? []));
  if (pageId !== null) pageIds.add(pageId);
  const toComponents = (states: ReadonlyMap<string, State | null>) => componentsAt(states, facts);
  return createIncident({
    id: `${upstreamId}/report-${report.id}`,
    title: report.title,
    status,
    impact: affected.size === 0 ? 'minor' : IMPACT_OF_STATE[worstState(affected.values())],
    startedAt,
    endedAt: endedAt === null ? null : later(endedAt, startedAt),
    monitors: monitorsAt(affected.keys(), places),
    components: toComponents(impacts === null ? affected : new Map([...affected.keys()].map((id) => [id, null]))),
    pages: [...pageIds].toSorted(compareIds).map((id) => `${upstreamId}/${id}`),
    updates: items.map((update, index): Update => {
      const word = toStatus(update);
      // Its page flags nothing any more once people only watch, whatever they said before.
      const isOver =
        index === items.length - 1 && status !== 'resolved' && (word === 'monitoring' || word === 'resolved');
      const states = isOver
        ? new Map([...affected.keys()].map((id) => [id, 'operational' as const]))
        : (impacts?.get(update.id) ?? new Map<string, State>());
      return {
        id: update.id,
        at: update.date,
        status: word ?? null,
        body: update.message ?? '',
        ...(states.size === 0 ? {} : { impacts: toComponents(states) }),
      };
    }),
    bornAt: report.createdAt,
  });
}

function toStatus({ status }: Pick<Report | ReportUpdate, 'status'>): IncidentStatus | undefined {
  return lookUp(REPORT_WORDS, stripPrefix(status, 'STATUS_REPORT_STATUS_'));
}

/**
 * What each update says of components, by the update's id; null: none says anything, as in reports from before there
 * were impacts, and all that they are about is degraded. `affected` holds the worst that was said of each component.
 */
function readImpacts(
  report: Report,
  updates: readonly ReportUpdate[],
  place: string,
  problems: Problem[],
): { impacts: ReadonlyMap<string, ReadonlyMap<string, State>> | null; affected: ReadonlyMap<string, State> } {
  const impacts = new Map<string, Map<string, State>>();
  for (const update of updates)
    for (const { pageComponentId, impact } of update.componentImpacts) {
      const word = stripPrefix(impact, 'PAGE_COMPONENT_IMPACT_') ?? 'unspecified';
      const state = stateFromWord(IMPACT_WORDS, word, `${place}.updates.${update.id}.impact`, problems);
      impacts.getOrInsertComputed(update.id, () => new Map()).set(pageComponentId, state);
    }
  const ids = report.pageComponentIds ?? [];
  if (impacts.size === 0) return { impacts: null, affected: new Map(ids.map((id) => [id, 'degraded'])) };
  const affected = new Map<string, State>(ids.map((id) => [id, 'operational']));
  for (const impact of impacts.values())
    for (const [id, state] of impact) affected.set(id, worstState([affected.get(id) ?? 'operational', state]));
  return { impacts, affected };
}

function worstState(states: Iterable<State>): State {
  return [...states].reduce<State>((worse, state) => (isWorse(state, worse) ? state : worse), 'operational');
}

/** The monitors behind components, sorted. */
function monitorsAt(ids: Iterable<string>, places: Places): MonitorId[] {
  return [...new Set([...ids].flatMap((id) => places.get(id)?.monitor ?? []))].toSorted(compareIds);
}

function componentsAt(
  affected: ReadonlyMap<string, State | null>,
  { upstreamId, places, pageId }: ReportFacts,
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
  pageId: string,
  { upstreamId, places, problems }: Facts,
): Maintenance[] {
  const parsed = parseItems(MaintenanceSchema, items, `pages.${pageId}.maintenances`, problems);
  const maintenances = parsed.flatMap((item): Maintenance | [] => {
    if (item.to <= item.from) {
      problems.push({ kind: 'dropped', place: `maintenances.${item.id}`, message: 'ends before it starts' });
      return [];
    }
    const ids = (item.pageComponentIds ?? []).toSorted(compareIds);
    return {
      id: `${upstreamId}/maintenance-${item.id}`,
      title: item.title,
      startsAt: item.from,
      endsAt: item.to,
      monitors: monitorsAt(ids, places),
      components: ids.map((id) => `${upstreamId}/${places.get(id)?.pageId ?? pageId}/${id}`),
      pages: [`${upstreamId}/${pageId}`],
      updates: [],
      ...(item.message === null ? {} : { body: item.message }),
      ...(item.createdAt == null ? {} : { bornAt: item.createdAt }),
    };
  });
  return uniqueById(maintenances, problems);
}

/** The failed checks that the service recorded, as outages, sorted by id. Never throws. */
export function projectOutages(
  items: readonly unknown[],
  { upstreamId, monitors }: { upstreamId: string; monitors: readonly MonitorObservation[] },
  problems: Problem[],
): Incident[] {
  const names = new Map(monitors.map((monitor) => [monitor.id, monitor.name]));
  const incidents = parseItems(OutageSchema, items, 'incidents', problems).map((item): Incident => {
    const monitor = item.monitorId == null ? null : toMonitorId(upstreamId, item.monitorId);
    const endedAt = item.resolvedAt ?? null;
    return createIncident({
      id: `${upstreamId}/incident-${item.id}`,
      title: (monitor === null ? null : names.get(monitor)) ?? `Monitor ${item.monitorId ?? item.id}`,
      impact: 'critical',
      startedAt: item.startedAt,
      endedAt: endedAt === null ? null : later(endedAt, item.startedAt),
      monitors: monitor === null ? [] : [monitor],
      affectedState: 'major_outage',
      isOutage: true,
      bornAt: item.startedAt,
    });
  });
  return uniqueById(incidents, problems);
}
