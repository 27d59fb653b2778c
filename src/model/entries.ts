/**
 * Automatic incidents: groups outages of a page's components ("falls") into entries, and decides which of them a
 * declared incident covers instead. Computed by replaying stored history in order of time, so that more history never
 * changes an earlier result. Entries never affect a time line.
 *
 * - A fall opens an entry after `afterMs` of downtime in total.
 * - A fall that begins within two minutes of a fall in an entry joins it after the same downtime.
 * - An entry closes when all its falls are over. If one of its components falls again while it is open, or within ten
 *   minutes after it closed, the entry reopens at once.
 * - If a declared incident is in progress and began more than ten minutes before a component that it names falls, the
 *   fall belongs to the incident and to no entry.
 * - An incident that names a component of an entry adopts the entry, with all of its components, if it begins while the
 *   entry is open or within ten minutes after; or if it is in progress as the entry opens, and began at most ten
 *   minutes before the first fall.
 * - When an incident ends, its components that are still down count as falling anew at that instant.
 */

import type { DeclaredFall, DeclaredIncident, Entries, Entry, EntryEvent, EntryFall, EntryInputs } from './entry.ts';
import { downForAt, downForExpectedAt, type Fall, fallAfter } from './entry.ts';
import { type EpochMs, later, MINUTE_MS, toEpochMs } from './time.ts';

// Events to process in order of time. Processing one may add others.

interface Happening {
  /** The instant first, then what decides the order of several at the same instant. */
  readonly when: readonly [at: EpochMs, ...ties: number[]];
  readonly happen: () => void;
}

interface Agenda {
  /** Adds an event, unless it is after the last instant. */
  readonly note: (happening: Happening) => void;
  /** Processes all events once. Past events that are added in the meantime come next. */
  readonly run: () => void;
}

/** Creates an agenda of events up to and including `until`. */
function createAgenda(until: EpochMs): Agenda {
  /** Latest first, when sorted. */
  const waiting: Happening[] = [];
  let isRunning = false;
  const place = (happening: Happening): number => {
    let low = 0;
    let high = waiting.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareAll(happening.when, waiting[middle]?.when ?? happening.when) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    note: (happening) => {
      if (happening.when[0] > until) return;
      if (isRunning) waiting.splice(place(happening), 0, happening);
      else waiting.push(happening);
    },
    run: () => {
      isRunning = true;
      waiting.sort((a, b) => compareAll(b.when, a.when));
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) next.happen();
    },
  };
}

/** Compares two lists of numbers by the first that differs. */
export function compareAll(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Falls this close together are one outage. */
export const TOGETHER_MS = 2 * MINUTE_MS;
/** A component that falls again within this time had not recovered; an incident declared within it is about the same outage. */
export const RELAPSE_MS = 10 * MINUTE_MS;

/** The automatic incidents of one page. */
export function entriesOf({ components, incidents, afterMs, asOf }: EntryInputs): Entries {
  if (components.every(({ falls }) => falls.length === 0)) return { entries: [], declared: [], nextAt: null };
  const play: Play = {
    afterMs,
    agenda: createAgenda(asOf),
    stories: new Set(),
    drafts: [],
    recent: [],
    declared: [],
    waiting: new Set(),
  };
  const inOrder = incidents
    .filter(({ startedAt, endedAt }) => endedAt === null || endedAt > startedAt)
    .toSorted((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1));
  for (const [rank, incident] of inOrder.entries()) {
    const { startedAt, endedAt } = incident;
    const story: Story = { incident, declared: [], adopted: [] };
    play.agenda.note({ when: [startedAt, BEGINS, rank], happen: () => begin(play, story) });
    if (endedAt !== null) play.agenda.note({ when: [endedAt, ENDS, rank], happen: () => end(play, story, endedAt) });
  }
  for (const [rank, { componentId, falls }] of components.entries())
    for (const fall of falls) noteFall(play, { componentId, rank, fall });
  play.agenda.run();
  const expected = [...play.waiting].flatMap(({ fall }) => downForExpectedAt(fall, afterMs, asOf) ?? []);
  return {
    entries: play.drafts.map((draft) => finished(draft, asOf)),
    declared: [...play.declared, ...[...play.stories].flatMap(declaredFalls)],
    nextAt: expected.length === 0 ? null : toEpochMs(Math.min(...expected)),
  };
}

/** A fall of a component, or the rest of one. */
interface Part {
  readonly componentId: string;
  /** Position of the component on the page. */
  readonly rank: number;
  readonly fall: Fall;
}

/** An incident while it is in progress. */
interface Story {
  readonly incident: DeclaredIncident;
  readonly declared: Part[];
  readonly adopted: Draft[];
}

interface Draft {
  falls: [Part, ...Part[]];
  readonly componentIds: Set<string>;
  /** When the last of its falls began. */
  lastFrom: EpochMs;
  /** When the last of its falls ended; null while one of them goes on. */
  lastTo: EpochMs | null;
  readonly events: EntryEvent[];
  adopter: Story | null;
}

interface Play {
  readonly afterMs: number;
  readonly agenda: Agenda;
  /** Those in progress now, in the order in which they began. */
  readonly stories: Set<Story>;
  readonly drafts: Draft[];
  /** Drafts that are open or closed recently, in the order in which they opened. */
  recent: Draft[];
  readonly declared: DeclaredFall[];
  /** Falls that don't belong to any entry or story yet. */
  readonly waiting: Set<Part>;
}

/** At the same instant, ends come first, and a fall comes before its consequences. */
const [ENDS, BEGINS, FALLS, IS_DOWN] = [0, 1, 2, 3] as const;

function noteFall(play: Play, part: Part): void {
  const { rank, fall } = part;
  play.agenda.note({ when: [fall.from, FALLS, rank], happen: () => fallDown(play, part, fall.from) });
}

function fallDown(play: Play, part: Part, at: EpochMs): void {
  const { componentId, fall, rank } = part;
  const story = play.stories
    .values()
    .find(({ incident }) => incident.startedAt < at - RELAPSE_MS && incident.componentIds.includes(componentId));
  if (story !== undefined) {
    story.declared.push(part);
    return;
  }
  const draft = recentDrafts(play, at).find(
    (known) => known.componentIds.has(componentId) && isTakingPart(play, known),
  );
  if (draft !== undefined) {
    join(play, draft, { part, at });
    return;
  }
  play.waiting.add(part);
  const downAt = downForAt(fall, play.afterMs);
  if (downAt !== null)
    play.agenda.note({ when: [downAt, IS_DOWN, fall.from, rank], happen: () => stayDown(play, part, downAt) });
}

function stayDown(play: Play, part: Part, at: EpochMs): void {
  const isTogether = (other: Part): boolean => Math.abs(other.fall.from - part.fall.from) <= TOGETHER_MS;
  const earliest = part.fall.from - TOGETHER_MS;
  const draft = play.drafts.find(
    (known) => known.lastFrom >= earliest && known.falls.some(isTogether) && isTakingPart(play, known),
  );
  if (draft !== undefined) {
    join(play, draft, { part, at });
    return;
  }
  play.waiting.delete(part);
  const opened: Draft = {
    falls: [part],
    componentIds: new Set([part.componentId]),
    lastFrom: part.fall.from,
    lastTo: part.fall.to,
    events: [{ kind: 'opened', at, componentIds: [part.componentId] }],
    adopter: null,
  };
  play.drafts.push(opened);
  play.recent.push(opened);
  adoptInProgress(play, opened);
}

/** Drafts that are open, or closed shortly before. */
function recentDrafts(play: Play, at: EpochMs): readonly Draft[] {
  play.recent = play.recent.filter(({ lastTo }) => lastTo === null || at - lastTo <= RELAPSE_MS);
  return play.recent;
}

/** Whether an entry takes further falls. It doesn't once people have ended its incident. */
function isTakingPart({ stories }: Play, { adopter }: Draft): boolean {
  return adopter === null || stories.has(adopter);
}

function join(play: Play, draft: Draft, { part, at }: { readonly part: Part; readonly at: EpochMs }): void {
  const { lastTo, componentIds } = draft;
  const wasClosed = lastTo !== null && lastTo < at;
  if (wasClosed) draft.events.push({ kind: 'closed', at: lastTo, componentIds: [] });
  if (wasClosed || !componentIds.has(part.componentId))
    draft.events.push({ kind: wasClosed ? 'reopened' : 'joined', at, componentIds: [part.componentId] });
  play.waiting.delete(part);
  draft.falls.push(part);
  componentIds.add(part.componentId);
  draft.lastFrom = later(draft.lastFrom, part.fall.from);
  draft.lastTo = lastEnd(draft.falls);
  if (!play.recent.includes(draft)) {
    const others = new Set(play.recent);
    play.recent = play.drafts.filter((known) => known === draft || others.has(known));
  }
  adoptInProgress(play, draft);
}

function begin(play: Play, story: Story): void {
  play.stories.add(story);
  for (const draft of recentDrafts(play, story.incident.startedAt))
    if (draft.adopter === null && isAbout(story, draft)) adopt(draft, story);
}

function adoptInProgress({ stories }: Play, draft: Draft): void {
  if (draft.adopter !== null) return;
  const earliest = draft.falls[0].fall.from - RELAPSE_MS;
  const story = stories.values().find((known) => known.incident.startedAt >= earliest && isAbout(known, draft));
  if (story !== undefined) adopt(draft, story);
}

function isAbout({ incident }: Story, { componentIds }: Draft): boolean {
  return incident.componentIds.some((id) => componentIds.has(id));
}

function adopt(draft: Draft, story: Story): void {
  draft.adopter = story;
  story.adopted.push(draft);
}

/** A component that is still down when its incident ends falls anew at that instant. */
function end(play: Play, story: Story, at: EpochMs): void {
  play.stories.delete(story);
  const cut = (part: Part): Part => {
    const { to } = part.fall;
    if (to !== null && to <= at) return part;
    const rest = fallAfter(part.fall, at);
    if (rest !== null) noteFall(play, { ...part, fall: rest });
    return { ...part, fall: { ...part.fall, to: at } };
  };
  for (const draft of story.adopted) {
    const [first, ...others] = draft.falls;
    draft.falls = [cut(first), ...others.map(cut)];
    draft.lastTo = lastEnd(draft.falls);
  }
  play.declared.push(...declaredFalls({ ...story, declared: story.declared.map(cut) }));
}

function declaredFalls({ incident, declared }: Story): DeclaredFall[] {
  return declared.map((part) => ({ ...toEntryFall(part), declaredBy: incident.id }));
}

function lastEnd(falls: readonly Part[]): EpochMs | null {
  return falls.reduce<EpochMs | null>(
    (last, { fall: { to } }) => (last === null || to === null ? null : later(last, to)),
    toEpochMs(0),
  );
}

function finished({ falls: [first, ...others], lastTo, events, adopter }: Draft, asOf: EpochMs): Entry {
  const endedAt = lastTo !== null && lastTo <= asOf ? lastTo : null;
  return {
    falls: [toEntryFall(first), ...others.map(toEntryFall)],
    events: endedAt === null ? events : [...events, { kind: 'closed', at: endedAt, componentIds: [] }],
    startedAt: first.fall.from,
    endedAt,
    adoptedBy: adopter?.incident.id ?? null,
  };
}

function toEntryFall({ componentId, fall: { from, to } }: Part): EntryFall {
  return { componentId, from, to };
}
