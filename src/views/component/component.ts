/** One component on its own page: ninety days, figures, response times, what happened to it, and how to follow it. */

import {
  type ComponentModel,
  DAY_MS,
  type Day,
  dayOf,
  type EpochMs,
  fillPieces,
  type PageModel,
  textIn,
  toPiece,
  UPTIME_PERIODS,
  type UptimePeriod,
  upstreamRatio,
  upstreamResponseMs,
  uptimePeriods,
} from '../../model/index.ts';
import { badgeCopy, type NamedChoice } from '../badges/badge-gallery.ts';
import { barCells, barDays, buildDayBar, dayTip, incidentsByComponent, listDayRows } from '../days/day-bar.ts';
import {
  buildShell,
  createContext,
  type DatedPage,
  type PageAge,
  type PageFrame,
  type ViewContext,
} from '../frame/shell.ts';
import { incidentEvent, maintenanceEvent } from '../incident/events.ts';
import { componentPath, HISTORY_PATH } from '../text/addresses.ts';
import { count, fill, stateWord } from '../words/index.ts';
import { buildResponseChart, milliseconds } from './response-chart.ts';
import { correctionView } from './verify.ts';

function listPeriodRows({ model, words, format }: ViewContext<DatedPage>, component: ComponentModel) {
  const uptimes = uptimePeriods(component.timeline, model.asOf);
  return (Object.keys(UPTIME_PERIODS) as UptimePeriod[]).map((period) => {
    const { ratio, coverageRatio, downMs } = uptimes[period];
    return {
      period: words[`period${period}`],
      uptime: format.percent(ratio, model.settings.uptimeDecimals),
      // Share of the window that was observed.
      observed: format.percent(coverageRatio, 0),
      // By weight; a dash when nothing was.
      down: downMs > 0 ? format.duration(downMs) : '–',
    };
  });
}

// What an upstream counts itself of a component, in sentences.

/** Its uptime; null: it says nothing, or uptime is not shown. */
function upstreamUptimeText({ model, words, format }: ViewContext<PageFrame>, component: ComponentModel) {
  const ratio = upstreamRatio(component);
  if (ratio === null || !model.settings.showUptime) return null;
  return fill(words.upstreamSays, {
    uptime: format.percent(ratio, model.settings.uptimeDecimals),
    n: component.upstreamUptime?.periodDays ?? 0,
  });
}

/** Its average response time; null: it says nothing, or there are samples. */
function upstreamResponseText(context: ViewContext<DatedPage>, component: ComponentModel) {
  const ms = upstreamResponseMs(component, context.model.asOf);
  if (ms === null) return null;
  const n = component.upstreamUptime?.periodDays ?? 0;
  return fill(context.words.upstreamResponse, { time: milliseconds(context, ms), n });
}

/** What its checks showed last, where Pharos makes them. */
function checksView(context: ViewContext<DatedPage>, { upstreamUptime }: ComponentModel) {
  const { model, words, format } = context;
  const { places, certificateEndsAt: endsAt } = upstreamUptime ?? {};
  if (places === undefined) return null;
  const days = Math.max(0, Math.floor(((endsAt ?? 0) - model.asOf) / DAY_MS));
  return {
    // Several places check it, so that each is named.
    hasPlaces: places.length > 1,
    rows: places.map(({ place, state, responseTimeMs: ms, at }) => ({
      ...{ place, state, stateWord: stateWord(state, words), checked: format.since(at, model.asOf) },
      responseTime: ms === null ? '–' : milliseconds(context, ms),
    })),
    // Until when its certificate is valid; null: it has none.
    certificate:
      endsAt === undefined
        ? null
        : fill(words.certificate, {
            date: format.day(dayOf(endsAt, model.settings.timezone)),
            days: count(words.badgeDays, days, model.settings.locale),
          }),
  };
}

/** The rest is in the history. */
const INCIDENTS_MAX = 20;

/** A page as far as one component of it is concerned; of events, at least those that are about the component. */
type ComponentPage = PageFrame & PageAge & Pick<PageModel, 'incidents' | 'maintenances'>;

interface ComponentInit {
  /** The badges that components have. */
  readonly badges: readonly NamedChoice[];
  /** Past days that say something else than they once did; default: none. */
  readonly corrected?: readonly { readonly day: Day; readonly at: EpochMs }[];
}

export function componentView(
  model: ComponentPage,
  component: ComponentModel,
  { badges, corrected = [] }: ComponentInit,
) {
  const context = createContext(model, '../../');
  const { words } = context;
  const { definition, state, name } = component;
  const path = componentPath(definition.id);
  const days = barDays(context);
  const incidents = incidentsByComponent(model).get(definition.id) ?? [];
  const bar = buildDayBar(model, component, barCells(component, days.days, model), incidents);
  const responseChart = buildResponseChart(context, component);
  const named = [toPiece(component)];
  return {
    shell: buildShell(context, {
      title: name,
      description: `${name}: ${stateWord(state, words)}`,
      path,
      section: 'status',
      present: { ...model, state, since: component.since },
    }),
    name,
    named,
    // How to follow it.
    follow: fillPieces(words.follow, { name: named }),
    // Of its description, where that is not the page's.
    descriptionLang: textIn(model.settings, component.description ?? '').lang,
    description: component.description,
    target: component.target === null ? null : fill(words.target, { target: component.target }),
    state,
    stateWord: stateWord(state, words),
    days: days.texts,
    bar,
    dayRows: listDayRows(context, days.texts, bar.runs),
    dayTip: dayTip(context, days.days, [bar.runs]),
    // When its days begin.
    daysIn: fill(words.daysIn, { zone: context.format.zone }),
    corrected: corrected.map((one) => correctionView(context, one)),
    // None where uptime is not shown.
    periods: model.settings.showUptime ? listPeriodRows(context, component) : [],
    // True: it has no monitor, and its figures are counted from reported incidents alone: nothing is observed.
    isUptimeReported: definition.monitor === null,
    // What its upstream counts itself; null when it does not.
    upstreamSays: upstreamUptimeText(context, component),
    // Its average response time by its upstream, where there is no chart.
    upstreamResponse: responseChart === null ? upstreamResponseText(context, component) : null,
    responseChart,
    checks: checksView(context, component),
    incidents: incidents
      .filter((one) => one.startedAt <= model.asOf)
      .slice(0, INCIDENTS_MAX)
      .map((one) => incidentEvent(context, one, { updatesMax: 1, hasYear: true })),
    noIncidentsText: words.noIncidentsKnown,
    maintenances: model.maintenances
      .filter((one) => one.status !== 'completed' && one.componentIds.includes(definition.id))
      .map((one) => maintenanceEvent(context, one, { updatesMax: 1, hasYear: true })),
    historyHref: context.base + HISTORY_PATH,
    // Page-relative, of its own feeds; a slash at the end.
    feedBase: context.base + path,
    badges: badges.map((badge) =>
      badgeCopy(context, `${path}badges/${badge.name}`, { alt: [...named, `: ${badge.text}`], href: path }),
    ),
  };
}
