/** The banner of a page, and the components below it: by group, each with its ninety days. */

import {
  type ComponentModel,
  combinedState,
  combinedUptime,
  fillPieces,
  isWorse,
  joinPieces,
  type PageIncident,
  type PageModel,
  STATES_BY_IMPACT,
  type State,
  textIn,
  toPiece,
  type Uptime,
  upstreamOf,
  uptimePeriods,
} from '../../model/index.ts';
import { combinedDays } from '../badges/badge-subjects.ts';
import { buildSpark } from '../component/response-chart.ts';
import { barCells, buildBriefBar, buildDayBar, type DaysView, incidentsByComponent } from '../days/day-bar.ts';
import { type LinkView, linkTo, type ViewContext } from '../frame/shell.ts';
import { countedComponents } from '../model/page-state.ts';
import { listSections } from '../model/sections.ts';
import { componentPath, pathSegment } from '../text/addresses.ts';
import type { TimeView } from '../text/format.ts';
import { bannerSentence, count, stateWord, TROUBLE_KEYS } from '../words/index.ts';

/** Names listed for each state; the rest is counted. */
const BANNER_NAMES_MAX = 5;

/** Where a single component is all the trouble, the sentence names it. */
const ONE_IN_TROUBLE: Partial<Record<State, 'bannerOneDown' | 'bannerOnePartlyDown' | 'bannerOneDegraded'>> = {
  major_outage: 'bannerOneDown',
  partial_outage: 'bannerOnePartlyDown',
  degraded: 'bannerOneDegraded',
};

/** The state in a sentence, and which components it is about. */
export function buildBanner(context: ViewContext) {
  const { model, words } = context;
  const counted = countedComponents(model.components);
  const lists = TROUBLE_KEYS.map(([state, key]) => ({
    key,
    components: counted.filter((one) => one.state === state),
  })).filter(({ components }) => components.length > 0);
  const [only, ...others] = lists.flatMap(({ components }) => components);
  const key = only === undefined || others.length > 0 ? undefined : ONE_IN_TROUBLE[only.state];
  const named = key === undefined || only === undefined ? null : fillPieces(words[key], { name: [toPiece(only)] });
  // What the sentence names is not listed below it.
  const details: (string | LinkView)[][] =
    named === null ? lists.map((list) => bannerParts(context, words[list.key], list.components)) : [];
  const rest = model.components.filter((one) => one !== only && !others.includes(one));
  if (only !== undefined && rest.length > 0 && rest.every(({ state }) => state === 'operational'))
    details.push([words.bannerRest]);
  if (model.components.length === 0) details.push([words.bannerNothing]);
  const { text: sentence, ...pieces } = joinPieces(named ?? [bannerSentence(model.state, words)]);
  return { state: model.state, sentence, ...pieces, details };
}

/** A sentence with the names of components in it, each a link to its row. */
function bannerParts(
  { words, format, locale }: ViewContext,
  sentence: string,
  components: readonly ComponentModel[],
): (string | LinkView)[] {
  const isLong = components.length > BANNER_NAMES_MAX + 1;
  const named = isLong ? components.slice(0, BANNER_NAMES_MAX) : components;
  const more = isLong ? count(words.bannerOthers, components.length - named.length, locale) : '';
  return fillPieces(sentence, { names: format.listPieces(named, (one) => linkTo(one, `#${rowId(one)}`), more) });
}

/** Of the rows that the banner leads to. */
function rowId({ definition }: ComponentModel): string {
  return `c-${pathSegment(definition.id)}`;
}

/** A detail of the banner without its links. */
export function plainText(parts: readonly (string | LinkView)[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

/** Up to this many components the list is read as it is; above it groups are folded, and what does not work comes first. */
const PLAIN_COMPONENTS_MAX = 25;
/** Of those that do not work; more than a screen of them says no more than their number. */
const FAILING_MAX = 25;

/** Whether a page has so many components that a visitor has to search for theirs. */
function isLongList({ components }: Pick<PageModel, 'components'>): boolean {
  return components.length > PLAIN_COMPONENTS_MAX;
}

/** What only a long list needs. Null on a page of few components. Its rows take the anchors of those of the list. */
export function buildLongList(context: ViewContext, days: DaysView) {
  const { model, words, locale } = context;
  if (!isLongList(model)) return null;
  const failing = failingComponents(model);
  const incidents = incidentsByComponent(model);
  const shown = failing.slice(0, FAILING_MAX);
  const more = failing.length - shown.length;
  return {
    // Those that do not work, worst first.
    failing: shown.map((component) => ({
      ...componentRow(context, days, {
        component,
        uptime: uptimePeriods(component.timeline, model.asOf)['90d'],
        incidents: incidents.get(component.definition.id) ?? [],
      }),
      // Its group stands nowhere near.
      name: component.name,
    })),
    // How many more there are; empty: none.
    failingMore: more === 0 ? '' : count(words.notWorkingMore, more, locale),
    count: model.components.length,
  };
}

function failingComponents({ components }: PageModel): ComponentModel[] {
  const order = STATES_BY_IMPACT.filter((state) => isWorse(state, 'operational') && state !== 'maintenance');
  return order.flatMap((state) => components.filter((one) => one.state === state));
}

/** A group, or components that are in none. */
export type SectionView = ReturnType<typeof sectionViews>[number];

/** Groups and what is in none, in the order of the page. */
export function sectionViews(context: ViewContext, days: DaysView) {
  const { model, words, format } = context;
  const isLong = isLongList(model);
  const incidents = isLong ? null : incidentsByComponent(model);
  const above = new Set(isLong ? failingComponents(model).slice(0, FAILING_MAX) : []);
  return listSections(model).map(({ group, members: components }) => {
    const uptimes = components.map((one) => uptimePeriods(one.timeline, model.asOf)['90d']);
    const rows = components.map((one, index) => {
      const row = componentRow(context, days, {
        component: one,
        uptime: uptimes[index],
        // Days of a long list are told on the pages of its components, and are read there when somebody asks for them.
        incidents: incidents && (incidents.get(one.definition.id) ?? []),
      });
      return above.has(one) ? { ...row, anchor: null } : row;
    });
    // Not a group.
    if (group === null) return { group, components: rows };
    const state = combinedState(components.map((one) => one.state));
    return {
      group: {
        id: group.id,
        name: group.name,
        /** Of its name, where that is not the page's. */
        lang: group.lang,
        state,
        stateWord: stateWord(state, words),
        /** Empty where uptime is not shown. */
        uptime: model.settings.showUptime
          ? format.percent(combinedUptime(uptimes).ratio, model.settings.uptimeDecimals)
          : '',
        /** What is wrong is never folded away; of a long list it stands on top. */
        isOpen: isLong ? group.defaultOpen === true : group.defaultOpen !== false || isWorse(state, 'operational'),
        /** Its days together, for as long as it is folded; empty where it is open anyway. */
        letters: isLong ? groupLetters(model, components, days) : '',
        /** Whose its components are, where they are somebody else's: a sentence each, with a link and the time it is from. */
        vendors: listVendors(context, components),
      },
      components: rows,
    };
  });
}

function groupLetters(model: PageModel, components: readonly ComponentModel[], { days }: DaysView): string {
  const members = components.map((component) => ({ component, cells: barCells(component, days, model) }));
  return combinedDays(members, days.length);
}

/** The vendors' pages that components are read from, with when each was heard last; one that never was is left out. */
function listVendors({ model, words, format }: ViewContext, components: readonly ComponentModel[]) {
  const pages = new Map(
    components.flatMap(({ definition: { vendorPage, monitor } }) =>
      vendorPage === undefined || monitor === null ? [] : [[vendorPage, upstreamOf(monitor)]],
    ),
  );
  return [...pages].flatMap(([href, upstreamId]) => {
    const at = model.sources.find((source) => source.upstreamId === upstreamId)?.monitorsAt ?? null;
    if (at === null) return [];
    const name: LinkView = { href, text: new URL(href).host };
    return [fillPieces<LinkView | TimeView>(words.toldByVendor, { name: [name], time: [format.zoned.time(at)] })];
  });
}

interface RowInit {
  readonly component: ComponentModel;
  readonly uptime: Uptime | undefined;
  /** Null: its days are not told here. */
  readonly incidents: readonly PageIncident[] | null;
}

export type ComponentRowView = ReturnType<typeof componentRow>;

function componentRow(context: ViewContext, days: DaysView, { component, uptime, incidents }: RowInit) {
  const { model, words, format } = context;
  const { definition, state } = component;
  const since = isWorse(state, 'operational') ? component.since : null;
  const cells = barCells(component, days.days, model);
  return {
    /** To link to; null where nothing does. */
    anchor: state === 'operational' || state === 'paused' ? null : rowId(component),
    href: context.base + componentPath(definition.id),
    name: component.plainName,
    /** Of its name and of its description, where that is not the page's. */
    lang: component.lang,
    descriptionLang: textIn(model.settings, component.description ?? '').lang,
    description: component.description,
    target: component.target,
    state,
    stateWord: stateWord(state, words),
    /** When it came into that state, unless it is well. */
    since: since === null ? null : format.since(since, model.asOf),
    /** Empty where uptime is not shown. */
    uptime: model.settings.showUptime ? format.percent(uptime?.ratio ?? null, model.settings.uptimeDecimals) : '',
    /** Null where response times are not known. Of a long list one wants to know what works; its components' pages have the rest. */
    spark: isLongList(model) ? null : buildSpark(context, component),
    bar: incidents === null ? buildBriefBar(cells) : buildDayBar(model, component, cells, incidents),
  };
}
