/** What several files of a page are made from, each computed once and only when asked for. */

import {
  type Interval,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  toEpochMs,
} from '../../model/index.ts';
import { once } from '../../once.ts';
import { intervalOfMonth, monthOf, monthsOf } from '../../views/days/months.ts';
import { componentsWithNews, lastHeartbeat, modelAt } from '../../views/model/heartbeat.ts';
import { type ReportDocument, reportDocument } from '../../views/report/report-data.ts';
import { fingerprintOf } from '../fingerprint.ts';

export type PageEvent = PageIncident | PageMaintenance;

export interface PageFacts {
  readonly model: PageModel;
  /** The model as of the last heartbeat, for what only grows older. */
  readonly atHeartbeat: () => PageModel;
  /** Whether a component has another state, or word of an event of its own, since the last heartbeat. */
  readonly hasNews: (componentId: string) => boolean;
  /** Digest of what every file shows of the page, whatever it is about. */
  readonly frame: () => string;
  /** Months of the history and of the reports, newest first. */
  readonly months: () => readonly string[];
  readonly reportMonths: () => readonly string[];
  readonly reportOf: (month: string) => ReportDocument;
  /** Incidents and maintenances by the component that they are about, the month they begin in, the months they touch. */
  readonly eventsOf: (componentId: string) => readonly PageEvent[];
  readonly eventsIn: (month: string) => readonly PageEvent[];
  readonly eventsTouching: (month: string) => readonly PageEvent[];
  /** Digest of what a calendar says of incidents: titles, times, components. */
  readonly incidentHeads: () => string;
  /** Digest of how many events begin in each month. */
  readonly eventCounts: () => string;
}

/** The facts of one page. Costs nothing until asked. */
export function pageFacts(model: PageModel): PageFacts {
  const heartbeat = lastHeartbeat(model);
  const events: readonly PageEvent[] = [...model.incidents, ...model.maintenances];
  const atHeartbeat = once(() => modelAt(model, heartbeat));
  const withNews = once(() => componentsWithNews(model, heartbeat));
  const byComponent = once(() => groupedByComponent(events));
  const byMonth = once(() => Map.groupBy(events, (event) => monthOf(startOf(event), model.settings.timezone)));
  const reports = new Map<string, ReportDocument>();
  return {
    model,
    atHeartbeat,
    hasNews: (componentId) => withNews().has(componentId),
    frame: once(() => fingerprintOf(frameOf(model))),
    months: once(() => monthsOf(model)),
    reportMonths: once(() => monthsOf(atHeartbeat())),
    reportOf: (month) => reports.getOrInsertComputed(month, () => reportDocument(atHeartbeat(), month)),
    eventsOf: (componentId) => byComponent().get(componentId) ?? [],
    eventsIn: (month) => byMonth().get(month) ?? [],
    eventsTouching: (month) => {
      const window = intervalOfMonth(month, model.settings.timezone);
      return events.filter((event) => touches(window, event));
    },
    incidentHeads: once(() =>
      fingerprintOf(
        model.incidents.map(({ title, startedAt, endedAt, componentIds }) => [title, startedAt, endedAt, componentIds]),
      ),
    ),
    eventCounts: once(() => fingerprintOf([...byMonth()].map(([month, { length }]) => [month, length]))),
  };
}

function frameOf({ definition, settings, components, groups }: PageModel): unknown {
  return {
    definition,
    settings,
    groups,
    components: components.map(({ definition: { id, groupId }, name }) => [id, name, groupId]),
  };
}

function startOf(event: PageEvent): PageIncident['startedAt'] {
  return 'startedAt' in event ? event.startedAt : event.startsAt;
}

function touches(window: Interval, event: PageEvent): boolean {
  const end = 'startedAt' in event ? event.endedAt : event.endsAt;
  return startOf(event) < window.to && (end ?? toEpochMs(window.to)) >= window.from;
}

function groupedByComponent(events: readonly PageEvent[]): ReadonlyMap<string, readonly PageEvent[]> {
  const byComponent = new Map<string, PageEvent[]>();
  for (const event of events) for (const id of event.componentIds) byComponent.getOrInsert(id, []).push(event);
  return byComponent;
}
