/** What the feeds of a page or a component say: its newest incidents and maintenances, each with all of its updates. */

import {
  type ComponentModel,
  type EpochMs,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  toIso,
} from '../model/index.ts';
import { absoluteUrl } from './absolute-url.ts';
import { componentPath, incidentPath, maintenancePath } from './addresses.ts';
import { incidentChangedAt, maintenanceChangedAt, maintenanceKnownSince } from './event-times.ts';
import { NEVER } from './last-change.ts';
import { cleanLine, cleanText } from './plain-text.ts';
import { uuidOf } from './stable-id.ts';
import { incidentUpdates } from './v2/incidents.ts';
import { maintenanceUpdates } from './v2/maintenances.ts';

/** As many as Statuspage's feeds carry. */
const ITEMS_MAX = 50;

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
  /** Latest change first, at most 50. */
  readonly items: readonly FeedItemView[];
}

export interface FeedItemView {
  /** `urn:uuid:…`; the same in the feeds of the page and of each component it is about. */
  readonly id: string;
  readonly url: string;
  readonly title: string;
  readonly kind: 'incident' | 'maintenance';
  readonly status: string;
  readonly impact: string | null;
  /** Names of the components it is about. */
  readonly components: readonly string[];
  readonly publishedAt: string;
  readonly updatedAt: string;
  /** A maintenance's window or an incident's duration; the end is null while it is open. */
  readonly startsAt: string;
  readonly endsAt: string | null;
  /** Newest first. */
  readonly updates: readonly FeedUpdateView[];
}

export interface FeedUpdateView {
  readonly at: string;
  readonly status: string;
  /** Markdown, hostile. */
  readonly body: string;
}

/** The feed of a whole page, or of one component when it is named. */
export function feedView(model: PageModel, component?: ComponentModel): FeedView {
  const items = newestItems(model, component).map(({ item, changedAt }) => itemView(model, item, changedAt));
  const path = component === undefined ? '' : componentPath(component.definition.id);
  const title = cleanLine(model.definition.title);
  return {
    id: `urn:uuid:${uuidOf(component === undefined ? 'page' : 'component', model.definition.id, component?.definition.id ?? '')}`,
    title: component === undefined ? title : `${title}: ${cleanLine(component.name)}`,
    description: cleanLine(component?.description ?? model.definition.description ?? ''),
    language: model.settings.locale,
    pageUrl: absoluteUrl(model, path),
    atomUrl: absoluteUrl(model, `${path}feed.atom`),
    rssUrl: absoluteUrl(model, `${path}feed.rss`),
    jsonUrl: absoluteUrl(model, `${path}feed.json`),
    author: title,
    updatedAt: items[0]?.updatedAt ?? toIso(NEVER),
    items,
  };
}

type Item =
  | { readonly kind: 'incident'; readonly event: PageIncident }
  | { readonly kind: 'maintenance'; readonly event: PageMaintenance };

interface DatedItem {
  readonly item: Item;
  readonly changedAt: EpochMs;
}

/** Incidents and maintenances together, latest change first; those that changed at one instant by their ids. */
function newestItems(model: PageModel, component: ComponentModel | undefined): DatedItem[] {
  const isWanted = ({ componentIds }: PageIncident | PageMaintenance): boolean =>
    component === undefined || componentIds.includes(component.definition.id);
  const incidents = model.incidents.filter(isWanted).map((event) => ({
    item: { kind: 'incident', event } as const,
    changedAt: incidentChangedAt(event, model.asOf),
  }));
  const maintenances = model.maintenances.filter(isWanted).map((event) => ({
    item: { kind: 'maintenance', event } as const,
    changedAt: maintenanceChangedAt(event, model.asOf),
  }));
  return [...incidents, ...maintenances].toSorted(byChange).slice(0, ITEMS_MAX);
}

function byChange(a: DatedItem, b: DatedItem): number {
  return b.changedAt - a.changedAt || (a.item.event.id < b.item.event.id ? -1 : 1);
}

function itemView(model: PageModel, item: Item, changedAt: EpochMs): FeedItemView {
  const { event, kind } = item;
  return {
    id: `urn:uuid:${uuidOf(kind, model.definition.id, event.id)}`,
    title: cleanLine(event.title),
    kind,
    components: event.componentIds.flatMap((id) =>
      model.components.filter(({ definition }) => definition.id === id).map(({ name }) => cleanLine(name)),
    ),
    updatedAt: toIso(changedAt),
    ...(item.kind === 'incident' ? incidentFacts(model, item.event) : maintenanceFacts(model, item.event)),
  };
}

type Facts = Pick<FeedItemView, 'url' | 'status' | 'impact' | 'publishedAt' | 'startsAt' | 'endsAt' | 'updates'>;

function incidentFacts(model: PageModel, incident: PageIncident): Facts {
  const { slug, status, impact, startedAt, endedAt } = incident;
  return {
    url: absoluteUrl(model, incidentPath(slug)),
    status,
    impact,
    publishedAt: toIso(startedAt),
    startsAt: toIso(startedAt),
    endsAt: endedAt === null ? null : toIso(endedAt),
    updates: incidentUpdates(incident, model.asOf).map(updateView).reverse(),
  };
}

function maintenanceFacts(model: PageModel, maintenance: PageMaintenance): Facts {
  const { slug, status, startsAt, endsAt } = maintenance;
  return {
    url: absoluteUrl(model, maintenancePath(slug)),
    status,
    impact: null,
    publishedAt: toIso(maintenanceKnownSince(maintenance)),
    startsAt: toIso(startsAt),
    endsAt: toIso(endsAt),
    updates: maintenanceUpdates(maintenance).map(updateView).reverse(),
  };
}

function updateView({ at, status, body }: { at: EpochMs; status: string; body: string }): FeedUpdateView {
  return { at: toIso(at), status, body: cleanText(body) };
}
