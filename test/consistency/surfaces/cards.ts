/** What pages have in common: cards of events, bars of days. */

import { addressIn, type Check, type ReadPlan, type ReadStory, same } from '../check.ts';
import type { Expected } from '../expected.ts';
import { namesText } from '../expected-entries.ts';
import { dayStates, daysUpTo, stateIn, sumsIn } from '../figures.ts';
import { all, byId, classesOf, type Document, type Element, one, textOf, timesIn } from '../html.ts';
import type { Line } from '../lines.ts';
import type { ExpectedStory } from '../story.ts';
import { DAY_LETTERS, IMPACT_WORDS, WORST_FIRST } from './words.ts';

/** `Affects A and B`. */
export function affects(expected: Expected): (ids: readonly string[]) => string {
  return (ids) => {
    const names = expected.lines
      .filter(({ component }) => ids.includes(component.id))
      .map(({ component }) => component.name);
    return names.length === 0 ? '' : `Affects ${listText(names)}`;
  };
}

function listText(names: readonly string[]): string {
  const [last = '', ...others] = names.toReversed();
  return others.length < 2 ? namesText(names) : `${others.toReversed().join(', ')}, and ${last}`;
}

export function isPlanCard(card: Element): boolean {
  return (one(card, 'a').attribs['href'] ?? '').includes('maintenance/');
}

/** A card of an incident, as lists draw it. */
export function readCard(check: Check, card: Element): ReadStory {
  const side = one(card, 'div', 'side');
  const title = one(one(card, 'h3', 'headline'), 'a');
  const [from = Number.NaN, to] = timesIn(side);
  const words = textOf(side);
  const ticking = all(side, 'span').find(({ attribs }) => attribs['data-since'] !== undefined);
  if (ticking !== undefined)
    same(check, `${textOf(title)}: ticks from`, Date.parse(ticking.attribs['data-since'] ?? ''), from);
  if ((ticking === undefined) !== (to !== undefined)) check.differences.push(`${textOf(title)}: over, and ticking`);
  const impact = Object.entries(IMPACT_WORDS).find(([word]) => words.includes(word));
  return {
    address: addressIn(check, title.attribs['href'] ?? ''),
    title: textOf(title),
    from,
    to: to ?? null,
    status: textOf(one(side, 'b')),
    impact: impact?.[1] ?? 'none',
    isAutomatic: words.includes('Detected automatically'),
    names: all(card, 'p', 'affects').map(textOf).join(),
    updates: readUpdates(card),
  };
}

export function readPlanCard(check: Check, card: Element): ReadPlan & { readonly status: string } {
  const side = one(card, 'div', 'side');
  const title = one(one(card, 'h3', 'headline'), 'a');
  const [from = Number.NaN, to = Number.NaN] = timesIn(side);
  return {
    address: addressIn(check, title.attribs['href'] ?? ''),
    title: textOf(title),
    from,
    to,
    status: textOf(one(side, 'b')),
    updates: readUpdates(card),
  };
}

/** Of the page of a story: each has a heading, and its time beside it. */
export function readStoryUpdates(main: Element): { at: number; status: string }[] {
  return all(main, 'div', 'head').map((head) => ({
    at: timesIn(head)[0] ?? Number.NaN,
    status: textOf(one(head, 'h3')),
  }));
}

/** Newest first, wherever they are folded. */
function readUpdates(place: Element): { at: number; status: string }[] {
  return all(place, 'ol', 'updates').flatMap((list) =>
    all(list, 'b').map((word) => ({
      at: timesIn(word.parent as Element)[0] ?? Number.NaN,
      status: textOf(word),
    })),
  );
}

/** The bar of a component, its marks, its words and its table, against its line. */
export function checkBar(
  check: Check,
  place: Element,
  {
    page,
    line,
    where,
    as,
  }: { readonly page: Document; readonly line: Line; readonly where: string; readonly as: Expected },
): void {
  const days = daysUpTo(as.asOf, as.world.zone, 90);
  const sums = days.map(({ from, to }) => sumsIn(line.pieces, from, to));
  const states = dayStates(sums, stateIn(line.pieces, as.asOf));
  const drawn: string[] = [];
  const brief = new Set<number>();
  for (const path of all(one(place, 'svg', 'strip'), 'path')) {
    const [letter = ''] = classesOf(path);
    for (const [, from = '', y, length = ''] of (path.attribs['d'] ?? '').matchAll(/M(\d+) ([\d.]+)h(\d+)/g))
      for (let day = Number(from); day < Number(from) + Number(length); day += 1)
        if (letter === 'b' && y === '7.5') brief.add(day);
        else drawn[day] = DAY_LETTERS[letter] ?? letter;
  }
  same(check, `${where}: marks of days`, drawn, states);
  const isDown = (state: string | undefined): boolean => state === 'major_outage' || state === 'partial_outage';
  const blips = sums.flatMap((sum, index) =>
    sum.major_outage + sum.partial_outage > 0 && !isDown(states[index]) ? [index] : [],
  );
  same(
    check,
    `${where}: marks of brief outages`,
    [...brief].sort((a, b) => a - b),
    blips,
  );
  const stories = as.stories.filter(({ componentIds }) => componentIds.includes(line.component.id));
  const known = titlesOf(page);
  const notes = readNotes(one(place, '*', 'days').attribs['data-notes'] ?? '');
  for (const [index, day] of days.entries()) {
    const titles = stories.filter((story) => isOn(story, day)).map(({ title }) => title);
    const { text, slugs } = notes.get(index) ?? { text: '', slugs: [] };
    const packed = new Set(text === '' ? [] : text.split(' ').map((part) => DAY_LETTERS[part.slice(0, 1)]));
    // Of many troubles it gives sums, with all the time that nothing is known of.
    const isSummed = text !== '' && text.split(' ').every((part) => /^[a-z]\+\d+s?$/.test(part));
    const wanted = troublesOn(line, day, { isOver: index < days.length - 1, isSummed });
    const words = WORST_FIRST.filter((state) => packed.has(state));
    same(check, `${where}: words of ${day.date}`, words.join(), wanted.join());
    const told = slugs.map((slug) => known.get(slug) ?? slug);
    same(check, `${where}: incidents of ${day.date}`, told.toSorted(), titles.toSorted());
  }
}

/** The states of a day besides operational; none of a day that is over and was in one state, which its mark says. */
function troublesOn(
  { pieces }: Line,
  { from, to }: { readonly from: number; readonly to: number },
  { isOver, isSummed }: { readonly isOver: boolean; readonly isSummed: boolean },
): readonly string[] {
  if (from >= to) return [];
  const here = pieces.filter((piece) => Math.max(piece.from, from) < Math.min(piece.to, to)).map(({ state }) => state);
  // Before anything was known, nothing is said, but that is another state.
  const present = new Set([...here, ...((pieces[0]?.from ?? to) > from ? (['unknown'] as const) : [])]);
  const told = new Set(present.size === 1 || isSummed ? present : here);
  return present.size === 1 && isOver ? [] : WORST_FIRST.filter((state) => state !== 'operational' && told.has(state));
}

/** By the index of a day: what is said of it, and of which incidents. */
function readNotes(packed: string): ReadonlyMap<number, { readonly text: string; readonly slugs: readonly string[] }> {
  const notes = new Map<number, { readonly text: string; readonly slugs: readonly string[] }>();
  for (const line of packed === '' ? [] : packed.split('\n')) {
    const [days = '', text = '', slugs = ''] = line.split('\t');
    const [from = Number.NaN, to = from] = days.split('-').map(Number);
    for (let day = from; day <= to; day += 1) notes.set(day, { text, slugs: slugs === '' ? [] : slugs.split(' ') });
  }
  return notes;
}

/** What the pop-over of the page calls incidents, by what it finds them by. */
function titlesOf(page: Document): ReadonlyMap<string, string> {
  const packed = byId(page, 'day').attribs['data-incidents'] ?? '';
  return new Map(packed.split('\n').map((line) => line.split('\t') as [string, string]));
}

function isOn(
  { startedAt, endedAt }: ExpectedStory,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  return startedAt < Math.max(to, from + 1) && (endedAt === null || endedAt > from);
}
