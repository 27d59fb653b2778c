/** Incidents and maintenance as lists draw them. */

import type { EpochMs, IncidentImpact, PageIncident, PageMaintenance, Update } from '../model/index.ts';
import { incidentPath, maintenancePath } from './addresses.ts';
import type { TimeView } from './format.ts';
import { type SafeHtml, safeHtmlOfMarkdown } from './safe-html.ts';
import type { Context } from './shell.ts';
import { impactWord, statusWord } from './state-words.ts';
import { count, fill } from './words/index.ts';

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

/** Updates drawn in a list; the event's own page has all. */
export const LISTED_UPDATES_MAX = 6;

export function incidentEventOf(context: Context, incident: PageIncident, updatesMax: number = Infinity): EventView {
  const { model, words } = context;
  const end = incident.endedAt === null || incident.endedAt > model.asOf ? null : incident.endedAt;
  return {
    ...commonOf(context, incident, updatesMax),
    href: context.base + incidentPath(incident.slug),
    status: incident.status,
    statusWord: statusWord(incident.status, words),
    impact: incident.impact,
    impactWord: incident.impact === 'none' ? null : impactWord(incident.impact, words),
    isAutomatic: incident.isOutage && incident.updates.length === 0,
    from: context.format.time(incident.startedAt),
    to: end === null ? null : context.format.time(end),
    duration: context.format.duration((end ?? model.asOf) - incident.startedAt),
  };
}

export function maintenanceEventOf(
  context: Context,
  maintenance: PageMaintenance,
  updatesMax: number = Infinity,
): EventView {
  return {
    ...commonOf(context, maintenance, updatesMax),
    href: context.base + maintenancePath(maintenance.slug),
    status: maintenance.status,
    statusWord: statusWord(maintenance.status, context.words),
    impact: null,
    impactWord: null,
    isAutomatic: false,
    from: context.format.time(maintenance.startsAt),
    to: context.format.time(maintenance.endsAt),
    duration: context.format.duration(maintenance.endsAt - maintenance.startsAt),
  };
}

interface Common extends Pick<EventView, 'slug' | 'title' | 'affects' | 'updates' | 'olderText'> {}

function commonOf(
  context: Context,
  event: { slug: string; title: string; componentIds: readonly string[]; updates: readonly Update[] },
  updatesMax: number,
): Common {
  const { words, format, locale } = context;
  const names = namesOf(context, event.componentIds);
  const newestFirst = event.updates.toReversed();
  const older = Math.min(newestFirst.length, updatesMax) - 1;
  return {
    slug: event.slug,
    title: event.title,
    affects: names.length === 0 ? '' : fill(words.affects, { names: format.list(names) }),
    updates: newestFirst.slice(0, updatesMax).map((update) => updateOf(context, update)),
    olderText: older > 0 ? count(words.olderUpdates, older, locale) : '',
  };
}

function updateOf({ words, format }: Context, update: Update): UpdateView {
  return {
    id: update.id,
    at: format.time(update.at),
    status: statusWord(update.status, words),
    body: safeHtmlOfMarkdown(update.body),
  };
}

/** The names of components by id, in the order of the page. */
export function namesOf({ model }: Context, ids: readonly string[]): string[] {
  const wanted = new Set(ids);
  return model.components.filter((one) => wanted.has(one.definition.id)).map((one) => one.name);
}

export function isOpenIncident({ endedAt }: PageIncident, asOf: EpochMs): boolean {
  return endedAt === null || endedAt > asOf;
}
