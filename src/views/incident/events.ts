/** Incidents and maintenance as lists draw them. */

import {
  type EpochMs,
  fillPieces,
  type Interval,
  joinPieces,
  MINUTE_MS,
  type PageIncident,
  type PageMaintenance,
  type PageUpdate,
  toPiece,
} from '../../model/index.ts';
import { ownPictureFrom, type PageFrame, type ViewContext } from '../frame/shell.ts';
import { isOpen } from '../model/page-state.ts';
import { incidentPath, maintenancePath, pathSegment } from '../text/addresses.ts';
import type { Format } from '../text/format.ts';
import { safeHtmlOfMarkdown, safeHtmlOfPieces } from '../text/safe-html.ts';
import { count, impactWord, statusWord } from '../words/index.ts';

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
