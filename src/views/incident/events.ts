/** Incidents and maintenance as lists draw them. */

import type { EpochMs, IncidentImpact, PageIncident, PageMaintenance, Update } from '../../model/index.ts';
import type { DatedPage, PageFrame } from '../frame/page-frame.ts';
import type { ViewContext } from '../frame/shell.ts';
import { incidentPath, maintenancePath } from '../text/addresses.ts';
import type { TimeView } from '../text/format.ts';
import { type SafeHtml, safeHtmlOfMarkdown } from '../text/safe-html.ts';
import { count, fill } from '../words/index.ts';
import { impactWord, statusWord } from '../words/state-words.ts';
import { incidentChangedAt, isOpen } from './event-times.ts';

export interface UpdateView {
  readonly id: string;
  readonly at: TimeView;
  readonly status: string;
  readonly body: SafeHtml;
}

export interface EventView {
  readonly slug: string;
  /** Page-relative. */
  readonly href: string;
  readonly title: string;
  /** As a class: `investigating`, `in_progress` … */
  readonly status: string;
  readonly statusWord: string;
  /** Null on maintenance. */
  readonly impact: IncidentImpact | null;
  readonly impactWord: string | null;
  /** Found by a check and without words of a person. */
  readonly isAutomatic: boolean;
  readonly from: TimeView;
  /** Null: not over. */
  readonly to: TimeView | null;
  readonly duration: string;
  /** "Affects API and Search"; empty when nothing on the page is named. */
  readonly affects: string;
  /** Newest first. */
  readonly updates: readonly UpdateView[];
  /** Of the updates that a list leaves out; empty when there are none. */
  readonly olderText: string;
}

export interface EventOptions {
  /** Of the newest; the event's own page has all. */
  readonly updatesMax?: number;
  /** The year does not stand beside it: on the event's own page. */
  readonly hasYear?: boolean;
}

/** Updates drawn of an open event in a list. */
export const LISTED_UPDATES_MAX = 6;

export function incidentEventOf(
  context: ViewContext<DatedPage>,
  incident: PageIncident,
  options: EventOptions = {},
): EventView {
  const { model, words } = context;
  const end = isOpen(incident, model.asOf) ? null : (incident.endedAt ?? incidentChangedAt(incident, model.asOf));
  return {
    ...commonOf(context, incident, options),
    href: context.base + incidentPath(incident.slug),
    status: incident.status,
    statusWord: statusWord(incident.status, words),
    impact: incident.impact,
    impactWord: incident.impact === 'none' ? null : impactWord(incident.impact, words),
    isAutomatic: incident.isOutage && incident.updates.length === 0,
    ...windowText(context, { from: incident.startedAt, to: end }, options),
    duration: context.format.duration((end ?? model.asOf) - incident.startedAt),
  };
}

export function maintenanceEventOf(
  context: ViewContext<PageFrame>,
  maintenance: PageMaintenance,
  options: EventOptions = {},
): EventView {
  return {
    ...commonOf(context, maintenance, options),
    href: context.base + maintenancePath(maintenance.slug),
    status: maintenance.status,
    statusWord: statusWord(maintenance.status, context.words),
    impact: null,
    impactWord: null,
    isAutomatic: false,
    ...windowText(context, { from: maintenance.startsAt, to: maintenance.endsAt }, options),
    duration: context.format.duration(maintenance.endsAt - maintenance.startsAt),
  };
}

/** The end of what ended on the day it began is a time of that day. */
function windowText(
  { format }: ViewContext<PageFrame>,
  { from, to }: { readonly from: EpochMs; readonly to: EpochMs | null },
  { hasYear = false }: EventOptions,
): Pick<EventView, 'from' | 'to'> {
  const write = hasYear ? format.time : format.timeInYear;
  return { from: write(from), to: to === null ? null : format.isSameDay(from, to) ? format.clock(to) : write(to) };
}

interface Common extends Pick<EventView, 'slug' | 'title' | 'affects' | 'updates' | 'olderText'> {}

function commonOf(
  context: ViewContext<PageFrame>,
  event: { slug: string; title: string; componentIds: readonly string[]; updates: readonly Update[] },
  { updatesMax = Number.POSITIVE_INFINITY, hasYear = false }: EventOptions,
): Common {
  const { words, format, locale } = context;
  const names = componentNames(context, event.componentIds);
  const newestFirst = event.updates.toReversed();
  const older = Math.min(newestFirst.length, updatesMax) - 1;
  return {
    slug: event.slug,
    title: event.title,
    affects: names.length === 0 ? '' : fill(words.affects, { names: format.list(names) }),
    updates: newestFirst.slice(0, updatesMax).map((update) => updateOf(context, update, hasYear)),
    olderText: older > 0 ? count(words.olderUpdates, older, locale) : '',
  };
}

function updateOf({ words, format }: ViewContext<PageFrame>, update: Update, hasYear: boolean): UpdateView {
  return {
    id: update.id,
    at: hasYear ? format.time(update.at) : format.timeInYear(update.at),
    status: statusWord(update.status, words),
    body: safeHtmlOfMarkdown(update.body),
  };
}

/** The names of components by id, in the order of the page. */
function componentNames({ model }: ViewContext<PageFrame>, ids: readonly string[]): string[] {
  const wanted = new Set(ids);
  return model.components.filter((one) => wanted.has(one.definition.id)).map((one) => one.name);
}
