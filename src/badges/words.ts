/** What badges say unless an operator chose other words. */

import { STATES, type State } from '../model/state.ts';
import { en } from '../views/words/en.ts';
import { catalogueTag, wordsOf } from '../views/words/index.ts';
import { stateWord } from '../views/words/state-words.ts';

/** `{n}` stands for a number. */
export interface BadgeWords extends Readonly<Record<State, string>> {
  readonly stale: string;
  readonly open: string;
  readonly noneOpen: string;
  readonly ongoing: string;
  readonly noneRecorded: string;
  readonly days: string;
  readonly oneDay: string;
  readonly nonePlanned: string;
  readonly inProgress: string;
}

/** Those of the pages, in small letters as they stand behind a label. */
const STATE_WORDS = Object.fromEntries(STATES.map((state) => [state, stateWord(state, en).toLowerCase()])) as Readonly<
  Record<State, string>
>;

export const ENGLISH: BadgeWords = {
  ...STATE_WORDS,
  stale: 'stale',
  open: '{n} open',
  noneOpen: 'none open',
  ongoing: 'ongoing',
  noneRecorded: 'none recorded',
  days: '{n} days',
  oneDay: '1 day',
  nonePlanned: 'none planned',
  inProgress: 'in progress',
};

const known = new Map<string, BadgeWords>();

/** With states in the words of a language, as its pages write them; the others are English everywhere. */
export function badgeWordsIn(locale: string): BadgeWords {
  const tag = catalogueTag(locale);
  if (tag === 'en') return ENGLISH;
  return known.getOrInsertComputed(tag, () => {
    const words = wordsOf(tag);
    return { ...ENGLISH, ...Object.fromEntries(STATES.map((state) => [state, stateWord(state, words)])) };
  });
}
