/** Incidents and maintenance as lists draw them. */

import {
  type EpochMs,
  fillPieces,
  type Interval,
  isOverStatus,
  joinPieces,
  later,
  MINUTE_MS,
  type PageIncident,
  type PageMaintenance,
  type PageUpdate,
  toEpochMs,
  toPiece,
} from '../../model/index.ts';
import { ownPictureFrom, type PageFrame, type ViewContext } from '../frame/shell.ts';
import { incidentPath, maintenancePath, pathSegment } from '../text/addresses.ts';
import type { Format } from '../text/format.ts';
import { safeHtmlOfMarkdown, safeHtmlOfPieces } from '../text/safe-html.ts';
import { count, impactWord, statusWord } from '../words/index.ts';

// When an incident last changed, and whether it goes on.

/** Whether an incident goes on: by the status that it is told with, so that figures counted to an earlier instant reopen none. */
export function isOpen({ status }: Pick<PageIncident, 'status'>): boolean {
  return !isOverStatus(status);
}

/** Whether something that lasts from `from` to `to` (null: still) is part of a window; what begins in it is. */
export function touches(window: Interval, from: EpochMs, to: EpochMs | null): boolean {
  return from < window.to && (to === null || to > window.from || from >= window.from);
}

/** The latest instant in an incident's record that is not after `asOf`; its start when there is none. */
export function incidentChangedAt({ startedAt, endedAt, updates }: PageIncident, asOf: EpochMs): EpochMs {
  return [endedAt ?? startedAt, ...updates.map(({ at }) => at)].reduce(
    (latest, at) => (at > latest && at <= asOf ? at : latest),
    startedAt,
  );
}

/**
 * The latest instant not after `asOf` at which any of these incidents changed, or any of these windows began. What is over
 * and what goes on is the same as of either instant; 0 where there is neither.
 */
export function settledAt(
  asOf: EpochMs,
  incidents: readonly PageIncident[],
  windows: readonly Interval[] = [],
): EpochMs {
  const instants = [
    ...incidents.flatMap(({ startedAt, endedAt, updates }) => [startedAt, endedAt, ...updates.map(({ at }) => at)]),
    ...windows.map(({ from }) => from),
  ];
  return instants.reduce<EpochMs>((last, at) => (at !== null && at <= asOf ? later(last, at) : last), toEpochMs(0));
}

interface EventOptions {
  /** Of the newest; the event's own page has all. */
  readonly updatesMax?: number;
  /** The year does not stand beside it: on the event's own page. */
  readonly hasYear?: boolean;
  /** Of a maintenance that repeats the window that is meant; default: the one that runs or comes next. */
  readonly window?: Interval;
}

/** Updates drawn of an open event in a list. */
export const LISTED_UPDATES_MAX = 6;

export function incidentEvent(
  context: ViewContext<PageFrame>,
  incident: PageIncident,
  options: EventOptions = {},
): EventView {
  const { slug, startedAt, endedAt } = incident;
  const to = isOpen(incident) ? null : endedAt;
  return eventView(context, incident, { ...options, path: incidentPath(slug), from: startedAt, to });
}

export function maintenanceEvent(
  context: ViewContext<PageFrame>,
  maintenance: PageMaintenance,
  options: EventOptions = {},
): EventView {
  const { slug, startsAt, endsAt } = maintenance;
  const { window = { from: startsAt, to: endsAt } } = options;
  // What is said is said of the current window.
  const event = window.from === startsAt ? maintenance : { ...maintenance, status: 'completed' as const, updates: [] };
  return eventView(context, event, { ...options, ...window, path: maintenancePath(slug) });
}

interface EventInit extends EventOptions {
  readonly path: string;
  readonly from: EpochMs;
  /** Null: not over. */
  readonly to: EpochMs | null;
}

/** An interface, so that messages of the compiler name it. */
export interface EventView extends ReturnType<typeof eventView> {}

function eventView(
  context: ViewContext<PageFrame>,
  event: PageIncident | PageMaintenance,
  { path, from, to, updatesMax = Number.POSITIVE_INFINITY, hasYear = false }: EventInit,
) {
  const { words, format, locale } = context;
  const incident = 'impact' in event ? event : null;
  const impact = incident?.impact ?? null;
  const about = context.model.components.filter(({ definition }) => event.componentIds.includes(definition.id));
  const affects = about.length === 0 ? [] : fillPieces(words.affects, { names: format.listPieces(about, toPiece) });
  const { text, pieces } = joinPieces(affects);
  const newestFirst: PageUpdate<string>[] = event.updates.toReversed();
  const older = newestFirst.length - 1;
  return {
    slug: event.slug,
    /** Page-relative. */
    href: context.base + path,
    title: event.title,
    /** Of the title, where that is not the page's. */
    lang: event.lang,
    /** Of a title that has names in another language. */
    pieces: incident?.pieces,
    /** As a class: `investigating`, `in_progress` … */
    status: event.status,
    statusWord: statusWord(event.status, words),
    /** Null on maintenance. */
    impact,
    impactWord: impact === null || impact === 'none' ? null : impactWord(impact, words),
    /** An outage that monitors saw, which nobody wrote about. */
    isAutomatic: incident?.isAutomatic === true,
    ...format.range(from, to, hasYear ? 'time' : 'timeInYear'),
    /** Of what is over or planned; null: it goes on, and grows while it is read. */
    duration: to === null ? null : format.duration(to - from),
    /** "Affects API and Search"; empty when nothing on the page is named. */
    affects: text,
    /** Of that, where a name in it is in another language. */
    affectsPieces: pieces,
    /** Newest first. */
    updates: newestFirst
      .slice(0, updatesMax)
      .map((update) => updateView(context, update, { hasYear, startedAt: incident && from })),
    /** Above the listed updates but the newest; empty when there are none. */
    olderText: older > 0 && updatesMax > 1 ? count(words.olderUpdates, older, locale) : '',
    /** Of the link to all updates, where the list leaves some out; empty when it has all. */
    allText: older >= updatesMax ? count(words.allUpdates, newestFirst.length, locale) : '',
  };
}

export type UpdateView = ReturnType<typeof updateView>;

function updateView(
  context: ViewContext<PageFrame>,
  update: PageUpdate<string>,
  { hasYear, startedAt }: { readonly hasYear: boolean; readonly startedAt: EpochMs | null },
) {
  const { words, format } = context;
  return {
    // To link to on the event's own page.
    id: `u-${pathSegment(update.id)}`,
    at: (hasYear ? format.zoned : format.plain).timeInYear(update.at),
    // How long after the beginning, as `+20 min`; empty where that is no time.
    after: startedAt === null ? '' : afterText(format, update.at - startedAt),
    status: statusWord(update.status, words),
    // Of the body, where that is not the page's.
    lang: update.lang,
    body:
      update.pieces === undefined
        ? safeHtmlOfMarkdown(update.body, (address) =>
            isPictureFile(address) ? ownPictureFrom(context, address) : null,
          )
        : safeHtmlOfPieces(update.pieces),
  };
}

/** How long after the beginning; within its minute it is the beginning. */
export function afterText({ duration }: Format, ms: number): string {
  return ms < MINUTE_MS ? '' : `+${duration(ms)}`;
}

/** By its name: what else is at the page's own address, such as signing out, is not asked for by a text. */
function isPictureFile(address: string): boolean {
  return /^[^?#]*\.(?:png|jpe?g|gif|webp|avif|svg)$/i.test(address);
}
