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
  /** Ids of all incidents of the page. */
  readonly subjects: readonly string[];
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
  const translated = Map.groupBy(
    (model.others ?? []).flatMap((other) => recentNotices(other).map(({ notice }) => notice)),
    ({ id }) => id,
  );
  const notices = recentNotices(model).map((one): PageNotice => {
    const others = translated.get(one.notice.id)?.map((notice) => [notice.page.language, notice] as const);
    return others === undefined ? one : { ...one, others: Object.fromEntries(others) };
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
    subjects: model.incidents.map(({ id }) => shortId('incident', definition.id, id)),
    notices: notices.toSorted((a, b) => a.notice.at - b.notice.at),
  };
}

function namedPart({ id, name, names }: NamedPart): NamedPart {
  return { id, name: cleanLine(name), ...(names === undefined ? {} : { names }) };
}

function recentNotices(model: PageModel): PageNotice[] {
  return [...model.incidents, ...model.maintenances].flatMap((story) =>
    story.updates.flatMap((update, index) =>
      update.at > model.asOf - NEWS_AGE_MAX_MS ? [updateNotice(model, story, update, index)] : [],
    ),
  );
}

/** The lists of an upstream that have been read at least once. */
function answeredLists({ upstreamId, monitorsAt, incidentsAt }: SourceFreshness): string[] {
  return [
    ...(monitorsAt === null ? [] : [`monitors:${upstreamId}`]),
    ...(incidentsAt === null ? [] : [`incidents:${upstreamId}`]),
  ];
}

function incidentEvent({ updates }: PageIncident, index: number): NoticeEvent {
  const isOverAt = (at: number): boolean => isOverStatus(updates[at]?.status ?? null);
  if (isOverAt(index) && !isOverAt(index - 1)) return 'incident_resolved';
  return index === 0 ? 'incident_opened' : 'incident_updated';
}

const MAINTENANCE_EVENTS: Readonly<Record<string, NoticeEvent>> = {
  scheduled: 'maintenance_announced',
  in_progress: 'maintenance_started',
  verifying: 'maintenance_started',
  completed: 'maintenance_completed',
};

/** What differs between incidents and maintenances: the event, the public id, the address and the times. */
function storyFacts(story: PageIncident | PageMaintenance, { status }: PageUpdate<string>, index: number) {
  if ('windows' in story)
    return {
      event: MAINTENANCE_EVENTS[status] ?? 'maintenance_announced',
      ...({ kind: 'maintenance', path: maintenancePath(story.slug), isDetected: false } as const),
      times: { impact: null, startedAt: story.startsAt, endsAt: story.endsAt },
    };
  const { impact, startedAt, endedAt } = story;
  return {
    event: incidentEvent(story, index),
    ...({ kind: 'incident', path: incidentPath(story.slug), isDetected: story.isAutomatic } as const),
    times: { impact, startedAt, endsAt: endedAt },
  };
}

function updateNotice(
  { definition, settings, components }: PageModel,
  story: PageIncident | PageMaintenance,
  update: PageUpdate<string>,
  index: number,
): PageNotice {
  const { event, kind, path, isDetected, times } = storyFacts(story, update, index);
  const named = components.filter((component) => story.componentIds.includes(component.definition.id));
  const monitors = named.flatMap((component) => component.definition.monitor ?? []);
  return {
    notice: {
      id: stableUuid('update', definition.id, story.id, update.id),
      event,
      page: { slug: definition.slug, title: cleanLine(definition.title), url: settings.url, language: settings.locale },
      subject: {
        id: shortId(kind, definition.id, story.id),
        title: cleanLine(story.title),
        url: new URL(path, settings.url).href,
        status: update.status,
        ...times,
      },
      components: named.map(({ name }) => cleanLine(name)),
      text: textOfMarkdown(update.body),
      at: update.at,
    },
    componentIds: [...story.componentIds],
    monitors,
    origin: isDetected ? watchedList(monitors) : writtenList(story.id),
    isSilent: update.notify === false || (update.status === 'scheduled' && isBegunByWord(story)),
  };
}

/** Whether somebody said that it begins, which moved its window to that instant: it isn't announced anew. */
const isBegunByWord = (story: PageIncident | PageMaintenance): boolean =>
  'windows' in story && story.updates.some(({ at, id }) => at === story.startsAt && !/^(began|scheduled)-/.test(id));

/** The list of monitors that an automatic incident comes from. */
function watchedList([monitor]: readonly MonitorId[]): string | null {
  return monitor === undefined ? null : `monitors:${upstreamOf(monitor)}`;
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
