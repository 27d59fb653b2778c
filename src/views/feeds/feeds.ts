/**
 * What the feeds of a page or a component say: one item for each update of an incident or a maintenance, so that readers,
 * which know an item by its id and its date, show every one of them. The history feed has one item for each story, as
 * Statuspage's has.
 */

import {
  type ComponentModel,
  type EpochMs,
  type Interval,
  later,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  type PageUpdate,
  toEpochMs,
  toIso,
} from '../../model/index.ts';
import { incidentChangedAt, isOpen } from '../model/page-state.ts';
import { absoluteUrl, componentPath, incidentPath, maintenancePath, stableUuid } from '../text/addresses.ts';
import { formatIn } from '../text/format.ts';
import { cleanLine, cleanText } from '../text/plain-text.ts';
import { textOfMarkdown } from '../text/safe-html.ts';
import { findWords, statusWord } from '../words/index.ts';

/** Everything that a feed is made from. */
export type FeedInputs = ReturnType<PageFeeds['of']>;
type FeedPage = FeedInputs['page'];

type FeedStory = FeedInputs['stories'][number];

/** What the feeds of one page are made from. */
export type PageFeeds = ReturnType<typeof feedInputs>;

export function feedInputs(model: PageModel) {
  const { ofPage, ofComponent } = feedStories(model);
  const { url, locale, timezone } = model.settings;
  const { id, title } = model.definition;
  // Of the tree of its language below the page; empty: that of the default.
  const tree = model.settings.languages?.path ?? '';
  // What feeds and their items say of their page. One object for all feeds of a page.
  const page = { id, title: cleanLine(title), settings: { url, locale, timezone }, tree };
  const inputsOf = (component: ComponentModel | undefined, told: readonly Story[], isHistory: boolean) => ({
    page,
    /** Null: the whole page. */
    component: component === undefined ? null : { id: component.definition.id, name: component.name },
    description: describedAs(model, component),
    /** Of the history feed: each story is one item. */
    isHistory,
    /** When the page was first defined; null where there is a story. */
    emptySince: told.length === 0 ? model.knownSince : null,
    /** Each with the names of the components it is about. */
    stories: told.map((story) => ({ ...story, components: affectedNames(model, story.event) })),
  });
  return {
    /** That of the whole page, or of one component when it is named. */
    of: (component?: ComponentModel) =>
      inputsOf(component, component === undefined ? ofPage : ofComponent(component.definition.id), false),
    /** One item for each story of the page. */
    history: () => inputsOf(undefined, ofPage, true),
  };
}

/** One feed, whatever the format; plain text, cleaned for XML, still to be escaped. */
export type FeedView = ReturnType<typeof feedView>;

/** The feed of these inputs; made once, since it is written in several formats. */
export const feedView = remembered((inputs: FeedInputs) => {
  const { page, isHistory, emptySince, stories } = inputs;
  const known = itemsOf(page);
  const items = isHistory
    ? stories.map((story) => storyItem(page, story))
    : stories.flatMap((story) =>
        story.updates
          .map((update) => known.getOrInsertComputed(update, () => updateItem(page, story, update)))
          .toReversed(),
      );
  items.sort((a, b) => (a.updatedAt === b.updatedAt ? 0 : a.updatedAt < b.updatedAt ? 1 : -1));
  const updatedAt = items[0]?.updatedAt ?? toIso(emptySince ?? toEpochMs(0));
  return { ...feedHead(inputs), updatedAt, items: datedApart(items) };
});

/**
 * The items, newest first, each earlier than the one before it: readers that sort by date then keep the order of what
 * happened in one instant, and no two entries of an Atom feed are said to have been updated at once.
 */
function datedApart(items: readonly FeedItemView[]): FeedItemView[] {
  let before = Number.POSITIVE_INFINITY;
  return items.map((item) => {
    const at = Date.parse(item.updatedAt);
    const apart = Math.min(at, before - 1);
    before = apart;
    return apart === at ? item : { ...item, updatedAt: toIso(toEpochMs(apart)) };
  });
}

type FeedUpdate = FeedStory['updates'][number];

/** Items of a page's updates: each is made once, whichever feeds it is in. */
const itemsOf = remembered((_page: FeedPage) => new Map<FeedUpdate, FeedItemView>());

/** What `make` made of an object, for as long as the object lives. */
function remembered<From extends object, Made>(make: (from: From) => Made): (from: From) => Made {
  const made = new WeakMap<From, Made>();
  return (from) => made.getOrInsertComputed(from, make);
}

function feedHead({ page, component, description, isHistory }: FeedInputs) {
  const path = component === null ? '' : componentPath(component.id);
  const kind = isHistory ? 'history' : component === null ? 'page' : 'component';
  const { historyTitle } = findWords(page.settings.locale);
  const about = isHistory ? historyTitle : component === null ? null : cleanLine(component.name);
  const file = isHistory ? 'history' : `${path}feed`;
  return {
    // The same whatever the page's address.
    id: `urn:uuid:${stableUuid(kind, ...placeOf(page), ...(component === null ? [] : [component.id]))}`,
    title: about === null ? page.title : `${page.title}: ${about}`,
    description,
    language: page.settings.locale,
    pageUrl: absoluteUrl(page, path),
    atomUrl: absoluteUrl(page, `${file}.atom`),
    rssUrl: absoluteUrl(page, `${file}.rss`),
    // Null: there is none of this feed.
    jsonUrl: isHistory ? null : absoluteUrl(page, `${file}.json`),
    // Who writes it: the page.
    author: page.title,
  };
}

/** What ids are made from: the same thing in another language is another entry of another feed. */
function placeOf({ id, tree }: FeedPage): readonly string[] {
  return tree === '' ? [id] : [id, tree];
}

/** One update as an item of its own: `Identified: API errors`. */
function updateItem(page: FeedPage, story: FeedStory, update: FeedUpdate): FeedItemView {
  const { event } = story;
  const at = toIso(update.at);
  const common = storyFacts(page, story);
  return {
    ...common,
    id: `urn:uuid:${stableUuid('update', common.kind, ...placeOf(page), event.id, update.id)}`,
    title: `${statusWord(update.status, findWords(page.settings.locale))}: ${cleanLine(event.title)}`,
    status: update.status,
    publishedAt: at,
    updatedAt: at,
    updates: [updateView(page, update)],
  };
}

export type FeedItemView = ReturnType<typeof storyItem>;

/** A story as one item with all of its updates. */
function storyItem(page: FeedPage, story: FeedStory) {
  const { event, changedAt } = story;
  const common = storyFacts(page, story);
  const first = event.updates[0]?.at ?? changedAt;
  return {
    ...common,
    // The same in the feeds of the page and of each component it is about.
    id: `urn:uuid:${stableUuid(common.kind, ...placeOf(page), event.id)}`,
    title: cleanLine(event.title),
    status: event.status as string,
    publishedAt: toIso(first),
    updatedAt: toIso(later(first, changedAt)),
    // Newest first; of an item that is one update, that one.
    updates: event.updates.map((update) => updateView(page, update)).toReversed(),
  };
}

function storyFacts(page: FeedPage, { event, components }: FeedStory) {
  const incident = 'startedAt' in event ? event : null;
  return {
    url: absoluteUrl(page, incident ? incidentPath(event.slug) : maintenancePath(event.slug)),
    kind: incident ? ('incident' as const) : ('maintenance' as const),
    impact: incident?.impact ?? null,
    components,
    windowText: 'startsAt' in event ? `${timeText(page, event.startsAt)} – ${timeText(page, event.endsAt)}` : '',
  };
}

function affectedNames({ components }: PageModel, { componentIds }: PageIncident | PageMaintenance): string[] {
  return components.filter(({ definition }) => componentIds.includes(definition.id)).map(({ name }) => cleanLine(name));
}

function updateView(page: FeedPage, { at, status, body }: FeedUpdate) {
  return {
    at: toIso(at),
    atText: timeText(page, at),
    statusText: statusWord(status, findWords(page.settings.locale)),
    // Markdown, hostile; empty where only the status changed.
    body: cleanText(body),
  };
}

function timeText({ settings }: FeedPage, at: EpochMs): string {
  return formatIn(settings.locale, settings.timezone).zoned.time(at).text;
}

/** What the feed is about, and before that a plain word when what it rests on is not current. */
function describedAs(model: PageModel, component: ComponentModel | undefined): string {
  const text = cleanLine(component?.description ?? textOfMarkdown(model.definition.description ?? ''));
  if (!(component?.isStale ?? model.isStale)) return text;
  const { staleTitle } = findWords(model.settings.locale);
  return text === '' ? staleTitle : `${staleTitle} ${text}`;
}

// Which stories, and which of their updates, the feeds of a page and of its components have room for.

/** As many stories as Statuspage's feeds carry; what is open is always among them. */
const PAGE_STORIES_MAX = 50;
/** Beside those, so that what is planned takes no place of what happened. The soonest. */
const PAGE_PLANS_MAX = 10;
/** The newest update of each story, and the newest of all others. */
const PAGE_ITEMS_MAX = 100;
/** A page has many components, and each of their stories is in the page's history too. */
const COMPONENT_SHARE = 0.5;

interface DatedEvent {
  readonly event: PageIncident | PageMaintenance;
  readonly changedAt: EpochMs;
}

function feedStories(model: PageModel) {
  const ofPage = datedEvents(model);
  const grouped = new Map<string, Dated>();
  for (const kind of ['past', 'plans'] as const)
    for (const dated of ofPage[kind])
      for (const id of dated.event.componentIds)
        grouped.getOrInsertComputed(id, () => ({ past: [], plans: [] }))[kind].push(dated);
  return {
    ofPage: chosen(ofPage, 1),
    ofComponent: (id: string) => chosen(grouped.get(id) ?? { past: [], plans: [] }, COMPONENT_SHARE),
  };
}

type Dated = ReturnType<typeof datedEvents>;

function datedEvents({ incidents, maintenances, asOf }: PageModel) {
  const planned = maintenances.map((event): DatedEvent => ({ event, changedAt: event.changedAt }));
  const isPlan = ({ event }: DatedEvent) => event.status === 'scheduled';
  const past = [
    ...incidents.map((event): DatedEvent => ({ event, changedAt: incidentChangedAt(event, asOf) })),
    ...planned.filter((dated) => !isPlan(dated)),
  ].sort((a, b) => b.changedAt - a.changedAt || (a.event.id < b.event.id ? -1 : 1));
  return { past, plans: planned.filter(isPlan).toReversed() };
}

type Story = ReturnType<typeof chosen>[number];

function chosen({ past, plans }: Dated, share: number) {
  const storiesMax = PAGE_STORIES_MAX * share;
  const events = [
    ...past.filter(({ event }, index) => index < storiesMax || ('startedAt' in event && isOpen(event))),
    ...plans.slice(0, PAGE_PLANS_MAX * share),
  ];
  const older = events
    .flatMap(({ event }): readonly PageUpdate<string>[] => event.updates.slice(0, -1))
    .sort((a, b) => b.at - a.at)
    .slice(0, Math.max(0, PAGE_ITEMS_MAX * share - events.length));
  const listed = new Set(older);
  return events.map((dated) => {
    const all: readonly PageUpdate<string>[] = dated.event.updates;
    // Those that there is room for, oldest first; the newest is always one.
    return { ...dated, updates: all.filter((update) => update === all.at(-1) || listed.has(update)) };
  });
}

// What the calendar of a page's maintenances says, for the page and for each component.

/** Calendars show what is to come and the recent past; the history page has the rest. */
const EVENTS_MAX = 200;

export type CalendarView = ReturnType<typeof calendarView>;

/**
 * The calendar of a page's maintenances, or of those of one component when it is named.
 *
 * A maintenance that repeats has an event for each of its windows. Its sequence is the number of its recorded changes,
 * which grows when a window moves, when words change and when something is said of it.
 */
export function calendarView(model: PageModel, component?: ComponentModel) {
  const path = component === undefined ? '' : componentPath(component.definition.id);
  const title = cleanLine(model.definition.title);
  const wanted = model.maintenances.filter(
    ({ componentIds }) => component === undefined || componentIds.includes(component.definition.id),
  );
  return {
    name: component === undefined ? title : `${title}: ${cleanLine(component.name)}`,
    description: cleanLine(component?.description ?? textOfMarkdown(model.definition.description ?? '')),
    pageUrl: absoluteUrl(model, path),
    calendarUrl: absoluteUrl(model, `${path}maintenance.ics`),
    // Newest start first, at most 200.
    events: wanted
      .flatMap((maintenance) => maintenance.windows.map((window) => ({ maintenance, window })))
      // The nearest, so that one that comes back each day takes no place of what is to come.
      .sort((a, b) => Math.abs(a.window.from - model.asOf) - Math.abs(b.window.from - model.asOf))
      .slice(0, EVENTS_MAX)
      .sort((a, b) => b.window.from - a.window.from || (a.maintenance.id < b.maintenance.id ? -1 : 1))
      .map(({ maintenance, window }) => eventView(model, maintenance, window)),
  };
}

function eventView(model: PageModel, maintenance: PageMaintenance, { from, to }: Interval) {
  const { id, title, repeats, texts, slug, editedAt, sequence } = maintenance;
  const names = affectedNames(model, maintenance);
  const bodies = texts.map((text) => cleanText(text).trim()).filter((text) => text !== '');
  const affected = names.length === 0 ? [] : [names.join(', ')];
  return {
    // The same for ever, and in every calendar that has the event.
    uid: stableUuid('maintenance', model.definition.id, id, ...(repeats === null ? [] : [toIso(from)])),
    // Grows with every revision.
    sequence,
    // ISO 8601: when the event was last written about; it never moves without a change.
    changedAt: toIso(editedAt),
    startsAt: toIso(from),
    endsAt: toIso(to),
    title: cleanLine(title),
    text: [...affected, ...bodies.reverse()].join('\n\n'),
    url: absoluteUrl(model, maintenancePath(slug)),
  };
}
