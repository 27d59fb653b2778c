/**
 * Ninety days of one component, small: a letter a day, and words only for the days that need them, which a script shows when a day
 * is chosen.
 */

import { LOOKS, stateOfLetter } from '../../looks/states.ts';
import {
  type ComponentModel,
  cutTimeline,
  DAY_MS,
  type Day,
  type DayCell,
  dayCells,
  dayOf,
  daysUntil,
  type EpochMs,
  type Interval,
  MINUTE_MS,
  type PageIncident,
  type PageModel,
  type Pieces,
  SECOND_MS,
  STATES,
  STATES_BY_IMPACT,
  type State,
  type TimelineSpan,
  toEpochMs,
} from '../../model/index.ts';
import { type DatedPage, linkToStory, type PageFrame, type ViewContext } from '../frame/shell.ts';
import { incidentPath, pathSegment } from '../text/addresses.ts';
import type { Format } from '../text/format.ts';
import { cleanLine, cleanText } from '../text/plain-text.ts';
import { fill, stateWord } from '../words/index.ts';

export const BAR_DAYS = 90;

export type DayBarView = ReturnType<typeof buildDayBar>;

/** Every page of a site writes the same days, by the few formats that there are. */
const written = new WeakMap<Format['day'], WeakMap<readonly Day[], readonly string[]>>();

/** The days of a bar as they are written, oldest first. */
export type DaysView = ReturnType<typeof barDays>;

/** The days that end with the one of `model.asOf`. */
export function barDays({ model, format }: ViewContext<DatedPage>, dayCount: number = BAR_DAYS) {
  const days = daysUntil(dayOf(model.asOf, model.settings.timezone), dayCount);
  const write = dayCount > BAR_DAYS ? format.day : format.dayInYear;
  const texts = written
    .getOrInsertComputed(write, () => new WeakMap())
    .getOrInsertComputed(days, () => days.map(write));
  return { days, texts };
}

export function barCells(
  { timeline }: Pick<ComponentModel, 'timeline'>,
  days: readonly Day[],
  { settings, asOf }: Pick<PageModel, 'settings' | 'asOf'>,
): readonly DayCell[] {
  return dayCells(timeline, days, { zone: settings.timezone, now: asOf, blipFloorMs: settings.blipFloorMs });
}

/** The days alone: what is to be said of them stands on the page of the component. */
export function buildBriefBar(cells: readonly DayCell[]): DayBarView {
  return { letters: cellLetters(cells), runs: [] };
}

const letters = new WeakMap<readonly DayCell[], string>();

/** A letter for each day, a capital where there was a blip. The same in every language of a page. */
export function cellLetters(cells: readonly DayCell[]): string {
  return letters.getOrInsertComputed(cells, () =>
    cells.map(({ state, hadBlip }) => (hadBlip ? LOOKS[state].letter.toUpperCase() : LOOKS[state].letter)).join(''),
  );
}

/** What is packed of the days of one time line, which is the same in every language. */
const packed = new WeakMap<readonly DayCell[], readonly string[]>();

/** @param incidents  those that are about the component */
export function buildDayBar(
  { settings }: Pick<PageModel, 'settings'>,
  { timeline }: Pick<ComponentModel, 'timeline'>,
  cells: readonly DayCell[],
  incidents: readonly IncidentHead[],
) {
  const letters = cellLetters(cells);
  const spansOf = packed.getOrInsertComputed(cells, () =>
    cells.map((cell) => packSpans(timeline, cell, settings.timezone)),
  );
  const details = cells.map((cell, index): DayDetail => {
    const spans = spansOf[index] ?? '';
    const shown = incidents.length === 0 ? NO_INCIDENTS : incidentsOn(cell, incidents);
    return spans === '' && shown.length === 0 ? NOTHING : { spans, incidents: shown };
  });
  /** One a day, oldest first. */
  return { letters, runs: dayRuns(letters, details) };
}

const NO_INCIDENTS: DayDetail['incidents'] = [];
const NOTHING: DayDetail = { spans: '', incidents: NO_INCIDENTS };
/** Of more the sums say more. */
const SPANS_MAX = 4;

/**
 * When the day was in which state but the usual one, for `writeSpans`: a letter, the minute of its start on the clock of the
 * zone, and its length in whole minutes, before which its end stands where clocks were changed, and after which an `e` stands
 * where it ends a minute later on the clock. Without a length it goes on; without a start it is the sum of many, or has gone on
 * since before. Empty where the day says it all.
 */
function packSpans(timeline: readonly TimelineSpan[], cell: DayCell, zone: string): string {
  const { interval, elapsedMs, msByState, state } = cell;
  const isToday = elapsedMs > 0 && interval.from + elapsedMs < interval.to;
  // Most days are like this.
  if (msByState[state] === elapsedMs) return isToday && state !== 'operational' ? LOOKS[state].letter : '';
  return packTroubles(timeline, cell, { zone, isToday });
}

function packTroubles(
  timeline: readonly TimelineSpan[],
  { interval, elapsedMs, msByState }: DayCell,
  { zone, isToday }: { readonly zone: string; readonly isToday: boolean },
): string {
  const now = toEpochMs(interval.from + elapsedMs);
  const spans: (Interval & { to: EpochMs; readonly state: State })[] = [];
  for (const { state, from, to } of cutTimeline(timeline, { from: interval.from, to: now })) {
    const last = spans.at(-1);
    if (last?.state === state) last.to = to;
    else spans.push({ state, from, to });
  }
  const troubles = spans.filter((span) => span.state !== 'operational');
  if (troubles.length > SPANS_MAX)
    return STATES_BY_IMPACT.filter((one) => one !== 'operational' && msByState[one] > 0)
      .map((one) => LOOKS[one].letter + packLength(msByState[one]))
      .join(' ');
  const minuteOf = (at: EpochMs) => {
    if (at === interval.to) return DAY_MS / MINUTE_MS;
    return interval.to - interval.from === DAY_MS ? Math.floor((at - interval.from) / MINUTE_MS) : wallMinute(at, zone);
  };
  return troubles
    .map(({ state, from, to }) => {
      const [start, end] = [minuteOf(from), minuteOf(to)];
      if (isToday && to === now) return `${LOOKS[state].letter}${start}`;
      const [ms, shownMs] = [to - from, (end - start) * MINUTE_MS];
      const isShifted = Math.abs(shownMs - ms) > MINUTE_MS;
      const isLater = !isShifted && ms >= MINUTE_MS && shownMs > ms;
      return `${LOOKS[state].letter}${start}${isShifted ? `-${end}` : ''}${packLength(ms)}${isLater ? 'e' : ''}`;
    })
    .join(' ');
}

function packLength(ms: number): string {
  return ms < MINUTE_MS ? `+${Math.max(1, Math.floor(ms / SECOND_MS))}s` : `+${Math.floor(ms / MINUTE_MS)}`;
}

/** Minutes since midnight, as clocks show it: on a day on which they change, not those that have passed. */
function wallMinute(at: EpochMs, zone: string): number {
  const { hour, minute } = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  return hour * 60 + minute;
}

/** A page has thousands of days, and most of them have none. */
function incidentsOn({ interval, elapsedMs }: DayCell, incidents: readonly IncidentHead[]): DayDetail['incidents'] {
  const { from, to } = interval;
  const until = Math.min(to, from + Math.max(1, elapsedMs));
  const touches = ({ startedAt, endedAt }: IncidentHead) => startedAt < until && (endedAt === null || endedAt > from);
  if (!incidents.some(touches)) return NO_INCIDENTS;
  return incidents.filter(touches).map(({ slug, title, lang, pieces }) => ({ slug, title, lang, pieces }));
}

/** Incidents of a page by the component they are about. */
export function incidentsByComponent({
  incidents,
}: Pick<PageModel, 'incidents'>): ReadonlyMap<string, readonly PageIncident[]> {
  const byComponent = new Map<string, PageIncident[]>();
  for (const incident of incidents)
    for (const id of incident.componentIds) byComponent.getOrInsert(id, []).push(incident);
  return byComponent;
}

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
