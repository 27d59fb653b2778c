/**
 * Derives a page's notices from its model, which its files are rendered from too. Pure: the same model always gives the same
 * notices with the same ids.
 */

import {
  DAY_MS,
  isOverStatus,
  type MonitorId,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  type PageUpdate,
  type SourceFreshness,
  type Translated,
  upstreamOf,
} from '../model/index.ts';
import type { IncidentImpact } from '../model/observation.ts';
import type { PageIdentity } from '../model/slugs.ts';
import type { EpochMs } from '../model/time.ts';
import { listSections } from '../views/model/sections.ts';
import { incidentPath, maintenancePath, shortId, stableUuid } from '../views/text/addresses.ts';
import { cleanLine } from '../views/text/plain-text.ts';
import { textOfMarkdown } from '../views/text/safe-html.ts';

/** Older updates cause no notices. */
export const NEWS_AGE_MAX_MS = DAY_MS;

/** A notice, with the facts that decide who gets it. */
export interface PageNotice {
  readonly notice: Notice;
  /** The same in the page's other languages, by tag. Absent: it has none. */
  readonly others?: Readonly<Record<string, Notice>>;
  /** Affected components of the page. */
  readonly componentIds: readonly string[];
  readonly monitors: readonly MonitorId[];
  /** The upstream's list that it comes from; null: not a recorded one. */
  readonly origin: string | null;
  /** Its author asked for no notifications. */
  readonly isSilent: boolean;
}

/** A component or a group. */
export interface NamedPart {
  readonly id: string;
  readonly name: string;
  /** Translations, by tag, for the page's other languages. Absent: none. */
  readonly names?: Translated | undefined;
}

export interface PageNews {
  readonly page: PageIdentity;
  /** The page's components, for its subscription form. */
  readonly components: readonly (NamedPart & {
    /** Absent in what was stored by earlier versions. */
    readonly group?: NamedPart | null;
  })[];
  /** The page, and the lists of its upstreams that have been read. */
  readonly origins: readonly string[];
  /** All updates of the last day, oldest first. */
  readonly notices: readonly PageNotice[];
}

/** A notice in a language, or in the page’s default if the page doesn’t have it. */
export function noticeIn({ notice, others = {} }: PageNotice, locale: string | undefined): Notice {
  return (locale !== undefined && Object.hasOwn(others, locale) ? others[locale] : undefined) ?? notice;
}

/** @param sources  of every configured upstream */
export function pageNews(model: PageModel, page: PageIdentity, sources: readonly SourceFreshness[]): PageNews {
  const { definition } = model;
  const others = (model.others ?? []).map((other) => ({
    locale: other.settings.locale,
    byId: new Map(recentNotices(other).map(({ notice }) => [notice.id, notice])),
  }));
  const notices = recentNotices(model).map((one): PageNotice => {
    const translations = others.flatMap(({ locale, byId }) => {
      const notice = byId.get(one.notice.id);
      return notice === undefined ? [] : [[locale, notice] as const];
    });
    return translations.length === 0 ? one : { ...one, others: Object.fromEntries(translations) };
  });
  return {
    page,
    components: listSections(model).flatMap(({ group, members }) =>
      members.map(({ definition: { id, names }, name, plainName }) => ({
        ...namedPart({ id, name: group === null ? name : plainName, names }),
        group: group === null ? null : namedPart(group),
      })),
    ),
    origins: [`page:${definition.id}`, ...sources.flatMap(answeredLists)],
    notices: notices.toSorted((a, b) => a.notice.at - b.notice.at),
  };
}

function namedPart({ id, name, names }: NamedPart): NamedPart {
  return { id, name: cleanLine(name), ...(names === undefined ? {} : { names }) };
}

function recentNotices(model: PageModel): PageNotice[] {
  const isRecent = ({ at }: PageUpdate<string>): boolean => at > model.asOf - NEWS_AGE_MAX_MS;
  return [
    ...model.incidents.flatMap((incident) =>
      incident.updates.some(isRecent) ? incidentNotices(model, incident).filter(({ update }) => isRecent(update)) : [],
    ),
    ...model.maintenances.flatMap((maintenance) =>
      maintenance.updates.some(isRecent)
        ? maintenanceNotices(model, maintenance).filter(({ update }) => isRecent(update))
        : [],
    ),
  ].map(({ notice }) => notice);
}

/** The lists of an upstream that have been read at least once. */
function answeredLists({ upstreamId, monitorsAt, incidentsAt }: SourceFreshness): string[] {
  return [
    ...(monitorsAt === null ? [] : [`monitors:${upstreamId}`]),
    ...(incidentsAt === null ? [] : [`incidents:${upstreamId}`]),
  ];
}

interface UpdateNotice {
  readonly update: PageUpdate<string>;
  readonly notice: PageNotice;
}

function incidentNotices(model: PageModel, incident: PageIncident): UpdateNotice[] {
  const isOverAt = (index: number): boolean => isOverStatus(incident.updates[index]?.status ?? null);
  const eventAt = (index: number): NoticeEvent => {
    if (isOverAt(index) && !isOverAt(index - 1)) return 'incident_resolved';
    return index === 0 ? 'incident_opened' : 'incident_updated';
  };
  const { impact, startedAt, endedAt } = incident;
  const origin = incident.isAutomatic ? watchedList(model, incident) : writtenList(incident.id);
  return incident.updates.map((update, index) => ({
    update,
    notice: makeNotice(model, incident, update, {
      event: eventAt(index),
      origin,
      subject: { kind: 'incident', path: incidentPath(incident.slug), impact, startedAt, endsAt: endedAt },
    }),
  }));
}

const MAINTENANCE_EVENTS: Readonly<Record<string, NoticeEvent>> = {
  scheduled: 'maintenance_announced',
  in_progress: 'maintenance_started',
  verifying: 'maintenance_started',
  completed: 'maintenance_completed',
};

function maintenanceNotices(model: PageModel, maintenance: PageMaintenance): UpdateNotice[] {
  const { startsAt, endsAt } = maintenance;
  return maintenance.updates.map((update) => ({
    update,
    notice: makeNotice(model, maintenance, update, {
      event: MAINTENANCE_EVENTS[update.status] ?? 'maintenance_announced',
      origin: writtenList(maintenance.id),
      subject: {
        kind: 'maintenance',
        path: maintenancePath(maintenance.slug),
        impact: null,
        startedAt: startsAt,
        endsAt,
      },
    }),
  }));
}

interface About {
  readonly event: NoticeEvent;
  readonly origin: string | null;
  readonly subject: Pick<Notice['subject'], 'impact' | 'startedAt' | 'endsAt'> & {
    readonly kind: 'incident' | 'maintenance';
    /** Relative to the page. */
    readonly path: string;
  };
}

function makeNotice(
  { definition, settings, components }: PageModel,
  story: PageIncident | PageMaintenance,
  update: PageUpdate<string>,
  { event, origin, subject: { kind, path, ...subject } }: About,
): PageNotice {
  const named = components.filter((component) => story.componentIds.includes(component.definition.id));
  return {
    notice: {
      id: stableUuid('update', definition.id, story.id, update.id),
      event,
      page: {
        slug: definition.slug,
        title: cleanLine(definition.title),
        url: settings.url,
        language: settings.locale,
      },
      subject: {
        id: shortId(kind, definition.id, story.id),
        title: cleanLine(story.title),
        url: new URL(path, settings.url).href,
        status: update.status,
        ...subject,
      },
      components: named.map(({ name }) => cleanLine(name)),
      text: textOfMarkdown(update.body),
      at: update.at,
    },
    componentIds: [...story.componentIds],
    monitors: named.flatMap((component) => component.definition.monitor ?? []),
    origin,
    isSilent: update.notify === false,
  };
}

/** The list of monitors that an automatic incident comes from. */
function watchedList({ components }: PageModel, { componentIds }: PageIncident): string | null {
  const monitor = components.find(
    ({ definition }) => componentIds.includes(definition.id) && definition.monitor !== null,
  )?.definition.monitor;
  return monitor === undefined || monitor === null ? null : `monitors:${upstreamOf(monitor)}`;
}

/** The list of incidents that a written incident comes from. One that began as an outage keeps its first id. */
function writtenList(id: string): string | null {
  const slash = id.indexOf('/');
  return slash === -1 ? null : `incidents:${id.slice(0, slash)}`;
}

/** A notice: one update of one incident or maintenance, as its page shows it. */
export const NOTICE_EVENTS = [
  'incident_opened',
  'incident_updated',
  'incident_resolved',
  'maintenance_announced',
  'maintenance_started',
  'maintenance_completed',
] as const;
export type NoticeEvent = (typeof NOTICE_EVENTS)[number];

/** The same for every recipient and channel. */
export interface Notice {
  /** Always the same for the same update on the same page, so that repeats are recognised. */
  readonly id: string;
  readonly event: NoticeEvent;
  readonly page: {
    readonly slug: string;
    readonly title: string;
    /** Absolute; null: the site has no address. */
    readonly url: string | null;
    /** The page's language, as BCP 47. */
    readonly language: string;
  };
  /** The incident or maintenance that it is about; threads and deduplication keys are derived from it. */
  readonly subject: {
    readonly id: string;
    readonly title: string;
    /** Absolute; null: the site has no address. */
    readonly url: string | null;
    /** Null for a maintenance. */
    readonly impact: IncidentImpact | null;
    /** `investigating`, `in_progress` … */
    readonly status: string;
    readonly startedAt: EpochMs;
    /** When the incident ended, or the window of the maintenance ends; null: open. */
    readonly endsAt: EpochMs | null;
  };
  /** Names of the affected components, in the order of the page. */
  readonly components: readonly string[];
  /** Text of the update without markup; may be hostile, or empty. */
  readonly text: string;
  readonly at: EpochMs;
}
