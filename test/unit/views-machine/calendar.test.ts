import ICAL from 'ical.js';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, type PageMaintenance, type PageModel } from '../../../src/model/index.ts';
import { calendarText } from '../../../src/publish/files/calendar-text.ts';
import { calendarView } from '../../../src/views/feeds/calendar.ts';
import { ago, componentModel, maintenance, pageModel } from '../../helpers/page-model.ts';
import { calm, empty, outage } from '../../helpers/page-scenes.ts';
import { HOSTILE_TEXTS, hostilePage, SECRETS } from './hostile.ts';

const textOf = (model: PageModel) => calendarText(calendarView(model));

function eventsOf(text: string): ICAL.Event[] {
  const calendar = new ICAL.Component(ICAL.parse(text));
  return calendar.getAllSubcomponents('vevent').map((component) => new ICAL.Event(component));
}

function only(init: Partial<PageMaintenance>): ICAL.Event {
  const [event, ...others] = eventsOf(textOf(pageModel({ maintenances: [maintenance(init)] })));
  if (event === undefined || others.length > 0) throw new Error('expected exactly one event');
  return event;
}

describe('the calendar as an independent parser reads it', () => {
  it('has every maintenance at its hours, with what is said of it and a link', () => {
    const events = eventsOf(textOf(outage()));
    expect(events.map(({ summary }) => summary)).toEqual(['Export workers move to new machines', 'Database upgrade']);
    const upgrade = events[1];
    expect(upgrade?.startDate.toJSDate().getTime()).toBe(ago(-3 * DAY_MS));
    expect(upgrade?.endDate.toJSDate().getTime()).toBe(ago(-3 * DAY_MS - 2 * HOUR_MS));
    expect(upgrade?.description).toBe('API, Exports\n\nReads keep working. Writes **pause** for a moment.');
    expect(upgrade?.component.getFirstPropertyValue('url')).toBe('https://status.acme.example/acme/maintenance/mnt-1/');
    expect(upgrade?.component.getFirstPropertyValue('transp')).toBe('TRANSPARENT');
  });

  it('is valid and empty when nothing is planned', () => {
    expect(eventsOf(textOf(empty()))).toEqual([]);
  });

  it('of a component has its own maintenances only, with the ids they have on the page', () => {
    const model = outage();
    const exports = model.components.find(({ definition }) => definition.id === 'exports');
    const api = model.components.find(({ definition }) => definition.id === 'api');
    const idsOf = (text: string) => eventsOf(text).map(({ uid }) => uid);
    expect(idsOf(calendarText(calendarView(model, exports)))).toEqual(idsOf(textOf(model)));
    expect(idsOf(calendarText(calendarView(model, api)))).toEqual(idsOf(textOf(model)).slice(1));
  });
});

describe('what calendars know an event by', () => {
  it('is an id that stays when everything else changes', () => {
    const moved = only({ title: 'Renamed', startsAt: ago(-9 * DAY_MS), endsAt: ago(-10 * DAY_MS), updates: [] });
    expect(moved.uid).toBe(only({}).uid);
    expect(moved.uid).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is a sequence that counts recorded changes, or updates where none are recorded', () => {
    expect(only({ sequence: 0 }).sequence).toBe(0);
    expect(only({ sequence: 3 }).sequence).toBe(3);
    const update = { id: 'u', at: ago(HOUR_MS), status: null, body: 'moved' };
    expect(only({ updates: [] }).sequence).toBe(0);
    expect(only({ updates: [update, { ...update, id: 'v' }] }).sequence).toBe(2);
  });

  it('is stamped with its last change, never with the hour it was drawn', () => {
    const stampOf = (init: Partial<PageMaintenance>) =>
      Date.parse(String(only(init).component.getFirstPropertyValue('dtstamp')));
    expect(stampOf({ changedAt: ago(HOUR_MS) })).toBe(ago(HOUR_MS));
    expect(stampOf({})).toBe(ago(DAY_MS));
    const now = calm();
    expect(textOf({ ...now, asOf: ago(-HOUR_MS) })).toBe(textOf(now));
  });
});

describe('the text of a calendar', () => {
  for (const [index, text] of HOSTILE_TEXTS.entries())
    it(`with hostile text ${index} has one event, no line longer than 75 octets, and nothing that is not public`, () => {
      const calendar = textOf(hostilePage(text));
      const [event, ...others] = eventsOf(calendar);
      expect(others).toEqual([]);
      expect(event?.uid).toMatch(/^[0-9a-f-]{36}$/);
      for (const line of calendar.split('\r\n')) {
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
        expect(line).not.toMatch(/[\u0000-\u0008\u000a-\u001f\u007f]/);
      }
      expect(calendar.isWellFormed()).toBe(true);
      for (const secret of SECRETS) expect(calendar).not.toContain(secret);
    });

  it('gives back title and text as they were, commas, semicolons and backslashes too', () => {
    const title = 'a, b; c \\ d "e" \\n literal';
    expect(only({ title }).summary).toBe(title);
    const body = 'one\ntwo; three, \\four';
    expect(only({ updates: [{ id: 'u', at: ago(HOUR_MS), status: null, body }] }).description).toBe(`API\n\n${body}`);
  });

  it('names the calendar without letting the name out of its line', () => {
    const model = pageModel({ definition: { title: 'Acme, Inc.\r\nBEGIN:VEVENT; x' }, components: [componentModel()] });
    const calendar = new ICAL.Component(ICAL.parse(textOf(model)));
    expect(calendar.getAllSubcomponents('vevent')).toEqual([]);
    expect(calendar.getFirstPropertyValue('x-wr-calname')).toBe('Acme\\, Inc. BEGIN:VEVENT\\; x');
  });
});
