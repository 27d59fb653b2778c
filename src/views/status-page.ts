/** The page itself: what is wrong, since when, what is being done; then every component with its ninety days. */

import {
  type Announcement,
  type AnnouncementLevel,
  type ComponentModel,
  combinedState,
  combinedUptime,
  DAY_MS,
  isWorse,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  STATES,
  type State,
  toEpochMs,
  type Uptime,
  uptimeOf,
  windowOf,
} from '../model/index.ts';
import { componentPath, HISTORY_PATH, pathSegment } from './addresses.ts';
import {
  cellsOf,
  DAY_LETTERS,
  type DayBarView,
  type DaysView,
  dayBarOf,
  daysOf,
  incidentsByComponent,
} from './day-bar.ts';
import { isOpen } from './event-times.ts';
import { type EventView, incidentEventOf, LISTED_UPDATES_MAX, maintenanceEventOf } from './events.ts';
import type { TimeView } from './format.ts';
import { firstHeardAt, stateSince } from './last-change.ts';
import { responseSparkOf, type SparkView } from './response-chart.ts';
import { type SafeHtml, safeHtmlOfMarkdown } from './safe-html.ts';
import { type Context, contextOf, type LinkView, type ShellView, shellOf, type ViewOptions } from './shell.ts';
import { bannerSentence, stateWord } from './state-words.ts';
import { count, fill } from './words/index.ts';

/** Incidents that are over stay on the page this long. */
export const PAST_DAYS = 14;
/** Above this the rest is on the history page. */
const PAST_INCIDENTS_MAX = 20;
/** Up to this many components every group is open; above it those that are well are folded. */
const OPEN_COMPONENTS_MAX = 60;
/** Names listed in the banner for each state. */
const BANNER_NAMES_MAX = 5;

export interface StatusPageView {
  readonly shell: ShellView;
  readonly description: string | null;
  readonly banner: BannerView;
  readonly announcements: readonly AnnouncementView[];
  readonly openIncidents: readonly EventView[];
  readonly runningMaintenance: readonly EventView[];
  readonly comingMaintenance: readonly EventView[];
  readonly days: readonly string[];
  readonly sections: readonly SectionView[];
  readonly legend: readonly LegendView[];
  readonly past: PastView;
  readonly historyHref: string;
  /** How figures and colours come about. */
  readonly counted: readonly string[];
}

export interface BannerView {
  readonly state: State;
  readonly sentence: string;
  /** Which components, by state, worst first: text, and links to their rows. */
  readonly details: readonly (readonly (string | LinkView)[])[];
}

export interface AnnouncementView {
  readonly id: string;
  readonly level: AnnouncementLevel;
  readonly title: string;
  readonly from: TimeView;
  readonly body: SafeHtml;
}

/** A group, or components that are in none. */
export interface SectionView {
  /** Null: not a group. */
  readonly group: GroupView | null;
  readonly components: readonly ComponentRowView[];
}

export interface GroupView {
  readonly id: string;
  readonly name: string;
  readonly state: State;
  readonly stateWord: string;
  readonly uptime: string;
  readonly isOpen: boolean;
}

export interface ComponentRowView {
  /** To link to; null where nothing does. */
  readonly anchor: string | null;
  readonly href: string;
  readonly name: string;
  readonly description: string | null;
  readonly target: string | null;
  readonly state: State;
  readonly stateWord: string;
  /** When it came into that state, unless it is well. */
  readonly since: TimeView | null;
  /** Empty where nothing is ever observed. */
  readonly uptime: string;
  /** Null where response times are not known. */
  readonly spark: SparkView | null;
  /** Null where nothing is ever observed: it is no monitor. */
  readonly bar: DayBarView | null;
}

/** A state as days on a bar show it. */
export interface LegendView {
  readonly letter: string;
  readonly word: string;
}

export interface PastView {
  /** Newest first. */
  readonly incidents: readonly EventView[];
  readonly emptyText: string;
}

/** Pure: the same model gives an equal view. */
export function statusPageView(model: PageModel, options: ViewOptions = {}): StatusPageView {
  const context = contextOf(model, options);
  const { words } = context;
  const banner = bannerOf(context);
  const days = daysOf(context);
  return {
    shell: shellOf(context, {
      title: null,
      description: [banner.sentence, ...banner.details.map(plainText)].join('. '),
      path: '',
      section: 'status',
      isLive: true,
    }),
    description: model.definition.description,
    banner,
    announcements: model.announcements.map((one) => announcementOf(context, one)),
    openIncidents: model.incidents
      .filter((one) => one.startedAt <= model.asOf && isOpen(one, model.asOf))
      .map((one) => incidentEventOf(context, one, { updatesMax: LISTED_UPDATES_MAX })),
    runningMaintenance: maintenances(context, (one) => one.status === 'in_progress' || one.status === 'verifying'),
    comingMaintenance: maintenances(context, (one) => one.status === 'scheduled').toReversed(),
    days: days.texts,
    sections: sectionsOf(context, days),
    legend: STATES.map((state) => ({ letter: DAY_LETTERS[state], word: stateWord(state, words) })),
    past: pastOf(context),
    historyHref: context.base + HISTORY_PATH,
    counted: [
      words.countedUptime,
      fill(words.countedDays, {
        floor: context.format.duration(model.settings.blipFloorMs),
        zone: context.format.zone,
      }),
    ],
  };
}

const BANNER_LISTS = [
  ['major_outage', 'bannerDown'],
  ['partial_outage', 'bannerPartlyDown'],
  ['degraded', 'bannerSlow'],
  ['unknown', 'bannerNotHeard'],
  ['maintenance', 'bannerInMaintenance'],
] as const;

/** Where a single component is all the trouble, the sentence names it. */
const ONE_IN_TROUBLE: Partial<Record<State, 'bannerOneDown' | 'bannerOnePartlyDown' | 'bannerOneDegraded'>> = {
  major_outage: 'bannerOneDown',
  partial_outage: 'bannerOnePartlyDown',
  degraded: 'bannerOneDegraded',
};

function bannerOf(context: Context): BannerView {
  const { model, words, locale } = context;
  const lists = BANNER_LISTS.map(([state, key]) => ({
    key,
    components: model.components.filter((one) => one.state === state),
  })).filter(({ components }) => components.length > 0);
  const details: (string | LinkView)[][] = lists.map(({ key, components }) => partsOf(context, words[key], components));
  const well = model.components.filter((one) => one.state === 'operational').length;
  if (lists.length > 0 && well > 0) details.push([count(words.bannerRest, well, locale)]);
  if (model.components.length === 0) details.push([words.bannerNothing]);
  const [only] = lists.length === 1 ? (lists[0]?.components ?? []) : [];
  const key = only === undefined || lists[0]?.components.length !== 1 ? undefined : ONE_IN_TROUBLE[only.state];
  const sentence = key === undefined || only === undefined ? null : fill(words[key], { name: only.name });
  return { state: model.state, sentence: sentence ?? bannerSentence(model.state, words), details };
}

/** A sentence with the names of components in it, each a link to its row. */
function partsOf(
  { words, format, locale }: Context,
  sentence: string,
  components: readonly ComponentModel[],
): (string | LinkView)[] {
  const isLong = components.length > BANNER_NAMES_MAX + 1;
  const named = isLong ? components.slice(0, BANNER_NAMES_MAX) : components;
  const names = named.map((one) => one.name);
  if (isLong) names.push(count(words.bannerOthers, components.length - named.length, locale));
  const [before = '', after = ''] = sentence.split('{names}');
  let at = 0;
  const list = format.listParts(names).map((part): string | LinkView => {
    if (!part.isName) return part.text;
    const component = named[at];
    at += 1;
    return component === undefined ? part.text : { href: `#${rowId(component)}`, text: part.text };
  });
  return [before, ...list, after];
}

/** Of the rows that the banner leads to. */
function rowId({ definition }: ComponentModel): string {
  return `c-${pathSegment(definition.id)}`;
}

function plainText(parts: readonly (string | LinkView)[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

function announcementOf({ format }: Context, announcement: Announcement): AnnouncementView {
  return {
    id: announcement.id,
    level: announcement.level,
    title: announcement.title,
    from: format.time(announcement.from),
    body: safeHtmlOfMarkdown(announcement.body),
  };
}

function maintenances(context: Context, isWanted: (one: PageMaintenance) => boolean): EventView[] {
  return context.model.maintenances
    .filter(isWanted)
    .map((one) => maintenanceEventOf(context, one, { updatesMax: LISTED_UPDATES_MAX }));
}

function sectionsOf(context: Context, days: DaysView): SectionView[] {
  const { model, words, format } = context;
  const incidents = incidentsByComponent(model);
  const byGroup = Map.groupBy(model.components, (one) => one.definition.groupId);
  const isLarge = model.components.length > OPEN_COMPONENTS_MAX;
  return [...byGroup].map(([groupId, components]) => {
    const uptimes = components.map((one) => uptimeOf(one.timeline, windowOf('90d', model.asOf)));
    const rows = components.map((one, index) =>
      rowOf(context, days, {
        component: one,
        uptime: uptimes[index],
        incidents: incidents.get(one.definition.id) ?? [],
      }),
    );
    const group = model.groups.find((one) => one.id === groupId);
    if (group === undefined) return { group: null, components: rows };
    const state = combinedState(components.map((one) => one.state));
    return {
      group: {
        id: group.id,
        name: group.name,
        state,
        stateWord: stateWord(state, words),
        uptime: format.percent(combinedUptime(uptimes).ratio, model.settings.uptimeDecimals),
        isOpen: !isLarge || isWorse(state, 'operational'),
      },
      components: rows,
    };
  });
}

interface RowInit {
  readonly component: ComponentModel;
  readonly uptime: Uptime | undefined;
  readonly incidents: readonly PageIncident[];
}

function rowOf(context: Context, days: DaysView, { component, uptime, incidents }: RowInit): ComponentRowView {
  const { model, words, format } = context;
  const { definition, state } = component;
  const since = isWorse(state, 'operational') ? stateSince(component) : null;
  const isObserved = definition.type === 'monitor' || firstHeardAt(component) !== null;
  return {
    anchor: state === 'operational' || state === 'paused' ? null : rowId(component),
    href: context.base + componentPath(definition.id),
    name: component.name,
    description: component.description,
    target: component.target,
    state,
    stateWord: stateWord(state, words),
    since: since === null || since <= 0 ? null : format.timeInYear(since),
    uptime: isObserved ? format.percent(uptime?.ratio ?? null, model.settings.uptimeDecimals) : '',
    spark: responseSparkOf(context, component),
    bar: isObserved ? dayBarOf(context, days, { cells: cellsOf(component, days.days, model), incidents }) : null,
  };
}

function pastOf(context: Context): PastView {
  const { model, words } = context;
  const since = toEpochMs(model.asOf - PAST_DAYS * DAY_MS);
  return {
    incidents: model.incidents
      .filter((one) => !isOpen(one, model.asOf) && one.startedAt >= since)
      .slice(0, PAST_INCIDENTS_MAX)
      .map((one) => incidentEventOf(context, one, { updatesMax: 1 })),
    emptyText: fill(words.noIncidents, { n: PAST_DAYS }),
  };
}
