/** What the marks of unremarkable days say. They are most of a page, so each text is made once and shared by all bars. */

import { stateOfLetter } from './day-bar.ts';
import { stateWord } from './state-words.ts';
import { fill, type Words } from './words/index.ts';

/** The text of the day at `index` that was all in the state of `letter`. */
export type PlainDays = (letter: string, index: number) => string;

/** @param days  as they are written, oldest first */
export function plainDaysOf(days: readonly string[], words: Words): PlainDays {
  const byLetter = new Map<string, readonly string[]>();
  const textsOf = (letter: string) => {
    const state = stateWord(stateOfLetter(letter), words);
    return days.map((day) => fill(words.dayPlain, { day, state }));
  };
  return (letter, index) => {
    let texts = byLetter.get(letter);
    if (texts === undefined) {
      texts = textsOf(letter);
      byLetter.set(letter, texts);
    }
    return texts[index] ?? '';
  };
}
