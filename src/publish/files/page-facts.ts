/**
 * What the dearer files of a page are made from: of the model, the parts that each of them shows. Parts are shared between
 * files and computed once, when they are first asked for.
 */

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  type ComponentModel,
  cutTimeline,
  type EpochMs,
  later,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
} from '../../model/index.ts';
import { once } from '../../once.ts';
import { intervalOfMonth, listMonths, monthOf } from '../../views/days/months.ts';
import { type PageFrame, type Settled, toAge, toFrame } from '../../views/frame/shell.ts';
import { type ReportDocument, reportDocument } from '../../views/json/report-data.ts';
import { componentsWithNews, lastHeartbeat, modelAt } from '../../views/model/page-model.ts';
import { isOpen, settledAt, touches } from '../../views/model/page-state.ts';
import { fingerprintOf, partsFingerprint } from '../fingerprint.ts';

export type PageFacts = ReturnType<typeof pageFacts>;

/** The facts of a page, computed on first use. */
export function pageFacts(model: PageModel) {
  const shared = sharedParts(model);
  const { atHeartbeat, frame, age, heartbeatAge } = shared;
  const reportMonths = once(() => listMonths(atHeartbeat()));
  const reports = new Map<string, ReportDocument>();
  return {
    model,
    // The parts of the page that every file can show.
    frame,
    // Months of the history and of the reports, newest first.
    months: once(() => listMonths(model)),
    reportMonths,
    reportDocument: (month: string) => reports.getOrInsertComputed(month, () => reportDocument(atHeartbeat(), month)),
    incident: (incident: PageIncident) => ({
      frame: frame(),
      ...(isOpen(incident) ? age() : settled(settledAt(model.asOf, [incident]))),
      incident,
    }),
    maintenance: (maintenance: PageMaintenance) => ({
      frame: frame(),
      ...(maintenance.status === 'completed' ? settled(maintenance.endsAt) : heartbeatAge()),
      maintenance,
    }),
    ...componentFacts(model, shared),
    ...historyFacts(model, frame),
    uptimeCalendar: () => {
      const { state, since, components, incidents } = atHeartbeat();
      const heads = incidents.map(({ slug, title, lang, pieces, startedAt, endedAt, componentIds }) => ({
        ...{ slug, title, lang, pieces, startedAt, endedAt, componentIds },
      }));
      return { frame: frame(), age: heartbeatAge(), state, since, components, incidents: heads };
    },
    report: (month: string) => ({ frame: frame(), months: reportMonths(), ...monthOfReport(atHeartbeat(), month) }),
  };
}

function sharedParts(model: PageModel) {
  const heartbeat = lastHeartbeat(model);
  const atHeartbeat = once(() => modelAt(model, heartbeat));
  return {
    heartbeat,
    atHeartbeat,
    frame: once(() => toFrame(model)),
    age: once(() => toAge(model)),
    heartbeatAge: once(() => toAge(atHeartbeat())),
  };
}

function settled(asOf: EpochMs): Settled {
  return { asOf, staleAfter: null };
}

/** Digests of the words of components without events: the same for every change of a page. */
const quietWords = new LRUCache<string, string>({
  max: 2_048,
  memoMethod: (words) => hash('sha256', words, 'base64url'),
});

/** Components without news are shown as of the last heartbeat, so that news about one component renders one page. */
function componentFacts(model: PageModel, shared: ReturnType<typeof sharedParts>) {
  const { heartbeat, atHeartbeat, frame, age, heartbeatAge } = shared;
  const withNews = once(() => componentsWithNews(model, heartbeat));
  const before = once(() => new Map(atHeartbeat().components.map((one) => [one.definition.id, one])));
  const incidents = once(() => groupedBy(model.incidents, ({ componentIds }) => componentIds));
  const maintenances = once(() => groupedBy(model.maintenances, ({ componentIds }) => componentIds));
  const corrected = once(() => Map.groupBy(model.log?.corrected ?? [], ({ component }) => component));
  const { title, description } = model.definition;
  const pageWords = once(() => fingerprintOf([fingerprintOf(frame()), title, description]));
  const digests = new Map<ComponentModel, string>();
  return {
    /** Digest of everything in the page's language that files about a component show. */
    componentWords: (component: ComponentModel) =>
      digests.getOrInsertComputed(component, ({ name, plainName, lang, definition: { id } }) => {
        const events = { incidents: incidents().get(id) ?? [], maintenances: maintenances().get(id) ?? [] };
        const words = { page: pageWords(), name, plainName, lang };
        if (events.incidents.length + events.maintenances.length > 0) return partsFingerprint({ ...words, ...events });
        return quietWords.memo(`${words.page}\n${name}\n${plainName}\n${lang}`);
      }),
    component: (component: ComponentModel) => {
      const { id } = component.definition;
      const hasNews = withNews().has(id);
      return {
        frame: frame(),
        age: hasNews ? age() : heartbeatAge(),
        component: hasNews ? component : (before().get(id) ?? component),
        incidents: incidents().get(id) ?? [],
        maintenances: maintenances().get(id) ?? [],
        corrected: (corrected().get(id) ?? []).map(({ day, at }) => ({ day, at })),
      };
    },
  };
}

function historyFacts(model: PageModel, frame: () => PageFrame) {
  const months = once(() => listMonths(model));
  const monthIn = (at: EpochMs): string => monthOf(at, model.settings.timezone);
  const incidents = once(() => Map.groupBy(model.incidents, ({ startedAt }) => monthIn(startedAt)));
  const maintenances = once(() =>
    groupedBy(model.maintenances, ({ windows }) => windows.map(({ from }) => monthIn(from))),
  );
  const incidentCounts = once(() =>
    Object.fromEntries([...incidents()].map(([month, { length }]): [string, number] => [month, length])),
  );
  return {
    /** Null: the current month, as `history/` itself shows. */
    history: (month: string | null) => {
      const shown = month ?? months()[0] ?? '';
      const begun = incidents().get(shown) ?? [];
      const planned = maintenances().get(shown) ?? [];
      return {
        frame: frame(),
        months: months(),
        incidentCounts: incidentCounts(),
        month,
        incidents: begun,
        maintenances: planned,
        asOf: settledAt(
          model.asOf,
          begun,
          planned.flatMap(({ windows }) => windows),
        ),
      };
    },
  };
}

function monthOfReport(model: PageModel, month: string) {
  const window = intervalOfMonth(month, model.settings.timezone);
  const incidents = model.incidents.filter(({ startedAt, endedAt }) => touches(window, startedAt, endedAt));
  const isOver = model.asOf >= window.to;
  return {
    month,
    components: model.components.map(({ definition: { id, groupId, counts, monitor }, name, lang, timeline }) => ({
      definition: { id, groupId, monitor, ...(counts === undefined ? {} : { counts }) },
      name,
      lang,
      timeline: cutTimeline(timeline, window),
    })),
    incidents,
    maintenances: model.maintenances.filter(({ windows }) => windows.some(({ from, to }) => touches(window, from, to))),
    asOf: isOver ? later(settledAt(model.asOf, incidents), window.to) : model.asOf,
  };
}

/** Groups events by subject or month. Each appears once below each of its keys, in the original order. */
function groupedBy<Event>(events: readonly Event[], keysOf: (event: Event) => readonly string[]) {
  const groups = new Map<string, Event[]>();
  for (const event of events) for (const key of new Set(keysOf(event))) groups.getOrInsert(key, []).push(event);
  return groups;
}
