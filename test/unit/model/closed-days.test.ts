import { describe, expect, it } from 'vitest';
import { compareDays, correctionReason, type DayRecord } from '../../../src/model/days.ts';
import type { Day } from '../../../src/model/time.ts';

const FROM = '2026-08-24' as Day;
const UP = JSON.stringify({ seconds: { operational: 86_400 } });
const DOWN = JSON.stringify({ seconds: { operational: 86_100, major_outage: 300 } });
const record = (component: string, day: string, figures: string): DayRecord => ({
  component,
  day: day as Day,
  figures,
});

describe('what a page says of days that are over', () => {
  const shown = [record('api', '2026-11-20', UP), record('api', '2026-11-21', DOWN)];
  const about = { components: ['api'], from: FROM };

  it('is new when nothing was committed', () => {
    expect(compareDays({ through: null, days: [] }, { ...about, shown })).toEqual({ fresh: shown, changes: [] });
  });

  it('is new for the days since', () => {
    const days = shown.slice(0, 1);
    const through = '2026-11-20' as Day;
    expect(compareDays({ through, days }, { ...about, shown })).toEqual({ fresh: shown.slice(1), changes: [] });
  });

  it('is nothing when it is the same', () => {
    const through = '2026-11-21' as Day;
    expect(compareDays({ through, days: shown }, { ...about, shown })).toEqual({ fresh: [], changes: [] });
  });

  it('is a correction when a day says something else', () => {
    const through = '2026-11-21' as Day;
    const now = [record('api', '2026-11-20', DOWN), record('api', '2026-11-21', DOWN)];
    expect(compareDays({ through, days: shown }, { ...about, shown: now }).changes).toEqual([
      { component: 'api', day: '2026-11-20', was: UP, now: DOWN },
    ]);
  });

  it('is a correction when a day that was closed without any word gets one', () => {
    const through = '2026-11-21' as Day;
    const days = shown.slice(0, 1);
    expect(compareDays({ through, days }, { ...about, shown }).changes).toEqual([
      { component: 'api', day: '2026-11-21', was: null, now: DOWN },
    ]);
  });

  it('is a correction also when all that was committed of the component had been withdrawn', () => {
    const through = '2026-11-21' as Day;
    const days = [{ component: 'api', day: '2026-11-20' as Day, figures: null }];
    expect(compareDays({ through, days }, { ...about, shown: shown.slice(1) })).toEqual({
      fresh: [],
      changes: [{ component: 'api', day: '2026-11-21', was: null, now: DOWN }],
    });
  });

  it('is a correction when nothing is known of a day any more, and not when it is too old to be shown', () => {
    const through = '2026-11-21' as Day;
    const days = [record('api', '2026-08-01', UP), ...shown];
    expect(compareDays({ through, days }, { ...about, shown: shown.slice(1) }).changes).toEqual([
      { component: 'api', day: '2026-11-20', was: UP, now: null },
    ]);
  });

  it('is new for a component that is added with its past, and nothing for one that is taken off the page', () => {
    const through = '2026-11-21' as Day;
    const added = shown.map(({ day, figures }) => record('web', day, figures));
    expect(compareDays({ through, days: shown }, { ...about, components: ['web'], shown: added })).toEqual({
      fresh: added,
      changes: [],
    });
  });

  it('says why, as far as figures tell', () => {
    const half = JSON.stringify({ seconds: { operational: 100, unknown: 86_300 } });
    const counted = JSON.stringify({
      seconds: { operational: 86_100, major_outage: 300 },
      counted: { operational: 86_400 },
    });
    expect(correctionReason({ was: null, now: UP })).toBe('reported_later');
    expect(correctionReason({ was: half, now: UP })).toBe('reported_later');
    expect(correctionReason({ was: DOWN, now: counted })).toBe('counted_differently');
    expect(correctionReason({ was: DOWN, now: UP })).toBe('history_changed');
    expect(correctionReason({ was: UP, now: null })).toBe('history_changed');
  });
});
