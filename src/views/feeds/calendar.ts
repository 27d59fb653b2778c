/** What the calendar of a page's maintenances says, for the page and for each component. */

import {
  type ComponentModel,
  type EpochMs,
  type PageMaintenance,
  type PageModel,
  toEpochMs,
  toIso,
} from '../../model/index.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { componentPath, maintenancePath } from '../text/addresses.ts';
import { cleanLine, cleanText } from '../text/plain-text.ts';
import { uuidOf } from '../text/stable-id.ts';

/** Calendars show what is to come and the recent past; the history page has the rest. */
const EVENTS_MAX = 200;

export interface CalendarView {
  readonly name: string;
  readonly description: string;
  readonly pageUrl: string;
  readonly calendarUrl: string;
  /** Newest start first, at most 200. */
  readonly events: readonly CalendarEventView[];
}

export interface CalendarEventView {
  /** The same for ever, and in every calendar that has the event. */
  readonly uid: string;
  /** Grows with every revision. */
  readonly sequence: number;
  /** ISO 8601: when the event was last written about; it never moves without a change. */
  readonly changedAt: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly title: string;
  readonly text: string;
  readonly url: string;
}

/**
 * The calendar of a page's maintenances, or of those of one component when it is named.
 *
 * A maintenance's sequence is the number of its recorded changes, which grows when the window moves, when words change
 * and when something is said of it; where changes are not recorded it is the number of its updates.
 */
export function calendarView(model: PageModel, component?: ComponentModel): CalendarView {
  const path = component === undefined ? '' : componentPath(component.definition.id);
  const title = cleanLine(model.definition.title);
  const wanted = model.maintenances.filter(
    ({ componentIds }) => component === undefined || componentIds.includes(component.definition.id),
  );
  return {
    name: component === undefined ? title : `${title}: ${cleanLine(component.name)}`,
    description: cleanLine(component?.description ?? model.definition.description ?? ''),
    pageUrl: absoluteUrl(model, path),
    calendarUrl: absoluteUrl(model, `${path}maintenance.ics`),
    events: wanted.slice(0, EVENTS_MAX).map((maintenance) => eventView(model, maintenance)),
  };
}

function eventView(model: PageModel, maintenance: PageMaintenance): CalendarEventView {
  const { id, title, startsAt, endsAt, updates, componentIds, slug } = maintenance;
  const names = model.components
    .filter(({ definition }) => componentIds.includes(definition.id))
    .map(({ name }) => cleanLine(name));
  const bodies = updates.map(({ body }) => cleanText(body).trim()).filter((body) => body !== '');
  const affected = names.length === 0 ? [] : [names.join(', ')];
  return {
    uid: uuidOf('maintenance', model.definition.id, id),
    sequence: maintenance.sequence ?? updates.length,
    changedAt: toIso(lastWordAt(maintenance)),
    startsAt: toIso(startsAt),
    endsAt: toIso(endsAt),
    title: cleanLine(title),
    text: [...affected, ...bodies.reverse()].join('\n\n'),
    url: absoluteUrl(model, maintenancePath(slug)),
  };
}

/** The last recorded change or update; the start where neither is known. */
function lastWordAt({ startsAt, changedAt, updates }: PageMaintenance): EpochMs {
  const instants = [...(changedAt === undefined ? [] : [changedAt]), ...updates.map(({ at }) => at)];
  return instants.length === 0 ? startsAt : toEpochMs(Math.max(...instants));
}
