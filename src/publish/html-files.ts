/** The HTML files of a page. Those about what is over depend on nothing else, so that news elsewhere leaves them alone. */

import type { PageIncident, PageMaintenance, PageModel } from '../model/index.ts';
import { HISTORY_PATH, HOME_PATH, historyPath, incidentPath } from '../views/addresses.ts';
import { isOpen } from '../views/event-times.ts';
import { historyMonths, historyView } from '../views/history.ts';
import type { ViewByKind, ViewKind } from '../views/html.ts';
import { incidentView } from '../views/incident.ts';
import { monthOf } from '../views/months.ts';
import type { ShellView } from '../views/shell.ts';
import { statusPageView } from '../views/status-page.ts';
import { digestOf, type FileEntry, fileEntry, once } from './file-entry.ts';

/** Every HTML file of a page that is not drawn on demand. */
export function htmlFiles(model: PageModel): FileEntry[] {
  const frame = once(() => digestOf(frameOf(model)));
  return [
    htmlFile(HOME_PATH, 'status-page', { view: () => statusPageView(model) }),
    ...historyFiles(model, frame),
    ...model.incidents.map((incident) => incidentFile(model, incident, frame)),
  ];
}

/** What every page of a status page shows of it, whatever it is about. */
function frameOf({ definition, settings, components }: PageModel): unknown {
  return { definition, settings, components: components.map(({ definition: { id }, name }) => [id, name]) };
}

function incidentFile(model: PageModel, incident: PageIncident, frame: () => string): FileEntry {
  const path = incidentPath(incident.slug);
  if (isOpen(incident, model.asOf)) return htmlFile(path, 'incident', { view: () => incidentView(model, incident) });
  return htmlFile(path, 'incident', {
    view: () => settled(incidentView(model, incident)),
    inputs: () => [frame(), digestOf(incident)],
  });
}

function historyFiles(model: PageModel, frame: () => string): FileEntry[] {
  const byMonth = once(() => eventsByMonth(model));
  const counts = once(() => digestOf([...byMonth()].map(([month, events]) => [month, events.length])));
  const months = historyMonths(model);
  const inputsOf = (month: string) => () => {
    const events = byMonth().get(month) ?? [];
    return [frame(), counts(), months, month, ...events.map((event) => digestOf(event)), endOf(events, model)];
  };
  const [current] = months;
  return [
    htmlFile(HISTORY_PATH, 'history', {
      view: () => settled(historyView(model, null)),
      inputs: inputsOf(current ?? ''),
    }),
    ...months.map((month) =>
      htmlFile(historyPath(month), 'history', {
        view: () => settled(historyView(model, month)),
        inputs: inputsOf(month),
      }),
    ),
  ];
}

/** Everything whose beginning lies in a month of the page's zone. */
function eventsByMonth({
  incidents,
  maintenances,
  settings,
}: PageModel): Map<string, (PageIncident | PageMaintenance)[]> {
  const zone = settings.timezone;
  const events = [
    ...incidents.map((event) => ({ event, month: monthOf(event.startedAt, zone) })),
    ...maintenances.map((event) => ({ event, month: monthOf(event.startsAt, zone) })),
  ];
  const byMonth = Map.groupBy(events, ({ month }) => month);
  return new Map([...byMonth].map(([month, list]) => [month, list.map(({ event }) => event)]));
}

/** The instant that durations of open events run to; null when all are over. */
function endOf(events: readonly (PageIncident | PageMaintenance)[], { asOf }: PageModel): number | null {
  const isOver = (event: PageIncident | PageMaintenance) => !('endedAt' in event) || !isOpen(event, asOf);
  return events.every(isOver) ? null : asOf;
}

/** A view of what is over: without the page's present state and the age of its data. */
function settled<View extends { readonly shell: ShellView }>(view: View): View {
  return { ...view, shell: { ...view.shell, state: null, freshness: null } };
}

interface HtmlFileInit<Kind extends ViewKind> {
  readonly view: () => ViewByKind[Kind];
  readonly inputs?: () => unknown;
}

function htmlFile<Kind extends ViewKind>(path: string, kind: Kind, init: HtmlFileInit<Kind>): FileEntry {
  return fileEntry({
    ...init,
    path: `${path}index.html`,
    contentType: 'text/html; charset=utf-8',
    kind,
    draw: (view, renderer) => renderer.render(kind, view),
  });
}
