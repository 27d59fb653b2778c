/** Calendars, as a program that keeps events by their UID reads them. */

import ICAL from 'ical.js';
import { addressIn, type Check, compareNames, fileOf, iso, same } from '../check.ts';

export interface CalendarEvent {
  readonly uid: string;
  readonly sequence: number;
  readonly stampedAt: number;
  readonly title: string;
  readonly from: number;
  readonly to: number;
  readonly url: string;
}

export function readCalendar(text: string): CalendarEvent[] {
  const calendar = new ICAL.Component(ICAL.parse(text));
  return calendar.getAllSubcomponents('vevent').map((component) => {
    const event = new ICAL.Event(component);
    const instant = (name: string): number => (component.getFirstPropertyValue(name) as ICAL.Time).toJSDate().getTime();
    return {
      uid: event.uid,
      sequence: event.sequence,
      stampedAt: instant('dtstamp'),
      title: event.summary,
      from: instant('dtstart'),
      to: instant('dtend'),
      url: String(component.getFirstPropertyValue('url')),
    };
  });
}

/** An event for each window; so many that some are left out have the nearest. */
const EVENTS_MAX = 200;

export function checkCalendars(check: Check): void {
  const { lines } = check.expected;
  checkCalendar(check, '', () => true);
  for (const { component } of lines)
    checkCalendar(check, `components/${component.id}/`, (ids) => ids.includes(component.id));
}

function checkCalendar(check: Check, folder: string, isWanted: (ids: readonly string[]) => boolean): void {
  const path = `${folder}maintenance.ics`;
  const events = readCalendar(fileOf(check, path));
  const plans = check.expected.plans.filter(({ componentIds }) => isWanted(componentIds));
  const wanted = plans.flatMap(({ title, windows }) =>
    windows.map(({ from, to }) => `${title} ${iso(from)} ${iso(to)}`),
  );
  const read = events.map(({ title, from, to }) => `${title} ${iso(from)} ${iso(to)}`);
  if (wanted.length <= EVENTS_MAX) same(check, `${path}: events`, read.toSorted(), wanted.toSorted());
  for (const { title, stampedAt, url } of events) {
    if (stampedAt > check.expected.asOf) check.differences.push(`${path}: ${title} was stamped in the future`);
    const plan = plans.find((known) => known.title === title);
    if (plan !== undefined) compareNames(check, `${path}: ${title}`, { key: plan.key, address: addressIn(check, url) });
  }
  if (new Set(events.map(({ uid }) => uid)).size !== events.length)
    check.differences.push(`${path}: events share a UID`);
}
