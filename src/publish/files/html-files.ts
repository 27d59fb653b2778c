/**
 * The HTML files of a page. Those about what is over depend on nothing else, so that news leaves them alone; those
 * that only grow older follow the heartbeat; the rest follow the present.
 */

import { BADGE_KINDS, PART_KINDS } from '../../badges/kinds.ts';
import type { ComponentModel, PageIncident, PageMaintenance, PageModel } from '../../model/index.ts';
import { badgeGalleryView } from '../../views/badges/badge-gallery.ts';
import { componentView } from '../../views/component/component.ts';
import { historyView } from '../../views/history/history.ts';
import { uptimeCalendarView } from '../../views/history/uptime-calendar.ts';
import type { ViewByKind, ViewKind } from '../../views/html.ts';
import { isOpen } from '../../views/incident/event-times.ts';
import { incidentView } from '../../views/incident/incident.ts';
import { maintenanceView } from '../../views/incident/maintenance.ts';
import { embedView } from '../../views/page/embed.ts';
import { notFoundView } from '../../views/page/not-found.ts';
import { statusPageView } from '../../views/page/status-page.ts';
import { reportIndexView, reportView } from '../../views/report/report.ts';
import {
  BADGES_PATH,
  componentPath,
  EMBED_PATH,
  HISTORY_PATH,
  HOME_PATH,
  historyPath,
  incidentPath,
  maintenancePath,
  REPORTS_PATH,
  reportPath,
  UPTIME_PATH,
} from '../../views/text/addresses.ts';
import { fingerprintOf } from '../fingerprint.ts';
import { type FileEntry, fileEntry, type Priority } from './file-entry.ts';
import type { PageFacts } from './page-facts.ts';

const HTML_TYPE = 'text/html; charset=utf-8';

/** Every HTML file of a page that is not drawn on demand. */
export function htmlFiles(facts: PageFacts, badgeNames: readonly string[]): FileEntry[] {
  const { model, frame, months } = facts;
  return [
    htmlFile(HOME_PATH, 'status-page', { view: () => statusPageView(model) }),
    htmlFile(EMBED_PATH, 'embed', { view: () => embedView(model) }),
    ...historyFiles(facts),
    ...model.incidents.flatMap((incident) => incidentFiles(facts, incident)),
    ...model.maintenances.map((maintenance) => maintenanceFile(facts, maintenance)),
    ...model.components.map((component) => componentFile(facts, component)),
    uptimeFile(facts),
    ...reportFiles(facts),
    htmlFile(BADGES_PATH, 'badge-gallery', {
      view: () => badgeGalleryView(model, { kinds: [...BADGE_KINDS, ...badgeNames] }),
      inputs: () => [frame(), badgeNames],
    }),
    fileEntry({
      path: '404.html',
      contentType: HTML_TYPE,
      kind: 'not-found',
      view: () => notFoundView(model),
      inputs: () => [frame(), months()],
      draw: (view, renderer) => renderer.render('not-found', view),
    }),
  ];
}

/** The incident at its address, and at every other that it was ever known under: the page itself names the one. */
function incidentFiles({ model, frame }: PageFacts, incident: PageIncident): FileEntry[] {
  const view = () => incidentView(model, incident);
  const init = isOpen(incident) ? { view } : { view, inputs: () => [frame(), fingerprintOf(incident)] };
  return [incident.slug, ...incident.aliases].map((slug) => htmlFile(incidentPath(slug), 'incident', init));
}

function maintenanceFile({ model, atHeartbeat, frame }: PageFacts, maintenance: PageMaintenance): FileEntry {
  const isOver = maintenance.status === 'completed';
  return htmlFile(maintenancePath(maintenance.slug), 'maintenance', {
    view: () => maintenanceView(isOver ? model : atHeartbeat(), maintenance),
    inputs: () => [frame(), fingerprintOf(maintenance), ...(isOver ? [] : [freshnessInputs(atHeartbeat())])],
  });
}

function componentFile(
  { model, atHeartbeat, hasNews, frame, eventsOf }: PageFacts,
  component: ComponentModel,
): FileEntry {
  const { id } = component.definition;
  const chosen = () => {
    if (hasNews(id)) return { page: model, shown: component };
    const page = atHeartbeat();
    return { page, shown: page.components.find(({ definition }) => definition.id === id) ?? component };
  };
  return htmlFile(componentPath(id), 'component', {
    view: () => {
      const { page, shown } = chosen();
      return componentView(page, shown, { badges: PART_KINDS });
    },
    inputs: () => {
      const { page, shown } = chosen();
      return [
        frame(),
        fingerprintOf(shown),
        freshnessInputs(page),
        ...eventsOf(id).map((event) => fingerprintOf(event)),
      ];
    },
  });
}

/** What a page about the present says of its age. */
function freshnessInputs({ asOf, staleAfter, dataFrom, isStale, sources }: PageModel): unknown {
  return [asOf, staleAfter, dataFrom, isStale, sources.map(({ intervalMs }) => intervalMs)];
}

function uptimeFile({ atHeartbeat, frame, incidentHeads }: PageFacts): FileEntry {
  return htmlFile(UPTIME_PATH, 'uptime-calendar', {
    priority: 'deferred',
    view: () => uptimeCalendarView(atHeartbeat()),
    inputs: () => {
      const page = atHeartbeat();
      return [
        frame(),
        incidentHeads(),
        page.state,
        freshnessInputs(page),
        ...page.components.map((component) => fingerprintOf(component)),
      ];
    },
  });
}

function historyFiles(facts: PageFacts): FileEntry[] {
  const { model, frame, months, eventsIn, eventCounts } = facts;
  const inputsOf = (month: string) => () => {
    const events = eventsIn(month);
    // The durations of open events run to the present.
    const end = events.some((event) => 'startedAt' in event && isOpen(event)) ? model.asOf : null;
    return [frame(), months(), eventCounts(), month, end, ...events.map((event) => fingerprintOf(event))];
  };
  return [
    htmlFile(HISTORY_PATH, 'history', { view: () => historyView(model, null), inputs: inputsOf(months()[0] ?? '') }),
    ...months().map((month) =>
      htmlFile(historyPath(month), 'history', { view: () => historyView(model, month), inputs: inputsOf(month) }),
    ),
  ];
}

function reportFiles({ atHeartbeat, frame, reportMonths, reportOf, eventsTouching }: PageFacts): FileEntry[] {
  return [
    htmlFile(REPORTS_PATH, 'report-index', {
      priority: 'deferred',
      view: () => reportIndexView(atHeartbeat(), reportMonths()),
      inputs: () => [frame(), reportMonths()],
    }),
    ...reportMonths().map((month) =>
      htmlFile(reportPath(month), 'report', {
        priority: 'deferred',
        view: () => reportView(atHeartbeat(), month),
        inputs: () => [
          frame(),
          reportMonths(),
          fingerprintOf(reportOf(month)),
          ...eventsTouching(month).map((event) => fingerprintOf(event)),
        ],
      }),
    ),
  ];
}

interface HtmlFileInit<Kind extends ViewKind> {
  readonly view: () => ViewByKind[Kind];
  readonly inputs?: () => unknown;
  readonly priority?: Priority;
}

/** A file that is a view drawn as HTML; `path` is its folder. */
export function htmlFile<Kind extends ViewKind>(path: string, kind: Kind, init: HtmlFileInit<Kind>): FileEntry {
  return fileEntry({
    ...init,
    path: `${path}index.html`,
    contentType: HTML_TYPE,
    kind,
    draw: (view, renderer) => renderer.render(kind, view),
  });
}
