import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOOKS, stateOfLetter } from '../../../src/looks/states.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, STATES, type State } from '../../../src/model/index.ts';
import { barPaths } from '../../../src/views/days/bar-paths.ts';
import { calendarPaths } from '../../../src/views/days/calendar-paths.ts';
import {
  barCells,
  barDays,
  buildDayBar,
  listDayRows,
  packLetters,
  packNotes,
} from '../../../src/views/days/day-bar.ts';
import { createContext } from '../../../src/views/frame/shell.ts';
import { formatIn } from '../../../src/views/text/format.ts';
import { ago, componentModel, incident, pageModel, type Trouble } from '../../helpers/page-model.ts';

function barWith(troubles: readonly Trouble[], incidents = [] as ReturnType<typeof incident>[], knownDays = 400) {
  const component = componentModel({ troubles, knownDays });
  const model = pageModel({ components: [component] });
  const context = createContext(model, '');
  const days = barDays(context);
  const bar = buildDayBar(model, component, barCells(component, days.days, model), incidents);
  return { ...bar, days, rows: listDayRows(context, days.texts, bar.runs) };
}

/** What is seen of each day, counted from the path data: what is drawn last covers what was there, but for brief trouble. */
function drawnDays(letters: string): string[] {
  const drawn = Array.from({ length: letters.length }, () => '');
  for (const { letter, d } of barPaths(letters))
    for (const [, from, y, length] of d.matchAll(/M(\d+) ([\d.]+)h(\d+)/g))
      for (let at = Number(from); at < Number(from) + Number(length); at += 1)
        drawn[at] = y === '4' && letter !== 'u' ? letter : drawn[at] + letter;
  return drawn;
}

const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'Europe/Berlin',
});

describe('ninety days', () => {
  it('are a letter each, oldest first, today last', () => {
    const { letters, days } = barWith([{ state: 'major_outage', startedAgoMs: 10 * MINUTE_MS }]);
    expect(letters).toBe(`${'o'.repeat(89)}m`);
    expect(days.texts.at(-1)).toBe('Nov 21');
    expect(days.days).toHaveLength(90);
  });

  it('say how long trouble lasted and which incidents there were', () => {
    const outage = incident({
      slug: 'a fire',
      title: 'Fire',
      startedAt: ago(30 * HOUR_MS),
      endedAt: ago(29 * HOUR_MS),
    });
    const bar = barWith([{ state: 'major_outage', startedAgoMs: 30 * HOUR_MS, forMs: HOUR_MS }], [outage]);
    expect(packNotes(bar.runs)).toBe('88\tm211+60\ta~20~fire');
    expect(bar.rows).toEqual([
      {
        days: 'Nov 20',
        state: 'major_outage',
        stateWord: 'Major outage',
        text: '03:31 – 04:31 (1\u{a0}h)',
        incidents: [{ href: 'incidents/a~20~fire/', text: 'Fire' }],
      },
    ]);
  });

  it('name the trouble where it is not what the day is called', () => {
    const { rows } = barWith([
      { state: 'major_outage', startedAgoMs: 30 * HOUR_MS, forMs: HOUR_MS },
      { state: 'degraded', startedAgoMs: 28 * HOUR_MS, forMs: HOUR_MS },
    ]);
    expect(rows.map(({ stateWord, text }) => [stateWord, text])).toEqual([
      ['Major outage', 'Major outage 03:31 – 04:31 (1\u{a0}h), Degraded 05:31 – 06:31 (1\u{a0}h)'],
    ]);
  });

  it('say of today what goes on', () => {
    const text = (troubles: readonly Trouble[]) => barWith(troubles).rows[0]?.text;
    expect(text([{ state: 'major_outage', startedAgoMs: 2 * MINUTE_MS }])).toBe('09:29 – ongoing');
    expect(text([{ state: 'major_outage', startedAgoMs: 40 * HOUR_MS }])).toBe('ongoing');
    const twice: Trouble[] = [
      { state: 'degraded', startedAgoMs: 3 * HOUR_MS, forMs: 30 * SECOND_MS },
      { state: 'major_outage', startedAgoMs: 2 * HOUR_MS },
    ];
    expect(text(twice)).toBe('Degraded 06:31 (30\u{a0}s), Major outage 07:31 – ongoing');
  });

  it('say as long as an incident of the same time does, whatever the seconds', () => {
    const lengthOf = (startedAgoMs: number, forMs: number) =>
      barWith([{ state: 'major_outage', startedAgoMs, forMs }]).rows[0]?.text;
    expect(lengthOf(30 * HOUR_MS + 10 * SECOND_MS, 140 * SECOND_MS)).toBe('03:30 – 03:33 (2\u{a0}min)');
    expect(lengthOf(30 * HOUR_MS + 10 * SECOND_MS, 40 * SECOND_MS)).toBe('Major outage 03:30 (40\u{a0}s)');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600 }), fc.integer({ min: 61, max: 3_600 }), (later, seconds) => {
        const text = lengthOf(30 * HOUR_MS - later * SECOND_MS, seconds * SECOND_MS);
        expect(text).toContain(
          `(${formatIn('en', 'UTC')
            .duration(seconds * SECOND_MS)
            .replaceAll(' ', '\u{a0}')})`,
        );
        expect(text).toContain(` – ${clock.format(ago(30 * HOUR_MS - (later + seconds) * SECOND_MS))}`);
      }),
    );
  });

  it('say of many short spells how long they were together', () => {
    const troubles = Array.from({ length: 6 }, (_, index) => ({
      state: index % 2 === 0 ? ('major_outage' as const) : ('degraded' as const),
      startedAgoMs: (20 + index) * HOUR_MS,
      forMs: 10 * MINUTE_MS,
    }));
    expect(barWith(troubles).rows[0]?.text).toBe('Major outage 30 min, Degraded 30 min');
  });

  it('tell the time of a day on which clocks change as clocks show it', () => {
    // In Berlin, 25 October 2026 has two hours from 02:00 to 03:00.
    const startedAgoMs = ago(0) - Date.parse('2026-10-25T00:30:00Z');
    const { rows, runs } = barWith([{ state: 'major_outage', startedAgoMs, forMs: 2 * HOUR_MS }]);
    expect(packNotes(runs)).toBe('62\tm150-210+120');
    expect(rows[0]?.text).toBe('02:30 – 03:30 (2\u{a0}h)');
  });

  it('say of many days of which the same is to be said only once what it is', () => {
    const long = incident({ slug: 'long', startedAt: ago(40 * DAY_MS), endedAt: ago(10 * DAY_MS) });
    expect(packNotes(barWith([], [long]).runs)).toBe('49-79\t\tlong');
  });

  it('are never well where nothing was heard', () => {
    expect(barWith([], [], 10).letters).toMatch(/^u{79}[uo]o{10}$/);
    expect(barWith([{ state: 'unknown', startedAgoMs: 5 * DAY_MS, forMs: 2 * DAY_MS }]).letters).toContain('u');
  });

  it('keep a blip out of the colour and in the letter', () => {
    const { letters, runs } = barWith([{ state: 'major_outage', startedAgoMs: 30 * HOUR_MS, forMs: 40 * SECOND_MS }]);
    expect(letters[88]).toBe('O');
    expect(packNotes(runs)).toBe('88\tm211+40s');
  });

  it('are a table too, newest first, of the days that were not all well', () => {
    const { rows, letters } = barWith([
      { state: 'degraded', startedAgoMs: 50 * DAY_MS, forMs: HOUR_MS },
      { state: 'maintenance', startedAgoMs: 20 * DAY_MS, forMs: 3 * DAY_MS },
    ]);
    expect(letters.replace(/o+/g, 'o')).toBe('odotttto');
    expect(rows.map(({ days, stateWord, text }) => [days, stateWord, text])).toEqual([
      ['Nov 4', 'Maintenance', '00:00 – 09:31 (9\u{a0}h 31\u{a0}min)'],
      ['Nov 2 – Nov 3', 'Maintenance', ''],
      ['Nov 1', 'Maintenance', '09:31 – 00:00 (14\u{a0}h 29\u{a0}min)'],
      ['Oct 2', 'Degraded', '10:31 – 11:31 (1\u{a0}h)'],
    ]);
  });

  it('are packed by how many are alike', () => {
    expect(packLetters('ooopPoo')).toBe('o3p1P1o2');
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

  it('draws trouble over one line of good days, and nothing below a day without data', () => {
    expect(barPaths('ooudPo')).toEqual([
      { letter: 'o', d: 'M0 4h2M3 4h3' },
      { letter: 'u', d: 'M2 1.8h1M2 4h1M2 6.2h1' },
      { letter: 'd', d: 'M3 4h1' },
      { letter: 'p', d: 'M4 4h1' },
      { letter: 'b', d: 'M4 7.5h1' },
    ]);
  });

  it('puts a month into weeks, from right to left where it is read so', () => {
    expect(calendarPaths('oo', 6)).toEqual([{ letter: 'o', d: 'M99.5 19.5h9v9h-9zM3.5 35.5h9v9h-9z' }]);
    expect(calendarPaths('oo', 6, true)).toEqual([{ letter: 'o', d: 'M3.5 19.5h9v9h-9zM99.5 35.5h9v9h-9z' }]);
  });

  it('gives every state of a calendar a shape of its own', () => {
    const shapes = STATES.map((state) => calendarPaths(LOOKS[state].letter, 0)[0]?.d);
    expect(new Set(shapes).size).toBe(STATES.length);
    expect(shapes).not.toContain(undefined);
  });
});
