/** `api/uptime.json`: what every uptime figure of a page is made from, so that anybody can count again. */

import { closedDays, DAYS_COUNT, type DayFigures, lastClosedDay } from '../../model/days.ts';
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
  type SourceFreshness,
  STATES,
  type State,
  toIso,
  toIsoOrNull,
  UPTIME_PERIODS,
  type Uptime,
  type UptimePeriod,
  upstreamOf,
  upstreamRatio,
  uptimePeriods,
} from '../../model/index.ts';
import { countedComponents, lastChangeAt } from '../model/page-state.ts';
import { listSections } from '../model/sections.ts';
import { shortId } from '../text/addresses.ts';
import { componentHead, pageHead } from './state-json.ts';

/** The formula in words, beside its version. */
const FORMULA =
  'up / (up + down) over each period that ends at as_of; up: operational, degraded, and 70 % of partial_outage; ' +
  'down: major_outage and 30 % of partial_outage; maintenance, paused and unknown time is not counted; ' +
  'an impact that was declared not to count counts as what lies below it (counted_seconds); ' +
  'null where less than 1 % of the period was observed; what was only reported (an incident, a maintenance) is no observation; ' +
  'ratios are rounded down to 6 decimals and are 1 only when nothing was down';

/** The document of one page; `docs/schema/uptime.schema.json` says what each field is. */
export function uptimeDocument(model: PageModel) {
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
    days: days as readonly string[],
    day_seconds: (measured[0]?.cells ?? dayCells([], days, options)).map(({ elapsedMs }) => toSeconds(elapsedMs)),
    utc_days: utcDays as readonly string[],
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

function uptimeSource(model: PageModel, source: SourceFreshness) {
  return {
    id: shortId('source', model.definition.id, source.upstreamId),
    monitors_at: toIsoOrNull(source.monitorsAt),
    incidents_at: toIsoOrNull(source.incidentsAt),
    interval_seconds: toSeconds(source.intervalMs),
    monitors_stale: source.isMonitorsStale,
    incidents_stale: source.isIncidentsStale,
  };
}

function findSourceId(model: PageModel, { definition }: ComponentModel): string | null {
  return definition.monitor === null ? null : shortId('source', model.definition.id, upstreamOf(definition.monitor));
}

function upstreamFigures(component: ComponentModel, { showUptime }: PageSettings) {
  const { upstreamUptime } = component;
  if (upstreamUptime === null || upstreamUptime.periodDays === null) return null;
  const ratio = upstreamRatio(component);
  return {
    period_days: upstreamUptime.periodDays,
    uptime_ratio: ratio === null || !showUptime ? null : floorTo(ratio, 6),
    response_time_average_ms: upstreamUptime.responseTimeAverageMs,
  };
}

function lastChecks({ upstreamUptime }: ComponentModel) {
  const { places, certificateEndsAt } = upstreamUptime ?? {};
  if (places === undefined) return null;
  return {
    certificate_expires_at: toIsoOrNull(certificateEndsAt),
    places: places.map(({ place, at, state, responseTimeMs }) => ({
      ...{ place, at: toIso(at), state, response_time_ms: responseTimeMs },
    })),
  };
}

function figuresByPeriod(settings: PageSettings, uptimeIn: (period: UptimePeriod) => Uptime) {
  const periods = Object.keys(UPTIME_PERIODS) as UptimePeriod[];
  return Object.fromEntries(periods.map((period) => [period, uptimeFigures(uptimeIn(period), settings)])) as Record<
    UptimePeriod,
    UptimeFigures
  >;
}

export type UptimeFigures = ReturnType<typeof uptimeFigures>;

/** Uptime figures as JSON has them. */
export function uptimeFigures(uptime: Uptime, { showUptime }: Pick<PageSettings, 'showUptime'>) {
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

function uptimeDays(cells: readonly DayCell[]) {
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

function daysByState(days: readonly MsByState[]) {
  const lists = STATES.map((state) => [state, days.map((ms) => toSeconds(ms[state]))]);
  return Object.fromEntries(lists) as Record<State, number[]>;
}

/** To the millisecond, so that the seconds of a day add up. */
function toSeconds(ms: number): number {
  return ms / 1_000;
}
