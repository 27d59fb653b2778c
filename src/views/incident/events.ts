/** Incidents and maintenance as lists draw them. */

import {
  type EpochMs,
  fillPieces,
  type IncidentImpact,
  type Interval,
  isOverStatus,
  joinPieces,
  later,
  MINUTE_MS,
  type PageIncident,
  type PageMaintenance,
  type PageUpdate,
  type Pieces,
  toEpochMs,
  toPiece,
} from '../../model/index.ts';
import type { DatedPage, PageFrame } from '../frame/page-frame.ts';
import { ownPictureFrom, type ViewContext } from '../frame/shell.ts';
import { incidentPath, maintenancePath, pathSegment } from '../text/addresses.ts';
import type { Format, TimeView } from '../text/format.ts';
import { safeHtmlOfMarkdown, safeHtmlOfPieces } from '../text/safe-html.ts';
import { count } from '../words/index.ts';
import { impactWord, statusWord } from '../words/state-words.ts';

/** When an incident last changed, and whether it goes on. */

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

export interface EventView {
  readonly slug: string;
  /** Page-relative. */
  readonly href: string;
  readonly title: string;
  /** Of the title, where that is not the page's. */
  readonly lang: string | undefined;
  /** Of a title that has names in another language. */
  readonly pieces: Pieces | undefined;
  /** As a class: `investigating`, `in_progress` … */
  readonly status: string;
  readonly statusWord: string;
  /** Null on maintenance. */
  readonly impact: IncidentImpact | null;
  readonly impactWord: string | null;
  /** An outage that monitors saw, which nobody wrote about. */
  readonly isAutomatic: boolean;
  readonly from: TimeView;
  /** Null: not over. */
  readonly to: TimeView | null;
  /** Of what is over or planned; null: it goes on, and grows while it is read. */
  readonly duration: string | null;
  /** "Affects API and Search"; empty when nothing on the page is named. */
  readonly affects: string;
  /** Of that, where a name in it is in another language. */
  readonly affectsPieces: Pieces | undefined;
  /** Newest first. */
  readonly updates: readonly UpdateView[];
  /** Above the listed updates but the newest; empty when there are none. */
  readonly olderText: string;
  /** Of the link to all updates, where the list leaves some out; empty when it has all. */
  readonly allText: string;
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
  context: ViewContext<DatedPage>,
  incident: PageIncident,
  options: EventOptions = {},
): EventView {
  const { words } = context;
  const end = isOpen(incident) ? null : incident.endedAt;
  return {
    ...commonFields(context, incident, options),
    href: context.base + incidentPath(incident.slug),
    status: incident.status,
    statusWord: statusWord(incident.status, words),
    impact: incident.impact,
    impactWord: incident.impact === 'none' ? null : impactWord(incident.impact, words),
    isAutomatic: incident.isAutomatic,
    ...context.format.range(incident.startedAt, end, options.hasYear ? 'time' : 'timeInYear'),
    duration: end === null ? null : context.format.duration(end - incident.startedAt),
  };
}

export function maintenanceEvent(
  context: ViewContext<PageFrame>,
  maintenance: PageMaintenance,
  options: EventOptions = {},
): EventView {
  const { startsAt, endsAt } = maintenance;
  const { window = { from: startsAt, to: endsAt } } = options;
  const isCurrent = window.from === startsAt;
  const status = isCurrent ? maintenance.status : 'completed';
  return {
    // What is said is said of the current window.
    ...commonFields(context, isCurrent ? maintenance : { ...maintenance, updates: [] }, options),
    href: context.base + maintenancePath(maintenance.slug),
    status,
    statusWord: statusWord(status, context.words),
    impact: null,
    impactWord: null,
    isAutomatic: false,
    ...context.format.range(window.from, window.to, options.hasYear ? 'time' : 'timeInYear'),
    duration: context.format.duration(window.to - window.from),
  };
}

function commonFields(
  context: ViewContext<PageFrame>,
  event: {
    readonly slug: string;
    readonly title: string;
    readonly lang?: string | undefined;
    readonly pieces?: Pieces | undefined;
    readonly componentIds: readonly string[];
    readonly updates: readonly PageUpdate<string>[];
    readonly startedAt?: EpochMs;
  },
  { updatesMax = Number.POSITIVE_INFINITY, hasYear = false }: EventOptions,
): Pick<
  EventView,
  'slug' | 'title' | 'lang' | 'pieces' | 'affects' | 'affectsPieces' | 'updates' | 'olderText' | 'allText'
> {
  const { words, format, locale } = context;
  const { startedAt = null } = event;
  const ids = new Set(event.componentIds);
  const about = context.model.components.filter(({ definition }) => ids.has(definition.id));
  const affects = about.length === 0 ? [] : fillPieces(words.affects, { names: format.listPieces(about, toPiece) });
  const { text, pieces } = joinPieces(affects);
  const newestFirst = event.updates.toReversed();
  const older = newestFirst.length - 1;
  return {
    slug: event.slug,
    title: event.title,
    lang: event.lang,
    pieces: event.pieces,
    affects: text,
    affectsPieces: pieces,
    updates: newestFirst.slice(0, updatesMax).map((update) => updateView(context, update, { hasYear, startedAt })),
    olderText: older > 0 && updatesMax > 1 ? count(words.olderUpdates, older, locale) : '',
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
