/** The page itself: what is wrong, since when, what is being done; then every component with its ninety days. */

import { LOOKS } from '../../looks/states.ts';
import {
  type Announcement,
  DAY_MS,
  type PageMaintenance,
  type PageModel,
  STATES,
  type State,
  textIn,
  toEpochMs,
} from '../../model/index.ts';
import { barDays, dayTip } from '../days/day-bar.ts';
import { buildShell, createContext, linkToStory, type ViewContext } from '../frame/shell.ts';
import { type EventView, incidentEvent, LISTED_UPDATES_MAX, maintenanceEvent } from '../incident/events.ts';
import { countedTexts, isOpen } from '../model/page-state.ts';
import { EMBED_PATH, HISTORY_PATH, incidentPath } from '../text/addresses.ts';
import { safeHtmlOfMarkdown, textOfMarkdown } from '../text/safe-html.ts';
import { bannerSentence, fill, stateWord } from '../words/index.ts';
import { buildBanner, buildLongList, plainText, sectionViews } from './component-rows.ts';

/** Incidents that are over stay on the page this long. */
const PAST_DAYS = 14;
/** Above this the rest is on the history page. */
const PAST_INCIDENTS_MAX = 20;

/** States that the title of the document does not tell. */
const QUIET: ReadonlySet<State> = new Set(['operational', 'paused', 'unknown']);

export type StatusPageView = ReturnType<typeof statusPageView>;

/** Pure: the same model gives an equal view. */
export function statusPageView(model: PageModel) {
  const context = createContext(model, '');
  const { words } = context;
  const banner = buildBanner(context);
  const days = barDays(context);
  const sections = sectionViews(context, days);
  const longList = buildLongList(context, days);
  return {
    shell: buildShell(context, {
      // In a list of tabs, trouble is seen; that all is well would stay there once the page is out of date.
      title: QUIET.has(banner.state) ? null : banner.sentence,
      // Without its markup.
      description: describeBanner(banner),
      path: '',
      section: 'status',
      present: model,
    }),
    ...describe(model.definition.description),
    // Where nobody translated it into the page's.
    descriptionLang: textIn(model.settings, model.definition.description ?? '', model.definition.descriptions).lang,
    banner,
    announcements: model.announcements.map((one) => announcementView(context, one)),
    openIncidents: model.incidents
      .filter((one) => one.startedAt <= model.asOf && isOpen(one))
      .map((one) => incidentEvent(context, one, { updatesMax: LISTED_UPDATES_MAX })),
    runningMaintenance: maintenances(context, (one) => one.status === 'in_progress' || one.status === 'verifying'),
    comingMaintenance: maintenances(context, (one) => one.status === 'scheduled').toReversed(),
    days: days.texts,
    dayTip: dayTip(
      context,
      days.days,
      [...(longList?.failing ?? []), ...sections.flatMap(({ components }) => components)].map(({ bar }) => bar.runs),
    ),
    sections,
    // Null on a page of few components.
    longList,
    // Whether any figure of uptime is shown.
    hasUptime: model.settings.showUptime,
    legend: STATES.map((state) => ({ letter: LOOKS[state].letter, word: stateWord(state, words) })),
    past: pastView(context),
    historyHref: context.base + HISTORY_PATH,
    // How figures and colours come about.
    counted: [
      ...countedTexts(model.settings, model.components, words),
      fill(words.countedDays, { floor: context.format.duration(model.settings.blipFloorMs) }),
      fill(words.daysIn, { zone: context.format.zone }),
    ],
  };
}

/** The sentence at the top has no full stop, what follows has: the one of its language. */
function describeBanner({ sentence, details }: ReturnType<typeof buildBanner>): string {
  const [first, ...others] = details.map(plainText);
  return first === undefined ? sentence : [`${sentence}${first.slice(-1)}`, first, ...others].join(' ');
}

function describe(text: string | null) {
  if (text === null || text === '') return { description: null, descriptionHtml: null };
  return { description: textOfMarkdown(text), descriptionHtml: safeHtmlOfMarkdown(text, undefined, 3) };
}

function announcementView({ format, model }: ViewContext, announcement: Announcement) {
  const title = textIn(model.settings, announcement.title, announcement.titles);
  const body = textIn(model.settings, announcement.body, announcement.bodies);
  return {
    id: announcement.id,
    level: announcement.level,
    title: title.text,
    // Of the title and of the body, where that is not the page's.
    titleLang: title.lang,
    lang: body.lang,
    from: format.zoned.time(announcement.from),
    body: safeHtmlOfMarkdown(body.text, undefined, 3),
  };
}

function maintenances(context: ViewContext, isWanted: (one: PageMaintenance) => boolean): EventView[] {
  return context.model.maintenances
    .filter(isWanted)
    .map((one) => maintenanceEvent(context, one, { updatesMax: LISTED_UPDATES_MAX }));
}

function pastView(context: ViewContext) {
  const { model, words } = context;
  const since = toEpochMs(model.asOf - PAST_DAYS * DAY_MS);
  return {
    // Newest first.
    incidents: model.incidents
      .filter((one) => !isOpen(one) && one.startedAt >= since)
      .slice(0, PAST_INCIDENTS_MAX)
      .map((one) => incidentEvent(context, one, { updatesMax: 1 })),
    emptyText: fill(words.noIncidents, { n: PAST_DAYS }),
  };
}

/** A frame is a glance; the rest is on the page. */
const EMBEDDED_INCIDENTS_MAX = 3;

/** The state of a page small enough for a frame on another site. */
export function embedView(model: PageModel) {
  const context = createContext(model, '../');
  const sentence = bannerSentence(model.state, context.words);
  return {
    shell: {
      ...buildShell(context, { title: null, description: sentence, path: EMBED_PATH, present: model }),
      isIndexed: false,
      socialImage: null,
    },
    state: model.state,
    sentence,
    title: model.definition.title,
    href: context.base,
    incidents: model.incidents
      .filter((one) => isOpen(one))
      .slice(0, EMBEDDED_INCIDENTS_MAX)
      .map((one) => linkToStory(one, context.base + incidentPath(one.slug))),
  };
}
