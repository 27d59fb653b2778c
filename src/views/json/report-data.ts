/** The report of one month: uptime, incidents and maintenance of every component, as JSON and as rows of a table. */

import {
  combinedUptime,
  type EpochMs,
  FORMULA_VERSION,
  type Interval,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  STATES,
  type State,
  toEpochMs,
  toIso,
  toIsoOrNull,
  uptimeOf,
} from '../../model/index.ts';
import { incidentsByComponent } from '../days/day-bar.ts';
import { intervalOfMonth } from '../days/months.ts';
import { countedComponents, isOpen, touches } from '../model/page-state.ts';
import { listSections } from '../model/sections.ts';
import { componentHead, incidentHead, maintenanceHead, pageHead } from './state-json.ts';
import { type UptimeFigures, uptimeFigures } from './uptime-json.ts';

export type ReportDocument = ReturnType<typeof reportDocument>;

/** The report of `month` (`2026-11`); of the current one up to `asOf`. `docs/schema/report.schema.json` says what each field is. */
export function reportDocument(model: PageModel, month: string) {
  const whole = intervalOfMonth(month, model.settings.timezone);
  const window = { from: whole.from, to: toEpochMs(Math.max(whole.from, Math.min(whole.to, model.asOf))) };
  const incidents = model.incidents.filter(({ startedAt, endedAt }) => touches(window, startedAt, endedAt));
  const maintenances = model.maintenances.flatMap((maintenance) => {
    const windows = maintenance.windows.filter(({ from, to }) => touches(window, from, to));
    return windows.length === 0 ? [] : [{ maintenance, windows }];
  });
  const byComponent = incidentsByComponent({ incidents });
  const counted = new Set(countedComponents(model.components));
  const measured = listSections(model).flatMap(({ group, members }) =>
    members.map((component) => ({ group, component, uptime: uptimeOf(component.timeline, window) })),
  );
  return {
    page: pageHead(model),
    month,
    time_zone: model.settings.timezone,
    from: toIso(window.from),
    to: toIso(window.to),
    is_over: model.asOf >= whole.to,
    formula_version: FORMULA_VERSION,
    uptime: uptimeFigures(
      combinedUptime(measured.flatMap(({ component, uptime }) => (counted.has(component) ? [uptime] : []))),
      model.settings,
    ),
    components: measured.map(({ group, component, uptime }) => ({
      ...componentHead(model, component, group?.name),
      uptime: uptimeFigures(uptime, model.settings),
      incident_count: byComponent.get(component.definition.id)?.length ?? 0,
    })),
    incidents: incidents.map((incident) => incidentEvent(model, window, incident)).reverse(),
    maintenances: maintenances.map((planned) => maintenanceEvent(model, window, planned)).reverse(),
  };
}

function secondsInside({ from, to }: Interval, startsAt: EpochMs, endsAt: EpochMs | null): number {
  return Math.max(0, Math.min(to, endsAt ?? to) - Math.max(from, startsAt)) / 1_000;
}

function incidentEvent(model: PageModel, window: Interval, incident: PageIncident) {
  const { startedAt, endedAt, componentIds } = incident;
  return {
    ...incidentHead(model, incident),
    impact: incident.impact as string | null,
    started_at: toIso(startedAt),
    // An end that is only planned is none yet.
    ended_at: isOpen(incident) ? null : toIsoOrNull(endedAt),
    seconds: secondsInside(window, startedAt, endedAt),
    components: componentIds,
  };
}

/** Of one that repeats its windows of the month together, from the first to the last. */
function maintenanceEvent(
  model: PageModel,
  window: Interval,
  { maintenance, windows }: { readonly maintenance: PageMaintenance; readonly windows: readonly Interval[] },
) {
  const { startsAt, endsAt, componentIds } = maintenance;
  return {
    ...maintenanceHead(model, maintenance),
    impact: null as string | null,
    started_at: toIso(windows[0]?.from ?? startsAt),
    ended_at: toIsoOrNull(windows.at(-1)?.to ?? endsAt),
    seconds: windows.reduce((sum, { from, to }) => sum + secondsInside(window, from, to), 0),
    components: componentIds,
  };
}

type Row = readonly (string | number | null)[];

/** The report's components as rows, names of columns first; ratios as in the document, times in seconds. */
export function reportRows({ month, components, uptime, page }: ReportDocument): Row[] {
  return [
    [
      'month',
      'component_id',
      'component',
      'group',
      'uptime_ratio',
      'uptime_ratio_with_maintenance',
      'coverage_ratio',
      ...STATES.map((state) => `${state}_seconds`),
      'incidents',
    ],
    ...components.map(
      (one): Row => [month, one.id, one.name, one.group, ...figureCells(one.uptime), one.incident_count],
    ),
    [month, null, page.name, null, ...figureCells(uptime), null],
  ];
}

function figureCells(figures: UptimeFigures): (number | null)[] {
  return [
    figures.uptime_ratio,
    figures.uptime_ratio_with_maintenance,
    figures.coverage_ratio,
    ...STATES.map((state: State) => figures.seconds[state]),
  ];
}
