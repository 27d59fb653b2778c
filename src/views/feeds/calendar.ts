/** What the calendar of a page's maintenances says, for the page and for each component. */

import { type ComponentModel, type Interval, type PageMaintenance, type PageModel, toIso } from '../../model/index.ts';
import { absoluteUrl, componentPath, maintenancePath, stableUuid } from '../text/addresses.ts';
import { cleanLine, cleanText } from '../text/plain-text.ts';
import { textOfMarkdown } from '../text/safe-html.ts';

/** Calendars show what is to come and the recent past; the history page has the rest. */
const EVENTS_MAX = 200;

export type CalendarView = ReturnType<typeof calendarView>;

/**
 * The calendar of a page's maintenances, or of those of one component when it is named.
 *
 * A maintenance that repeats has an event for each of its windows. Its sequence is the number of its recorded changes,
 * which grows when a window moves, when words change and when something is said of it.
 */
export function calendarView(model: PageModel, component?: ComponentModel) {
  const path = component === undefined ? '' : componentPath(component.definition.id);
  const title = cleanLine(model.definition.title);
  const wanted = model.maintenances.filter(
    ({ componentIds }) => component === undefined || componentIds.includes(component.definition.id),
  );
  return {
    name: component === undefined ? title : `${title}: ${cleanLine(component.name)}`,
    description: cleanLine(component?.description ?? textOfMarkdown(model.definition.description ?? '')),
    pageUrl: absoluteUrl(model, path),
    calendarUrl: absoluteUrl(model, `${path}maintenance.ics`),
    // Newest start first, at most 200.
    events: wanted
      .flatMap((maintenance) => maintenance.windows.map((window) => ({ maintenance, window })))
      // The nearest, so that one that comes back each day takes no place of what is to come.
      .sort((a, b) => Math.abs(a.window.from - model.asOf) - Math.abs(b.window.from - model.asOf))
      .slice(0, EVENTS_MAX)
      .sort((a, b) => b.window.from - a.window.from || (a.maintenance.id < b.maintenance.id ? -1 : 1))
      .map(({ maintenance, window }) => eventView(model, maintenance, window)),
  };
}

function eventView(model: PageModel, maintenance: PageMaintenance, { from, to }: Interval) {
  const { id, title, repeats, texts, componentIds, slug, editedAt, sequence } = maintenance;
  const names = model.components
    .filter(({ definition }) => componentIds.includes(definition.id))
    .map(({ name }) => cleanLine(name));
  const bodies = texts.map((text) => cleanText(text).trim()).filter((text) => text !== '');
  const affected = names.length === 0 ? [] : [names.join(', ')];
  return {
    // The same for ever, and in every calendar that has the event.
    uid: stableUuid('maintenance', model.definition.id, id, ...(repeats === null ? [] : [toIso(from)])),
    // Grows with every revision.
    sequence,
    // ISO 8601: when the event was last written about; it never moves without a change.
    changedAt: toIso(editedAt),
    startsAt: toIso(from),
    endsAt: toIso(to),
    title: cleanLine(title),
    text: [...affected, ...bodies.reverse()].join('\n\n'),
    url: absoluteUrl(model, maintenancePath(slug)),
  };
}
