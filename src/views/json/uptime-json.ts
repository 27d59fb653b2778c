/** `api/uptime.json`: what every uptime figure of a page is made from, so that anybody can count again. */

import { closedDays, DAYS_COUNT, type DayFigures, lastClosedDay } from '../../model/closed-days.ts';
import {
  type ComponentModel,
  combinedUptime,
  type DayCell,
  dayCells,
  dayOf,
  daysUntil,
  FORMULA_VERSION,
  floorTo,
  type MsByState,
  type PageModel,
  type PageSettings,
  type Provenance,
  type SourceFreshness,
  STATES,
  type State,
  toIso,
  UPTIME_PERIODS,
  type Uptime,
  type UptimePeriod,
  upstreamOf,
  uptimePeriods,
} from '../../model/index.ts';
import { countedComponents, lastChangeAt } from '../model/page-state.ts';
import { listSections } from '../model/sections.ts';
import { upstreamRatio } from '../model/upstream-figures.ts';
import { shortId } from '../text/addresses.ts';
import { type ComponentHead, componentHead, type PageHead, pageHead } from './heads.ts';

/** The formula in words, beside its version. */
const FORMULA =
  'up / (up + down) over each period that ends at as_of; up: operational, degraded, and 70 % of partial_outage; ' +
  'down: major_outage and 30 % of partial_outage; maintenance, paused and unknown time is not counted; ' +
  'an impact that was declared not to count counts as what lies below it (counted_seconds); ' +
  'null where less than 1 % of the period was observed; what was only reported (an incident, a maintenance) is no observation; ' +
  'ratios are rounded down to 6 decimals and are 1 only when nothing was down';

export interface UptimeDocument {
  readonly page: PageHead & { readonly updated_at: string };
  /** IANA time zone of the days. */
  readonly time_zone: string;
  /** The instant that everything here is counted to. */
  readonly as_of: string;
  /** A copy read after this time is out of date. */
  readonly stale_after: string;
  readonly stale: boolean;
  readonly state: State;
  readonly formula: {
    readonly version: number;
    readonly text: string;
    /** Trouble up to this long that is over does not change the state of a day. */
    readonly blip_floor_seconds: number;
  };
  readonly sources: readonly UptimeSource[];
  /** Uptime of all components together, each weighted by the time that counts in it. */
  readonly periods: UptimePeriodFigures;
  /** The calendar days that `days` of each component runs along, oldest first; the last one is not over. */
  readonly days: readonly string[];
  /** How long each of them lasts, in seconds, up to `as_of`: 82800 and 90000 where clocks change. */
  readonly day_seconds: readonly number[];
  /** The UTC days that are over for good, oldest first, as `utc` of each component and the page’s log have them. */
  readonly utc_days: readonly string[];
  readonly components: readonly UptimeComponent[];
}

interface UptimeSource {
  readonly id: string;
  /** When it last answered; null: never. */
  readonly monitors_at: string | null;
  readonly incidents_at: string | null;
  readonly interval_seconds: number;
  readonly monitors_stale: boolean;
  readonly incidents_stale: boolean;
}

interface UptimeComponent extends ComponentHead {
  readonly state: State;
  readonly stale: boolean;
  /** Which of `sources` it comes from; null: a component with no monitor. */
  readonly source_id: string | null;
  /** What its figures are counted from: nobody watches a component without a monitor. */
  readonly uptime_basis: 'monitoring' | 'reported_incidents';
  readonly periods: UptimePeriodFigures;
  /** What the upstream says itself; null: it says nothing. */
  readonly upstream: {
    readonly period_days: number;
    readonly uptime_ratio: number | null;
    readonly response_time_average_ms: number | null;
  } | null;
  /** What the checks showed last, of a component that Pharos checks itself; null: it is none, or it was not checked yet. */
  readonly checks: {
    readonly certificate_expires_at: string | null;
    readonly places: readonly {
      readonly place: string;
      readonly at: string;
      readonly state: State;
      /** Null: it did not answer. */
      readonly response_time_ms: number | null;
    }[];
  } | null;
  readonly days: UptimeDays;
  /** What is said of days in `utc_days`, by their place in that list; nothing is known of others. */
  readonly utc: readonly (DayFigures & { readonly days: readonly number[] })[];
  /** Days in `utc_days` that say something else than they once did, by their place in that list. */
  readonly corrections: readonly { readonly day: number; readonly corrected_at: string }[];
}

/** Each list has one entry for each day of the document. */
interface UptimeDays {
  /** The state that colours the day. */
  readonly state: readonly State[];
  /** Seconds in each state; together they are `day_seconds`. */
  readonly seconds: Readonly<Record<State, readonly number[]>>;
  /** The same, as counted in uptime; null: no day differs. */
  readonly counted_seconds: Readonly<Record<State, readonly number[]>> | null;
  /** Share of the day with a known state, 0 to 1, rounded down to 4 decimals. */
  readonly coverage: readonly number[];
  readonly provenance: readonly (readonly Provenance[])[];
}

type UptimePeriodFigures = Readonly<Record<UptimePeriod, UptimeFigures>>;

export interface UptimeFigures {
  /** Null: too little was observed, no time counts, or the page shows no uptime. */
  readonly uptime_ratio: number | null;
  /** The same with maintenance counted as up. */
  readonly uptime_ratio_with_maintenance: number | null;
  readonly coverage_ratio: number;
  readonly seconds: Readonly<Record<State, number>>;
  /** What the ratios are made from: other than `seconds` only where an impact was declared not to count. */
  readonly counted_seconds: Readonly<Record<State, number>>;
}

/** The document of one page. */
export function uptimeDocument(model: PageModel): UptimeDocument {
  const { settings, asOf } = model;
  const days = daysUntil(dayOf(asOf, settings.timezone), DAYS_COUNT);
  const options = { now: asOf, blipFloorMs: settings.blipFloorMs, zone: settings.timezone };
  const groupNames = new Map(
    listSections(model).flatMap(({ group, members }) =>
      members.map((member) => [member, group?.name ?? null] as const),
    ),
  );
  const counted = new Set(countedComponents(model.components));
  const measured = model.components.map((component) => ({
    component,
    cells: dayCells(component.timeline, days, options),
    periods: uptimePeriods(component.timeline, asOf),
  }));
  const utcDays = daysUntil(lastClosedDay(asOf), DAYS_COUNT);
  const closed = Map.groupBy(closedDays(model.components, asOf), (one) => one.component);
  const corrected = Map.groupBy(model.log?.corrected ?? [], (one) => one.component);
  return {
    page: { ...pageHead(model), updated_at: toIso(lastChangeAt(model)) },
    time_zone: settings.timezone,
    as_of: toIso(asOf),
    stale_after: toIso(model.staleAfter),
    stale: model.isStale,
    state: model.state,
    formula: { version: FORMULA_VERSION, text: FORMULA, blip_floor_seconds: settings.blipFloorMs / 1_000 },
    sources: model.sources.map((source) => uptimeSource(model, source)),
    periods: figuresByPeriod(settings, (period) =>
      combinedUptime(measured.filter(({ component }) => counted.has(component)).map(({ periods }) => periods[period])),
    ),
    days,
    day_seconds: (measured[0]?.cells ?? dayCells([], days, options)).map(({ elapsedMs }) => toSeconds(elapsedMs)),
    utc_days: utcDays,
    components: measured.map(({ component, cells, periods }) => ({
      ...componentHead(model, component, groupNames.get(component)),
      state: component.state,
      stale: component.isStale,
      source_id: findSourceId(model, component),
      uptime_basis: component.definition.monitor === null ? 'reported_incidents' : 'monitoring',
      periods: figuresByPeriod(settings, (period) => periods[period]),
      upstream: upstreamFigures(component, settings),
      checks: lastChecks(component),
      days: uptimeDays(cells),
      utc: [...Map.groupBy(closed.get(component.definition.id) ?? [], (one) => one.figures)].map(
        ([figures, alike]) => ({
          ...(JSON.parse(figures) as DayFigures),
          days: alike.map(({ day }) => utcDays.indexOf(day)),
        }),
      ),
      corrections: (corrected.get(component.definition.id) ?? []).flatMap(({ day, at }) =>
        utcDays.includes(day) ? [{ day: utcDays.indexOf(day), corrected_at: toIso(at) }] : [],
      ),
    })),
  };
}

function uptimeSource(model: PageModel, source: SourceFreshness): UptimeSource {
  return {
    id: shortId('source', model.definition.id, source.upstreamId),
    monitors_at: source.monitorsAt === null ? null : toIso(source.monitorsAt),
    incidents_at: source.incidentsAt === null ? null : toIso(source.incidentsAt),
    interval_seconds: toSeconds(source.intervalMs),
    monitors_stale: source.isMonitorsStale,
    incidents_stale: source.isIncidentsStale,
  };
}

function findSourceId(model: PageModel, { definition }: ComponentModel): string | null {
  return definition.monitor === null ? null : shortId('source', model.definition.id, upstreamOf(definition.monitor));
}

function upstreamFigures(component: ComponentModel, { showUptime }: PageSettings): UptimeComponent['upstream'] {
  const { upstreamUptime } = component;
  if (upstreamUptime === null || upstreamUptime.periodDays === null) return null;
  const ratio = upstreamRatio(component);
  return {
    period_days: upstreamUptime.periodDays,
    uptime_ratio: ratio === null || !showUptime ? null : floorTo(ratio, 6),
    response_time_average_ms: upstreamUptime.responseTimeAverageMs,
  };
}

function lastChecks({ upstreamUptime }: ComponentModel): UptimeComponent['checks'] {
  const { places, certificateEndsAt } = upstreamUptime ?? {};
  if (places === undefined) return null;
  return {
    certificate_expires_at: certificateEndsAt === undefined ? null : toIso(certificateEndsAt),
    places: places.map(({ place, at, state, responseTimeMs }) => ({
      ...{ place, at: toIso(at), state, response_time_ms: responseTimeMs },
    })),
  };
}

function figuresByPeriod(settings: PageSettings, uptimeIn: (period: UptimePeriod) => Uptime): UptimePeriodFigures {
  const periods = Object.keys(UPTIME_PERIODS) as UptimePeriod[];
  return Object.fromEntries(
    periods.map((period) => [period, uptimeFigures(uptimeIn(period), settings)]),
  ) as UptimePeriodFigures;
}

/** Uptime figures as JSON has them. */
export function uptimeFigures(uptime: Uptime, { showUptime }: Pick<PageSettings, 'showUptime'>): UptimeFigures {
  const { ratio, ratioWithMaintenance, coverageRatio, msByState, countedMsByState } = uptime;
  const shown = (share: number | null): number | null => (share === null || !showUptime ? null : floorTo(share, 6));
  return {
    uptime_ratio: shown(ratio),
    uptime_ratio_with_maintenance: shown(ratioWithMaintenance),
    coverage_ratio: floorTo(coverageRatio, 4),
    seconds: secondsByState(msByState),
    counted_seconds: secondsByState(countedMsByState),
  };
}

function uptimeDays(cells: readonly DayCell[]): UptimeDays {
  return {
    state: cells.map(({ state }) => state),
    seconds: daysByState(cells.map(({ msByState }) => msByState)),
    counted_seconds: cells.some(({ msByState, countedMsByState }) => msByState !== countedMsByState)
      ? daysByState(cells.map(({ countedMsByState }) => countedMsByState))
      : null,
    coverage: cells.map(({ coverageRatio }) => floorTo(coverageRatio, 4)),
    provenance: cells.map(({ provenances }) => provenances),
  };
}

function secondsByState(ms: MsByState): Record<State, number> {
  return Object.fromEntries(STATES.map((state) => [state, toSeconds(ms[state])])) as Record<State, number>;
}

function daysByState(days: readonly MsByState[]): UptimeDays['seconds'] {
  const lists = STATES.map((state) => [state, days.map((ms) => toSeconds(ms[state]))]);
  return Object.fromEntries(lists) as UptimeDays['seconds'];
}

/** To the millisecond, so that the seconds of a day add up. */
function toSeconds(ms: number): number {
  return ms / 1_000;
}
