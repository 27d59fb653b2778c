/** What days say beyond their state: as runs of days alike, packed for the script that shows them, and as rows of a table. */

import { LOOKS, stateOfLetter } from '../../looks/states.ts';
import { type Day, type PageIncident, type Pieces, STATES } from '../../model/index.ts';
import type { PageFrame } from '../frame/page-frame.ts';
import { linkToStory, type ViewContext } from '../frame/shell.ts';
import { incidentPath, pathSegment } from '../text/addresses.ts';
import { cleanLine, cleanText } from '../text/plain-text.ts';
import { fill } from '../words/index.ts';
import { stateWord } from '../words/state-words.ts';

/** What a bar or a calendar says of an incident. */
export type IncidentHead = Pick<PageIncident, 'slug' | 'title' | 'lang' | 'pieces' | 'startedAt' | 'endedAt'>;

export interface DayDetail {
  /** When the day was in which trouble, packed (`day-bar.ts`); empty where its state says it all. */
  readonly spans: string;
  readonly incidents: readonly Omit<IncidentHead, 'startedAt' | 'endedAt'>[];
}

/** Days next to each other of which the same is to be said. */
export interface DayRun extends DayDetail {
  /** Indexes of the first and of the last day. */
  readonly from: number;
  readonly to: number;
  readonly letter: string;
}

/** @param letters  one a day, oldest first, as many as `details` */
export function dayRuns(letters: string, details: readonly DayDetail[]): DayRun[] {
  const runs: (DayRun & { to: number })[] = [];
  for (let index = 0; index < details.length; index += 1) {
    const { spans, incidents } = details[index] as DayDetail;
    const letter = letters[index] ?? 'u';
    const last = runs.at(-1);
    const isLike =
      last?.letter === letter &&
      last.spans === spans &&
      (last.incidents === incidents || isSameList(last.incidents, incidents));
    if (isLike) last.to = index;
    else runs.push({ from: index, to: index, letter, spans, incidents });
  }
  return runs;
}

function isSameList(a: DayDetail['incidents'], b: DayDetail['incidents']): boolean {
  return a.length === b.length && a.every((one, at) => one.slug === b[at]?.slug);
}

/** Letters by how many there are in a row: `o34p1` is what `src/components/days/days.ts` reads. */
export function packLetters(letters: string): string {
  return letters.replace(/(.)\1*/g, (run, letter) => letter + run.length);
}

/** A line for each run that says more than its state: its days, a tab, its spans, and a tab and incidents, if any. */
export function packNotes(runs: readonly DayRun[]): string {
  return runs
    .filter(({ spans, incidents }) => spans !== '' || incidents.length > 0)
    .map(({ from, to, spans, incidents }) => {
      const days = from === to ? `${from}` : `${from}-${to}`;
      const slugs = incidents.map(({ slug }) => pathSegment(slug)).join(' ');
      return [days, spans, ...(slugs === '' ? [] : [slugs])].join('\t');
    })
    .join('\n');
}

export type DayRowView = ReturnType<typeof listDayRows>[number];

/** Days with more to say than that all was well, newest first. */
export function listDayRows(
  { words, base, format }: ViewContext<PageFrame>,
  texts: readonly string[],
  runs: readonly DayRun[],
) {
  return runs
    .filter(({ letter, spans, incidents }) => letter !== LOOKS.operational.letter || spans || incidents.length > 0)
    .toReversed()
    .map(({ from, to, letter, spans, incidents }) => ({
      days: from === to ? (texts[from] ?? '') : fill(words.dayRange, { from: texts[from] ?? '', to: texts[to] ?? '' }),
      state: stateOfLetter(letter),
      stateWord: stateWord(stateOfLetter(letter), words),
      text: format.spans(spans, letter, words),
      incidents: incidents.map((one) => linkToStory(one, base + incidentPath(one.slug))),
    }));
}

/** What all bars of a page share: the pop-over that shows a day. */
export type DayTipView = ReturnType<typeof dayTip>;

/** @param runs  of all bars of the page */
export function dayTip(
  { words, base }: ViewContext<PageFrame>,
  days: readonly Day[],
  runs: Iterable<readonly DayRun[]>,
) {
  const noted = new Map<string, DayDetail['incidents'][number]>();
  for (const list of runs) for (const { incidents } of list) for (const one of incidents) noted.set(one.slug, one);
  return {
    // The last day of every bar.
    until: days.at(-1) ?? ('' as Day),
    base,
    words: STATES.map((state) => ({ letter: LOOKS[state].letter, state, word: stateWord(state, words) })),
    ongoing: words.badgeOngoing,
    // A line for each: its segment, and the pieces of its title, each followed by its language where that is not the page's.
    incidents: [...noted.values()].map(({ slug, title, lang, pieces }) => {
      const text = cleanLine(title);
      const parts = pieces ?? [lang === undefined ? text : { text, lang }];
      return [pathSegment(slug), ...parts.flatMap(packPiece)].join('\t').trimEnd();
    }),
  };
}

function packPiece(piece: Pieces[number]): [text: string, lang: string] {
  const { text, lang = '' } = typeof piece === 'string' ? { text: piece } : piece;
  return [cleanText(text).replace(/\s+/g, ' '), lang];
}
