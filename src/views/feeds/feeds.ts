/** What the feeds of a page or a component say: its newest incidents and maintenances, each with all of its updates. */

import {
  type ComponentModel,
  type EpochMs,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  toIso,
} from '../../model/index.ts';
import { incidentChangedAt, maintenanceChangedAt, maintenanceKnownSince } from '../incident/event-times.ts';
import { NEVER } from '../model/last-change.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { componentPath, incidentPath, maintenancePath } from '../text/addresses.ts';
import { formatIn } from '../text/format.ts';
import { cleanLine, cleanText } from '../text/plain-text.ts';
import { uuidOf } from '../text/stable-id.ts';
import { incidentUpdates } from '../v2/incidents.ts';
import { maintenanceUpdates } from '../v2/maintenances.ts';
import type { StatusUpdate } from '../v2/updates.ts';
import { wordsOf } from '../words/index.ts';
import { statusWord } from '../words/state-words.ts';

/** As many as Statuspage's feeds carry. */
const PAGE_ITEMS_MAX = 50;
/** A page has many components, and each of their items is in the page's history too. */
const COMPONENT_ITEMS_MAX = 25;

/** One feed, whatever the format; plain text, cleaned for XML, still to be escaped. */
export interface FeedView {
  /** `urn:uuid:…`, the same whatever the page's address. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly language: string;
  /** The page that the feed is about. */
  readonly pageUrl: string;
  readonly atomUrl: string;
  readonly rssUrl: string;
  readonly jsonUrl: string;
  /** Who writes it: the page. */
  readonly author: string;
  /** ISO 8601; the latest change of an item, 1970 while there is none. */
  readonly updatedAt: string;
  /** Latest change first; at most 50 for a page, 25 for a component. */
  readonly items: readonly FeedItemView[];
}

export interface FeedItemView {
  /** `urn:uuid:…`; the same in the feeds of the page and of each component it is about. */
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly kind: 'incident' | 'maintenance';
  readonly status: string;
  /** The status in the language of the page. */
  readonly statusText: string;
  readonly impact: string | null;
  /** Names of the components it is about. */
  readonly components: readonly string[];
  readonly publishedAt: string;
  readonly updatedAt: string;
  /** A maintenance's window or an incident's duration; the end is null while it is open. */
  readonly startsAt: string;
  readonly endsAt: string | null;
  /** The window in words; empty for an incident. */
  readonly windowText: string;
  /** Newest first. */
  readonly updates: readonly FeedUpdateView[];
}

export interface FeedUpdateView {
  readonly at: string;
  readonly atText: string;
  readonly statusText: string;
  /** Markdown, hostile. */
  readonly body: string;
}

/** Everything that a feed is made from. */
export interface FeedInputs {
  readonly head: FeedHead;
  /** Latest change first. An event is one object in all feeds of a page, and its item is made once. */
  readonly events: readonly FeedEvent[];
}

export type FeedHead = Omit<FeedView, 'items' | 'updatedAt'>;

/** An incident or a maintenance, with what its item says of the page. */
export interface FeedEvent extends DatedEvent {
  readonly page: FeedPage;
  /** Names of the components it is about. */
  readonly components: readonly string[];
}

interface FeedPage {
  readonly id: string;
  readonly settings: Pick<PageModel['settings'], 'url' | 'locale' | 'timezone'>;
}

/** What the feeds of a page are made from: that of the whole page, or of one component when it is named. */
export function feedInputs(model: PageModel): (component?: ComponentModel) => FeedInputs {
  const newest = newestEvents(model);
  const { url, locale, timezone } = model.settings;
  const page: FeedPage = { id: model.definition.id, settings: { url, locale, timezone } };
  const eventOf = remembered(
    (dated: DatedEvent): FeedEvent => ({ page, ...dated, components: affectedNames(model, dated.event) }),
  );
  return (component) => {
    const wanted = component === undefined ? newest.ofPage : (newest.byComponent.get(component.definition.id) ?? []);
    return { head: feedHead(model, component), events: wanted.map(eventOf) };
  };
}

/** The feed of these inputs; made once, since it is written in three formats. */
export const feedView = remembered(({ head, events }: FeedInputs): FeedView => {
  const items = events.map(itemView);
  return { ...head, updatedAt: items[0]?.updatedAt ?? toIso(NEVER), items };
});

/** What `make` made of an object, for as long as the object lives. */
function remembered<From extends object, Made>(make: (from: From) => Made): (from: From) => Made {
  const made = new WeakMap<From, Made>();
  return (from) => made.getOrInsertComputed(from, make);
}

function feedHead(model: PageModel, component: ComponentModel | undefined): FeedHead {
  const path = component === undefined ? '' : componentPath(component.definition.id);
  const title = cleanLine(model.definition.title);
  const id =
    component === undefined
      ? uuidOf('page', model.definition.id)
      : uuidOf('component', model.definition.id, component.definition.id);
  return {
    id: `urn:uuid:${id}`,
    title: component === undefined ? title : `${title}: ${cleanLine(component.name)}`,
    description: describedAs(model, component),
    language: model.settings.locale,
    pageUrl: absoluteUrl(model, path),
    atomUrl: absoluteUrl(model, `${path}feed.atom`),
    rssUrl: absoluteUrl(model, `${path}feed.rss`),
    jsonUrl: absoluteUrl(model, `${path}feed.json`),
    author: title,
  };
}

interface DatedEvent {
  readonly event: PageIncident | PageMaintenance;
  readonly changedAt: EpochMs;
}

interface NewestEvents {
  readonly ofPage: readonly DatedEvent[];
  readonly byComponent: ReadonlyMap<string, readonly DatedEvent[]>;
}

/** Incidents and maintenances together, latest change first; those that changed at one instant by their ids. */
function newestEvents({ incidents, maintenances, asOf }: PageModel): NewestEvents {
  const dated = [
    ...incidents.map((event): DatedEvent => ({ event, changedAt: incidentChangedAt(event, asOf) })),
    ...maintenances.map((event): DatedEvent => ({ event, changedAt: maintenanceChangedAt(event, asOf) })),
  ].sort((a, b) => b.changedAt - a.changedAt || (a.event.id < b.event.id ? -1 : 1));
  const byComponent = new Map<string, DatedEvent[]>();
  for (const one of dated)
    for (const id of one.event.componentIds) {
      const list = byComponent.getOrInsert(id, []);
      if (list.length < COMPONENT_ITEMS_MAX) list.push(one);
    }
  return { ofPage: dated.slice(0, PAGE_ITEMS_MAX), byComponent };
}

function affectedNames({ components }: PageModel, { componentIds }: PageIncident | PageMaintenance): string[] {
  return components.filter(({ definition }) => componentIds.includes(definition.id)).map(({ name }) => cleanLine(name));
}

const itemView = remembered(({ page, event, changedAt, components }: FeedEvent): FeedItemView => {
  const isIncident = 'startedAt' in event;
  const kind = isIncident ? 'incident' : 'maintenance';
  return {
    id: `urn:uuid:${uuidOf(kind, page.id, event.id)}`,
    title: cleanLine(event.title),
    kind,
    components,
    updatedAt: toIso(changedAt),
    ...(isIncident ? incidentFacts(page, event, changedAt) : maintenanceFacts(page, event)),
  };
});

type Facts = Pick<
  FeedItemView,
  'url' | 'status' | 'statusText' | 'impact' | 'publishedAt' | 'startsAt' | 'endsAt' | 'windowText' | 'updates'
>;

function incidentFacts(page: FeedPage, incident: PageIncident, changedAt: EpochMs): Facts {
  const { slug, status, impact, startedAt, endedAt } = incident;
  return {
    url: absoluteUrl(page, incidentPath(slug)),
    status,
    statusText: statusText(page, status),
    impact,
    publishedAt: toIso(startedAt),
    startsAt: toIso(startedAt),
    endsAt: endedAt === null ? null : toIso(endedAt),
    windowText: '',
    // Nothing of the record lies between its last change and the present.
    updates: updateViews(page, incidentUpdates(incident, changedAt)),
  };
}

function maintenanceFacts(page: FeedPage, maintenance: PageMaintenance): Facts {
  const { slug, status, startsAt, endsAt } = maintenance;
  return {
    url: absoluteUrl(page, maintenancePath(slug)),
    status,
    statusText: statusText(page, status),
    impact: null,
    publishedAt: toIso(maintenanceKnownSince(maintenance)),
    startsAt: toIso(startsAt),
    endsAt: toIso(endsAt),
    windowText: `${timeText(page, startsAt)} – ${timeText(page, endsAt)}`,
    updates: updateViews(page, maintenanceUpdates(maintenance)),
  };
}

function updateViews(page: FeedPage, updates: readonly StatusUpdate<string>[]): FeedUpdateView[] {
  return updates
    .map(({ at, status, body }) => ({
      at: toIso(at),
      atText: timeText(page, at),
      statusText: statusText(page, status),
      body: cleanText(body),
    }))
    .reverse();
}

function statusText({ settings }: FeedPage, status: string): string {
  return statusWord(status, wordsOf(settings.locale));
}

function timeText({ settings }: FeedPage, at: EpochMs): string {
  return formatIn(settings.locale, settings.timezone).timeWithZone(at).text;
}

/** What the feed is about, and before that a plain word when what it rests on is not current. */
function describedAs(model: PageModel, component: ComponentModel | undefined): string {
  const text = cleanLine(component?.description ?? model.definition.description ?? '');
  if (!(component?.isStale ?? model.isStale)) return text;
  const { staleTitle } = wordsOf(model.settings.locale);
  return text === '' ? staleTitle : `${staleTitle} ${text}`;
}
