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

/** The feeds of one page, which share what they have in common. */
export interface Feeds {
  /** What makes the feed what it is, without computing it: as long as this stays, the view does. */
  inputs(component?: ComponentModel): unknown;
  /** The feed of the whole page, or of one component when it is named. */
  view(component?: ComponentModel): FeedView;
}

/** The feeds of a page and of its components. An item is made once, whichever feeds it is in. */
export function feedsOf(model: PageModel): Feeds {
  const newest = newestEvents(model);
  const items = new Map<DatedEvent, FeedItemView>();
  const itemOf = (dated: DatedEvent): FeedItemView => {
    const made = items.get(dated) ?? itemView(model, dated);
    items.set(dated, made);
    return made;
  };
  const wanted = (component: ComponentModel | undefined) =>
    component === undefined ? newest.ofPage : (newest.byComponent.get(component.definition.id) ?? []);
  return {
    inputs: (component) => [
      feedHead(model, component),
      model.settings.timezone,
      ...wanted(component).map(({ event, changedAt }) => [event, changedAt, affectedNames(model, event)]),
    ],
    view: (component) => {
      const made = wanted(component).map(itemOf);
      return { ...feedHead(model, component), updatedAt: made[0]?.updatedAt ?? toIso(NEVER), items: made };
    },
  };
}

function feedHead(model: PageModel, component: ComponentModel | undefined): Omit<FeedView, 'items' | 'updatedAt'> {
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

function itemView(model: PageModel, { event, changedAt }: DatedEvent): FeedItemView {
  const isIncident = 'startedAt' in event;
  const kind = isIncident ? 'incident' : 'maintenance';
  return {
    id: `urn:uuid:${uuidOf(kind, model.definition.id, event.id)}`,
    title: cleanLine(event.title),
    kind,
    components: affectedNames(model, event),
    updatedAt: toIso(changedAt),
    ...(isIncident ? incidentFacts(model, event) : maintenanceFacts(model, event)),
  };
}

type Facts = Pick<
  FeedItemView,
  'url' | 'status' | 'statusText' | 'impact' | 'publishedAt' | 'startsAt' | 'endsAt' | 'windowText' | 'updates'
>;

function incidentFacts(model: PageModel, incident: PageIncident): Facts {
  const { slug, status, impact, startedAt, endedAt } = incident;
  return {
    url: absoluteUrl(model, incidentPath(slug)),
    status,
    statusText: statusText(model, status),
    impact,
    publishedAt: toIso(startedAt),
    startsAt: toIso(startedAt),
    endsAt: endedAt === null ? null : toIso(endedAt),
    windowText: '',
    updates: updateViews(model, incidentUpdates(incident, model.asOf)),
  };
}

function maintenanceFacts(model: PageModel, maintenance: PageMaintenance): Facts {
  const { slug, status, startsAt, endsAt } = maintenance;
  return {
    url: absoluteUrl(model, maintenancePath(slug)),
    status,
    statusText: statusText(model, status),
    impact: null,
    publishedAt: toIso(maintenanceKnownSince(maintenance)),
    startsAt: toIso(startsAt),
    endsAt: toIso(endsAt),
    windowText: `${timeText(model, startsAt)} – ${timeText(model, endsAt)}`,
    updates: updateViews(model, maintenanceUpdates(maintenance)),
  };
}

function updateViews(model: PageModel, updates: readonly StatusUpdate<string>[]): FeedUpdateView[] {
  return updates
    .map(({ at, status, body }) => ({
      at: toIso(at),
      atText: timeText(model, at),
      statusText: statusText(model, status),
      body: cleanText(body),
    }))
    .reverse();
}

function statusText({ settings }: PageModel, status: string): string {
  return statusWord(status, wordsOf(settings.locale));
}

function timeText({ settings }: PageModel, at: EpochMs): string {
  return formatIn(settings.locale, settings.timezone).timeWithZone(at).text;
}

/** What the feed is about, and before that a plain word when what it rests on is not current. */
function describedAs(model: PageModel, component: ComponentModel | undefined): string {
  const text = cleanLine(component?.description ?? model.definition.description ?? '');
  if (!(component?.isStale ?? model.isStale)) return text;
  const { staleTitle } = wordsOf(model.settings.locale);
  return text === '' ? staleTitle : `${staleTitle} ${text}`;
}
