import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOOKS } from '../../../src/looks/states.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, STATES, type State } from '../../../src/model/index.ts';
import { barPaths } from '../../../src/views/days/bar-paths.ts';
import { calendarPaths } from '../../../src/views/days/calendar-paths.ts';
import { barCells, barDays, dayBarOf, stateOfLetter } from '../../../src/views/days/day-bar.ts';
import { contextOf } from '../../../src/views/frame/shell.ts';
import { ago, componentModel, incident, pageModel, type Trouble } from '../../helpers/page-model.ts';

function barWith(troubles: readonly Trouble[], incidents = [] as ReturnType<typeof incident>[], knownDays = 400) {
  const component = componentModel({ troubles, knownDays });
  const model = pageModel({ components: [component] });
  const context = contextOf(model);
  const days = barDays(context);
  return { ...dayBarOf(context, days, { cells: barCells(component, days.days, model), incidents }), days };
}

/** The part of each day that is drawn in a letter, counted from the path data. */
function drawnDays(letters: string): string[] {
  const drawn = Array.from({ length: letters.length }, () => '');
  for (const { letter, d } of barPaths(letters))
    for (const [, from, length] of d.matchAll(/M(\d+) [\d.]+h(\d+)/g))
      for (let at = Number(from); at < Number(from) + Number(length); at += 1) drawn[at] += letter;
  return drawn;
}

describe('ninety days', () => {
  it('are a letter each, oldest first, today last', () => {
    const { letters, days } = barWith([{ state: 'major_outage', startedAgoMs: 10 * MINUTE_MS }]);
    expect(letters).toBe(`${'o'.repeat(89)}m`);
    expect(days.texts.at(-1)).toBe('Nov 21');
    expect(days.days).toHaveLength(90);
  });

  it('say how long each state lasted and which incidents there were', () => {
    const outage = incident({ title: 'Fire', startedAt: ago(30 * HOUR_MS), endedAt: ago(29 * HOUR_MS) });
    const { notes } = barWith([{ state: 'major_outage', startedAgoMs: 30 * HOUR_MS, forMs: HOUR_MS }], [outage]);
    expect(notes[88]).toBe('Nov 20: Outage 1 hr, Operational 23 hr. Incidents: Fire');
    expect(Object.keys(notes)).toEqual(['88']);
  });

  it('are never well where nothing was heard', () => {
    expect(barWith([], [], 10).letters).toMatch(/^u{79}[uo]o{10}$/);
    expect(barWith([{ state: 'unknown', startedAgoMs: 5 * DAY_MS, forMs: 2 * DAY_MS }]).letters).toContain('u');
  });

  it('keep a blip out of the colour and in the letter', () => {
    const { letters, notes } = barWith([{ state: 'major_outage', startedAgoMs: 30 * HOUR_MS, forMs: 40 * SECOND_MS }]);
    expect(letters[88]).toBe('O');
    expect(notes[88]).toContain('Outage 40 sec');
  });

  it('are the same as a table: its rows cover every day once, in order', () => {
    const { rows, letters } = barWith([
      { state: 'degraded', startedAgoMs: 50 * DAY_MS, forMs: HOUR_MS },
      { state: 'maintenance', startedAgoMs: 20 * DAY_MS, forMs: HOUR_MS },
    ]);
    expect(rows.map((row) => row.state)).toEqual([
      'operational',
      'degraded',
      'operational',
      'maintenance',
      'operational',
    ]);
    expect(rows[1]?.detail).toBe('Degraded 1 hr, Operational 23 hr');
    expect(letters.replace(/o+/g, 'o')).toBe('odoto');
  });

  it('have a letter for every state and a state for every letter', () => {
    for (const state of STATES) expect(stateOfLetter(LOOKS[state].letter)).toBe(state);
    expect(stateOfLetter('?')).toBe('unknown' satisfies State);
  });
});

describe('drawing', () => {
  const lettersOf = fc.string({ unit: fc.constantFrom(...'odpmtsuODPT'), minLength: 1, maxLength: 120 });

  it('puts each day into its own place and state, whatever the days', () => {
    fc.assert(
      fc.property(lettersOf, (letters) => {
        expect(drawnDays(letters)).toEqual(
          [...letters].map((sign) => {
            const letter = sign.toLowerCase();
            const mark = letter === 'u' ? 'uuu' : letter;
            return sign === letter ? mark : `${mark}b`;
          }),
        );
      }),
    );
  });

  it('weighs what changes, not how long it is', () => {
    expect(barPaths('o'.repeat(90))).toEqual([{ letter: 'o', d: 'M0 4h90' }]);
  });

  it('puts a year into weeks', () => {
    const [path] = calendarPaths('ooo', 6);
    expect(path?.d).toBe('M3.5 120h9M19.5 24h9M19.5 40h9');
  });
});
