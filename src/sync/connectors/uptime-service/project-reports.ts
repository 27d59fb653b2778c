/** What reports of the uptime service mean. */

import type { Incident, IncidentImpact, IncidentStatus, Problem, Update } from '../../../model/observation.ts';
import { isWorse, type State } from '../../../model/state.ts';
import { toEpochMs } from '../../../model/time.ts';
import { compareIds, parseItem, parseItems, uniqueById } from '../items.ts';
import { lookUp } from '../page-words.ts';
import { type StateWords, stateFromWord, unknownWord } from '../wire.ts';
import { type ComponentPlace, componentsAt, monitorsAt } from './project-posts.ts';
import { type Report, ReportSchema, type ReportUpdate, UpdateSchema, wordOf } from './schema.ts';

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
    const parsed = parseItem(ReportSchema, item, `statusReports[${index}]`);
    if ('item' in parsed) return projectReport(parsed.item, { upstreamId, places, pageId, problems });
    problems.push(parsed.problem);
    return [];
  });
  const merged = [...Map.groupBy(incidents, (incident) => incident.id).values()].flatMap((variants) => {
    const pages = [...new Set(variants.flatMap((variant) => variant.pages ?? []))].toSorted(compareIds);
    return variants.map((variant) => ({ ...variant, pages }));
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
  const status = parseStatus(report.status, place, problems);
  const affected = affectedComponents(report, updates, { place, problems });
  const startedAt = toEpochMs(Math.min(report.createdAt, ...updates.map((update) => update.date)));
  const lastResolved = updates.findLast((update) => wordOf(update.status, 'STATUS_REPORT_STATUS_') === 'resolved');
  const endedAt = status === 'resolved' ? (lastResolved?.date ?? report.updatedAt ?? report.createdAt) : null;
  const pageIds = new Set([...affected.atFirst.keys()].flatMap((id) => places.get(id)?.pageId ?? []));
  if (pageId !== null) pageIds.add(pageId);
  return {
    id: `${upstreamId}/report-${report.id}`,
    title: report.title,
    status,
    impact: worstImpact(affected),
    startedAt,
    endedAt: endedAt === null ? null : toEpochMs(Math.max(endedAt, startedAt)),
    monitors: monitorsAt(affected.atFirst.keys(), places),
    components: componentsAt(affected.atFirst, { upstreamId, places, pageId }),
    pages: [...pageIds].toSorted(compareIds).map((id) => `${upstreamId}/${id}`),
    affectedState: null,
    isOutage: false,
    updates: updates.map((update, index): Update => {
      const said = affected.said[index] ?? null;
      return {
        id: update.id,
        at: update.date,
        status: lookUp(REPORT_WORDS, wordOf(update.status, 'STATUS_REPORT_STATUS_')) ?? null,
        body: update.message ?? '',
        ...(said === null ? {} : { impacts: componentsAt(said, { upstreamId, places, pageId }) }),
      };
    }),
    // Ids are given again once the newest report is deleted.
    bornAt: report.createdAt,
  };
}

/** By the worst that it ever said of a component. */
function worstImpact({ atFirst, said }: Affected): IncidentImpact {
  if (atFirst.size === 0) return 'minor';
  const ever = said.flatMap((states) => [...(states?.values() ?? [])]);
  const states = ever.length === 0 ? (['degraded'] as const) : ever;
  return IMPACT_OF_STATE[
    states.reduce<State>((worst, state) => (isWorse(state, worst) ? state : worst), 'operational')
  ];
}

/** An unknown word counts as open: a report must not end because of a word. */
function parseStatus(value: unknown, place: string, problems: Problem[]): IncidentStatus {
  const status = lookUp(REPORT_WORDS, wordOf(value, 'STATUS_REPORT_STATUS_'));
  if (status === undefined) problems.push(unknownWord(`${place}.status`, value));
  return status ?? 'investigating';
}

/** What a report says of components. */
interface Affected {
  /** Those it is about, in the state that they are in while no update says anything of any; null: in none. */
  readonly atFirst: ReadonlyMap<string, State | null>;
  /** What each update says, in their order; null: nothing. */
  readonly said: readonly (ReadonlyMap<string, State> | null)[];
}

/**
 * A component that the report is about and that no update names is degraded: somebody says that something is wrong with
 * it. So the first update that names any says it of those as well.
 */
function affectedComponents(
  report: Report,
  updates: readonly ReportUpdate[],
  { place, problems }: { place: string; problems: Problem[] },
): Affected {
  const said = updates.map(({ id, componentImpacts }) => {
    const states = componentImpacts.map(({ pageComponentId, impact }): [string, State] => {
      const word = wordOf(impact, 'PAGE_COMPONENT_IMPACT_') ?? 'unspecified';
      const { state, problems: unknown } = stateFromWord(IMPACT_WORDS, word, `${place}.updates.${id}.impact`);
      problems.push(...unknown);
      return [pageComponentId, state];
    });
    return states.length === 0 ? null : new Map(states);
  });
  const named = new Set(said.flatMap((states) => [...(states?.keys() ?? [])]));
  const about = report.pageComponentIds ?? [];
  const first = said.find((states) => states !== null);
  for (const id of about) if (!named.has(id)) first?.set(id, 'degraded');
  const alone = [...named].filter((id) => !about.includes(id));
  return {
    atFirst: new Map([...about.map((id) => [id, 'degraded'] as const), ...alone.map((id) => [id, null] as const)]),
    said,
  };
}
