/**
 * The HTML files of a page. Those about what is over depend on nothing else, so that news leaves them alone; those
 * that only grow older follow the heartbeat; the rest follow the present.
 */

import { BADGE_KINDS } from '../../badges/kinds.ts';
import { embedView } from '../../views/page/embed.ts';
import { notFoundView } from '../../views/page/not-found.ts';
import { statusPageView } from '../../views/page/status-page.ts';
import { reportIndexView } from '../../views/report/report.ts';
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
import { type FileEntry, type FileEntryInit, fileEntry } from './file-entry.ts';
import type { FileKind } from './file-kind.ts';
import { BADGE_GALLERY } from './kinds/badge-gallery.ts';
import { COMPONENT } from './kinds/component.ts';
import { HISTORY } from './kinds/history.ts';
import { INCIDENT } from './kinds/incident.ts';
import { MAINTENANCE } from './kinds/maintenance.ts';
import { REPORT } from './kinds/report.ts';
import { UPTIME_CALENDAR } from './kinds/uptime-calendar.ts';
import { EMBED, NOT_FOUND, REPORT_INDEX, STATUS_PAGE } from './kinds/views.ts';
import type { PageFacts } from './page-facts.ts';

/** Every HTML file of a page that is not drawn on demand. */
export function htmlFiles(facts: PageFacts, badgeNames: readonly string[]): FileEntry[] {
  const { model, frame } = facts;
  return [
    htmlFile(STATUS_PAGE, HOME_PATH, { inputs: () => statusPageView(model) }),
    htmlFile(EMBED, EMBED_PATH, { inputs: () => embedView(model) }),
    htmlFile(HISTORY, HISTORY_PATH, { inputs: () => facts.history(null) }),
    ...facts.months().map((month) => htmlFile(HISTORY, historyPath(month), { inputs: () => facts.history(month) })),
    // At its address, and at every other that it was ever known under: the page itself names the one.
    ...model.incidents.flatMap((one) =>
      [one.slug, ...one.aliases].map((slug) =>
        htmlFile(INCIDENT, incidentPath(slug), { inputs: () => facts.incident(one) }),
      ),
    ),
    ...model.maintenances.map((one) =>
      htmlFile(MAINTENANCE, maintenancePath(one.slug), { inputs: () => facts.maintenance(one) }),
    ),
    ...model.components.map((one) =>
      htmlFile(COMPONENT, componentPath(one.definition.id), { inputs: () => facts.component(one) }),
    ),
    htmlFile(UPTIME_CALENDAR, UPTIME_PATH, { priority: 'deferred', inputs: facts.uptimeCalendar }),
    htmlFile(REPORT_INDEX, REPORTS_PATH, {
      priority: 'deferred',
      inputs: () => reportIndexView(frame(), facts.reportMonths()),
    }),
    ...facts
      .reportMonths()
      .map((month) => htmlFile(REPORT, reportPath(month), { priority: 'deferred', inputs: () => facts.report(month) })),
    htmlFile(BADGE_GALLERY, BADGES_PATH, {
      inputs: () => ({ frame: frame(), badgeNames: [...BADGE_KINDS, ...badgeNames] }),
    }),
    fileEntry(NOT_FOUND, '404.html', { inputs: () => notFoundView(frame()) }),
  ];
}

/** @param folder  below the page, with a slash at its end; empty: the page itself */
export function htmlFile<Inputs extends object>(
  kind: FileKind<Inputs>,
  folder: string,
  init: FileEntryInit<Inputs>,
): FileEntry {
  return fileEntry(kind, `${folder}index.html`, init);
}
