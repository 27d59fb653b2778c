/**
 * What the feeds of a page or a component say: one item for each update of an incident or a maintenance, so that readers,
 * which know an item by its id and its date, show every one of them. The history feed has one item for each story, as
 * Statuspage's has.
 */

import {
  type ComponentModel,
  later,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  toIso,
} from '../../model/index.ts';
import { absoluteUrl } from '../text/absolute-url.ts';
import { componentPath, incidentPath, maintenancePath } from '../text/addresses.ts';
import { formatIn } from '../text/format.ts';
import { cleanLine, cleanText } from '../text/plain-text.ts';
import { uuidOf } from '../text/stable-id.ts';
import { wordsOf } from '../words/index.ts';
import { statusWord } from '../words/state-words.ts';
import { type FeedStories, feedStories, type Story } from './feed-stories.ts';

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
  /** Null: there is none of this feed. */
  readonly jsonUrl: string | null;
  /** Who writes it: the page. */
  readonly author: string;
  /** ISO 8601; the newest item, or when the page was first defined while there is none. */
  readonly updatedAt: string;
  /** Newest first. */
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
  /** The window in words; empty for an incident. */
  readonly windowText: string;
  /** Newest first; of an item that is one update, that one. */
  readonly updates: readonly FeedUpdateView[];
}

export interface FeedUpdateView {
  readonly at: string;
  readonly atText: string;
  readonly statusText: string;
  /** Markdown, hostile; empty where only the status changed. */
  readonly body: string;
}

/** The feeds of one page, which share what they have in common. */
export interface Feeds {
  /** What makes the feed what it is, without computing it: as long as this stays, the view does. */
  inputs(component?: ComponentModel): unknown;
  /** The feed of the whole page, or of one component when it is named. */
  view(component?: ComponentModel): FeedView;
  historyInputs(): unknown;
  /** One item for each story of the page. */
  history(): FeedView;
}

/** The feeds of a page and of its components. An item is made once, whichever feeds it is in. */
export function feedsOf(model: PageModel): Feeds {
  const stories = feedStories(model);
  const items = new Map<Story['updates'][number], FeedItemView>();
  const itemOf = (story: Story, update: Story['updates'][number]): FeedItemView => {
    const made = items.get(update) ?? updateItem(model, story, update);
    items.set(update, made);
    return made;
  };
  const inputsOf = (head: unknown, told: FeedStories['ofPage']): unknown => [
    head,
    model.settings.timezone,
    ...told.map(({ event, updates }) => [event, updates.length, affectedNames(model, event)]),
  ];
  const wanted = (component: ComponentModel | undefined) =>
    component === undefined ? stories.ofPage : stories.ofComponent(component.definition.id);
  return {
    inputs: (component) => inputsOf(feedHead(model, component), wanted(component)),
    view: (component) => {
      const made = wanted(component).flatMap((story) => story.updates.map((update) => itemOf(story, update)));
      return withItems(feedHead(model, component), made, model);
    },
    historyInputs: () => inputsOf(historyHead(model), stories.ofPage),
    history: () =>
      withItems(
        historyHead(model),
        stories.ofPage.map((story) => storyItem(model, story)),
        model,
      ),
  };
}

type FeedHead = Omit<FeedView, 'items' | 'updatedAt'>;

function withItems(head: FeedHead, items: readonly FeedItemView[], model: PageModel): FeedView {
  const sorted = items.toSorted((a, b) => (a.updatedAt === b.updatedAt ? 0 : a.updatedAt < b.updatedAt ? 1 : -1));
  return { ...head, updatedAt: sorted[0]?.updatedAt ?? toIso(model.knownSince), items: sorted };
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

function historyHead(model: PageModel): FeedHead {
  const title = cleanLine(model.definition.title);
  return {
    ...feedHead(model, undefined),
    id: `urn:uuid:${uuidOf('history', model.definition.id)}`,
    title: `${title}: ${wordsOf(model.settings.locale).historyTitle}`,
    atomUrl: absoluteUrl(model, 'history.atom'),
    rssUrl: absoluteUrl(model, 'history.rss'),
    jsonUrl: null,
  };
}

/** One update as an item of its own: `Identified: API errors`. */
function updateItem(model: PageModel, { event }: Story, update: Story['updates'][number]): FeedItemView {
  const { settings } = model;
  const at = toIso(update.at);
  const common = storyFacts(model, event);
  return {
    ...common,
    id: `urn:uuid:${uuidOf('update', common.kind, model.definition.id, event.id, update.id)}`,
    title: `${statusWord(update.status, wordsOf(settings.locale))}: ${cleanLine(event.title)}`,
    status: update.status,
    publishedAt: at,
    updatedAt: at,
    updates: [updateView(model, update)],
  };
}

/** A story as one item with all of its updates. */
function storyItem(model: PageModel, { event, changedAt }: Story): FeedItemView {
  const common = storyFacts(model, event);
  const first = event.updates[0]?.at ?? changedAt;
  return {
    ...common,
    id: `urn:uuid:${uuidOf(common.kind, model.definition.id, event.id)}`,
    title: cleanLine(event.title),
    status: event.status,
    publishedAt: toIso(first),
    updatedAt: toIso(later(first, changedAt)),
    updates: event.updates.map((update) => updateView(model, update)).toReversed(),
  };
}

type StoryFacts = Pick<FeedItemView, 'url' | 'kind' | 'impact' | 'components' | 'windowText'>;

function storyFacts(model: PageModel, event: Story['event']): StoryFacts {
  const components = affectedNames(model, event);
  if ('startedAt' in event)
    return {
      url: absoluteUrl(model, incidentPath(event.slug)),
      kind: 'incident',
      impact: event.impact,
      components,
      windowText: '',
    };
  return {
    url: absoluteUrl(model, maintenancePath(event.slug)),
    kind: 'maintenance',
    impact: null,
    components,
    windowText: `${timeText(model, event.startsAt)} – ${timeText(model, event.endsAt)}`,
  };
}

function affectedNames({ components }: PageModel, { componentIds }: PageIncident | PageMaintenance): string[] {
  return components.filter(({ definition }) => componentIds.includes(definition.id)).map(({ name }) => cleanLine(name));
}

function updateView(model: PageModel, { at, status, body }: Story['updates'][number]): FeedUpdateView {
  return {
    at: toIso(at),
    atText: timeText(model, at),
    statusText: statusWord(status, wordsOf(model.settings.locale)),
    body: cleanText(body),
  };
}

function timeText({ settings }: PageModel, at: PageModel['asOf']): string {
  return formatIn(settings.locale, settings.timezone).timeWithZone(at).text;
}

/** What the feed is about, and before that a plain word when what it rests on is not current. */
function describedAs(model: PageModel, component: ComponentModel | undefined): string {
  const text = cleanLine(component?.description ?? model.definition.description ?? '');
  if (!(component?.isStale ?? model.isStale)) return text;
  const { staleTitle } = wordsOf(model.settings.locale);
  return text === '' ? staleTitle : `${staleTitle} ${text}`;
}
