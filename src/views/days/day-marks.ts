/** The marks of days. Those of unremarkable days are most of a page, so each is made once and shared by all bars. */

import { dayMark, joinSafe, type SafeHtml } from '../text/safe-html.ts';
import { fill, type Words } from '../words/index.ts';
import { stateWord } from '../words/state-words.ts';
import { stateOfLetter } from './day-bar.ts';

/** The mark of the day at `index` that was all in the state of `letter`. */
export type PlainMarks = (letter: string, index: number) => SafeHtml;

/** @param days  as they are written, oldest first */
export function plainMarksOf(days: readonly string[], words: Words): PlainMarks {
  const byLetter = new Map<string, readonly SafeHtml[]>();
  const marksOf = (letter: string) => {
    const state = stateWord(stateOfLetter(letter), words);
    return days.map((day) => dayMark(fill(words.dayPlain, { day, state })));
  };
  return (letter, index) => byLetter.getOrInsertComputed(letter, marksOf)[index] ?? dayMark('');
}

export interface MarkedDays {
  /** A letter a day, oldest first. */
  readonly letters: string;
  /** What a day says beyond its state, by index. */
  readonly notes: Readonly<Record<number, string>>;
}

/** A mark for every day. */
export function dayMarks({ letters, notes }: MarkedDays, plain: PlainMarks): SafeHtml {
  return joinSafe(
    [...letters].map((letter, index) => {
      const note = notes[index];
      return note === undefined ? plain(letter, index) : dayMark(note);
    }),
  );
}

/** The same for a grid of weeks, where the first day stands in row `firstRow`. */
export function calendarMarks({ letters, notes }: MarkedDays, days: readonly string[], init: CalendarInit): SafeHtml {
  const plain = plainMarksOf(days, init.words);
  const [first = ''] = letters;
  const state = stateWord(stateOfLetter(first), init.words);
  const label = notes[0] ?? fill(init.words.dayPlain, { day: days[0] ?? '', state });
  const rest = [...letters].slice(1).map((letter, index) => {
    const note = notes[index + 1];
    return note === undefined ? plain(letter, index + 1) : dayMark(note);
  });
  return letters === '' ? joinSafe([]) : joinSafe([dayMark(label, `r${init.firstRow}`), ...rest]);
}

export interface CalendarInit {
  readonly words: Words;
  readonly firstRow: number;
}
