/** A calendar as iCalendar (RFC 5545). The same view gives the same text. */

import ical, { escape as escapeCalendarText, ICalCalendarMethod, ICalEventTransparency } from 'ical-generator';
import type { CalendarView } from '../../views/feeds/calendar.ts';

/** Calendars are asked to come back this often. */
const CALENDAR_TTL_SECONDS = 3_600;

/** An iCalendar. The library escapes what it knows as text, and pastes the calendar's own name and description. */
export function calendarText(view: CalendarView): string {
  const calendar = ical({
    prodId: '//Pharos//Maintenance//EN',
    name: escapeCalendarText(view.name, false),
    description: escapeCalendarText(view.description, false),
    method: ICalCalendarMethod.PUBLISH,
    url: view.pageUrl,
    source: view.calendarUrl,
    ttl: CALENDAR_TTL_SECONDS,
  });
  for (const event of view.events) {
    calendar.createEvent({
      id: event.uid,
      sequence: event.sequence,
      stamp: new Date(event.changedAt),
      lastModified: new Date(event.changedAt),
      start: new Date(event.startsAt),
      end: new Date(event.endsAt),
      summary: event.title,
      description: event.text,
      url: event.url,
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  return `${calendar.toString()}\r\n`;
}
