import ICAL from 'ical.js';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, type PageMaintenance, type PageModel } from '../../../src/model/index.ts';
import { calendarText } from '../../../src/publish/files/feed-text.ts';
import { calendarView } from '../../../src/views/feeds/feeds.ts';
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
    expect(events.map(({ summary }) => summary)).toEqual(['Database upgrade', 'Export workers move to new machines']);
    const upgrade = events[0];
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
    expect(idsOf(calendarText(calendarView(model, api)))).toEqual(idsOf(textOf(model)).slice(0, 1));
  });
});

describe('what calendars know an event by', () => {
  it('is an id that stays when everything else changes', () => {
    const moved = only({ title: 'Renamed', startsAt: ago(-9 * DAY_MS), endsAt: ago(-10 * DAY_MS), updates: [] });
    expect(moved.uid).toBe(only({}).uid);
    expect(moved.uid).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is a sequence that counts recorded changes', () => {
    expect(only({ sequence: 0 }).sequence).toBe(0);
    expect(only({ sequence: 3 }).sequence).toBe(3);
  });

  it('is stamped with its last change, never with the hour it was drawn', () => {
    const stampOf = (init: Partial<PageMaintenance>) =>
      Date.parse(String(only(init).component.getFirstPropertyValue('dtstamp')));
    expect(stampOf({ editedAt: ago(HOUR_MS) })).toBe(ago(HOUR_MS));
    expect(stampOf({ changedAt: ago(HOUR_MS) })).toBe(ago(DAY_MS));
    expect(stampOf({})).toBe(ago(DAY_MS));
    const now = calm();
    expect(textOf({ ...now, asOf: ago(-HOUR_MS) })).toBe(textOf(now));
  });
});

describe('a maintenance that repeats', () => {
  const windowsAt = (...days: number[]) =>
    days.map((day) => ({ from: ago(-day * DAY_MS), to: ago(-day * DAY_MS - HOUR_MS) }));
  const repeats = { rule: 'FREQ=DAILY', every: 'day', interval: 1, weekdays: [] } as const;
  const repeating = (days: number[]): Partial<PageMaintenance> => {
    const windows = windowsAt(...days);
    return { windows, repeats: { ...repeats, windows } };
  };

  it('has an event for each window, with an id of its own that stays', () => {
    const events = eventsOf(textOf(pageModel({ maintenances: [maintenance(repeating([-1, 1, 2]))] })));
    expect(events.map(({ startDate }) => startDate.toJSDate().getTime())).toEqual([
      ago(-2 * DAY_MS),
      ago(-DAY_MS),
      ago(DAY_MS),
    ]);
    const later = eventsOf(textOf(pageModel({ maintenances: [maintenance(repeating([1, 2, 3]))] })));
    expect(later.slice(1).map(({ uid }) => uid)).toEqual(events.slice(0, 2).map(({ uid }) => uid));
  });

  it('takes no place of another that is to come', () => {
    const often = maintenance({ slug: 'often', ...repeating(Array.from({ length: 400 }, (_, index) => index - 200)) });
    const events = eventsOf(textOf(pageModel({ maintenances: [often, maintenance({ title: 'Once' })] })));
    expect(events).toHaveLength(200);
    expect(events.map(({ summary }) => summary)).toContain('Once');
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
    expect(only({ texts: [body] }).description).toBe(`API\n\n${body}`);
  });

  it('has a component without any event, as RFC 5545 wants, and no other component otherwise', () => {
    const partsOf = (model: PageModel) => new ICAL.Component(ICAL.parse(textOf(model))).getAllSubcomponents();
    const [zone, ...others] = partsOf(pageModel({}));
    expect(others).toEqual([]);
    expect(zone?.name).toBe('vtimezone');
    expect(zone === undefined ? '' : new ICAL.Timezone(zone).tzid).toBe('Etc/UTC');
    expect(zone?.getAllSubcomponents('standard')).toHaveLength(1);
    expect(partsOf(hostilePage('a')).map(({ name }) => name)).toEqual(['vevent']);
  });

  it('names the calendar without letting the name out of its line', () => {
    const model = pageModel({ definition: { title: 'Acme, Inc.\r\nBEGIN:VEVENT; x' }, components: [componentModel()] });
    const calendar = new ICAL.Component(ICAL.parse(textOf(model)));
    expect(calendar.getAllSubcomponents('vevent')).toEqual([]);
    expect(calendar.getFirstPropertyValue('x-wr-calname')).toBe('Acme\\, Inc. BEGIN:VEVENT\\; x');
  });
});
