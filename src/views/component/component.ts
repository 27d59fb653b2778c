/** One component on its own page: ninety days, figures, response times, what happened to it, and how to follow it. */

import {
  bucketed,
  type ComponentModel,
  DAY_MS,
  type Day,
  dayOf,
  type EpochMs,
  fillPieces,
  HOUR_MS,
  type Interval,
  type PageModel,
  type ResponseTime,
  type ResponseTimeBucket,
  type ResponseTimeFigures,
  responseTimeFigures,
  textIn,
  toEpochMs,
  toPiece,
  UPTIME_PERIODS,
  type UptimePeriod,
  uptimePeriods,
  windowOf,
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
import { upstreamRatio, upstreamResponseMs } from '../model/page-state.ts';
import { componentPath, HISTORY_PATH } from '../text/addresses.ts';
import { count, fill, stateWord } from '../words/index.ts';
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

/** Periods that are drawn: into how many stretches at most, and how often a day or an hour is named below. */
const PERIODS = {
  '24h': { points: 96, ticks: 4 },
  '7d': { points: 84, ticks: 7 },
  '30d': { points: 90, ticks: 3 },
  '90d': { points: 90, ticks: 3 },
} as const satisfies Partial<Record<UptimePeriod, { points: number; ticks: number }>>;
type ChartPeriod = keyof typeof PERIODS;
/** Fewer stretches where samples are few, so that a sparse series is not all gaps. */
const POINTS_MIN = 12;
export const CHART_HEIGHT = 100;

export type ResponseChartView = NonNullable<ReturnType<typeof buildResponseChart>>;

/** Null when nothing was measured in the last ninety days. */
function buildResponseChart(context: ViewContext<DatedPage>, { responseTimes }: ComponentModel) {
  const { asOf } = context.model;
  let known = 0;
  const periods = (Object.keys(PERIODS) as ChartPeriod[]).flatMap((id) => {
    const { from } = windowOf(id, asOf);
    const samples = responseTimes.filter(({ at }) => at >= from && at < asOf);
    if (samples.length === known) return [];
    known = samples.length;
    return [periodView(context, id, samples)];
  });
  const [first, ...others] = periods;
  const latest = responseTimes.findLast(({ at }) => at < asOf);
  if (first === undefined || latest === undefined) return null;
  // Shortest first: those with samples that a shorter one does not have.
  return { periods: [first, ...others] as const, latest: milliseconds(context, latest.ms) };
}

/** One period of the chart. @param samples  those of the period, at least one */
function periodView(context: ViewContext<DatedPage>, id: ChartPeriod, samples: readonly ResponseTime[]) {
  const { model, words, format } = context;
  const { points, ticks } = PERIODS[id];
  const window = windowOf(id, model.asOf);
  const figures = responseTimeFigures(samples, window);
  if (figures === null) throw new TypeError(`There are no samples to draw for ${id}`);
  const count = Math.min(points, Math.max(POINTS_MIN, Math.floor(samples.length / 2)));
  // A day is drawn in whole hours, so that they can be named.
  const to = id === '24h' ? toEpochMs(Math.ceil(window.to / HOUR_MS) * HOUR_MS) : window.to;
  const drawn: Interval = { from: toEpochMs(to - (window.to - window.from)), to };
  const buckets = bucketed(samples, drawn, count);
  const topMs = niceTop(Math.max(...buckets.map((bucket) => bucket.figures?.p95Ms ?? 0)));
  const average = milliseconds(context, figures.averageMs);
  const p95 = milliseconds(context, figures.p95Ms);
  const axisValue = (ms: number) => fill(words.milliseconds, { n: format.number(ms) });
  return {
    id,
    period: words[`period${id}`],
    // In a box `width` wide and `CHART_HEIGHT` high.
    ...drawPaths(buckets, topMs),
    width: count - 1,
    // Instants at equal distances, the first at the start of the box and the last at its end.
    ticks: Array.from({ length: ticks + 1 }, (_, index) => {
      const at = toEpochMs(drawn.from + ((to - drawn.from) * index) / ticks);
      const { iso, text } = format.plain.clock(at);
      return { iso, text: id === '24h' ? text : format.dayInYear(dayOf(at, model.settings.timezone)) };
    }),
    // Values at the top of the box, in its middle and at its bottom.
    values: [axisValue(topMs), axisValue(topMs / 2), axisValue(0)] as const,
    average,
    p95,
    summary: fill(words.responseChart, {
      from: format.plain.time(window.from).text,
      to: format.zoned.time(window.to).text,
      average,
      p95,
    }),
  };
}

function milliseconds({ words, format }: ViewContext<DatedPage>, ms: number): string {
  return fill(words.milliseconds, { n: format.number(Math.round(ms)) });
}

/** One for two hours: with more the page would weigh more than it tells. */
export const SPARK_POINTS = 12;
export const SPARK_HEIGHT = 8;

/** The last day in the width of a word. Null when nothing was measured in the last day and the upstream gives no average. */
export function buildSpark(context: ViewContext<DatedPage>, component: ComponentModel) {
  const { model } = context;
  const { responseTimes } = component;
  const window = windowOf('24h', model.asOf);
  const figures = responseTimeFigures(responseTimes, window);
  if (figures === null) {
    const averageMs = upstreamResponseMs(component, model.asOf);
    return averageMs === null ? null : { line: '', average: milliseconds(context, averageMs) };
  }
  const buckets = bucketed(responseTimes, window, SPARK_POINTS);
  const topMs = Math.max(...buckets.map((bucket) => bucket.figures?.averageMs ?? 0));
  const line = lineRuns(buckets).map((run) => {
    const points = run.map(
      ({ x, figures: { averageMs } }) => `${x} ${Math.round(SPARK_HEIGHT * (1 - averageMs / topMs))}`,
    );
    return `M${points.join(' ')}${run.length === 1 ? 'h.5' : ''}`;
  });
  return {
    // Path data in a box `SPARK_POINTS - 1` wide and `SPARK_HEIGHT` high; empty: there is nothing to draw.
    line: line.join(''),
    // Average of the day, or what the upstream gives as its average.
    average: milliseconds(context, figures.averageMs),
  };
}

/** The next of 1, 2, 5, 10, … at or above `ms`. */
function niceTop(ms: number): number {
  const scale = 10 ** Math.floor(Math.log10(Math.max(1, ms)));
  return [1, 2, 5, 10].map((step) => step * scale).find((top) => top >= ms) ?? 10 * scale;
}

/** A stretch without samples is a gap, never a line across it. */
function drawPaths(buckets: readonly ResponseTimeBucket[], topMs: number) {
  const y = (ms: number) => Math.round(CHART_HEIGHT * (1 - Math.min(1, ms / topMs)));
  let line = '';
  let band = '';
  for (const run of lineRuns(buckets)) {
    const averages = run.map(({ x, figures }) => `${x} ${y(figures.averageMs)}`);
    const upper = run.map(({ x, figures }) => `${x} ${y(figures.p95Ms)}`);
    line += `M${averages.join('L')}${run.length === 1 ? 'h.5' : ''}`;
    band += `M${upper.join('L')}L${averages.toReversed().join('L')}z`;
  }
  return { line, band };
}

function lineRuns(buckets: readonly ResponseTimeBucket[]) {
  const runs: { readonly x: number; readonly figures: ResponseTimeFigures }[][] = [];
  let isGap = true;
  for (const [x, { figures }] of buckets.entries()) {
    if (figures === null) isGap = true;
    else {
      if (isGap) runs.push([]);
      runs.at(-1)?.push({ x, figures });
      isGap = false;
    }
  }
  return runs;
}
