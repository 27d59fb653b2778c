/** What the badges of a page, its groups and its components say. */

import { LOOKS } from '../../looks/states.ts';
import {
  bucketed,
  type ComponentModel,
  combinedState,
  combinedUptime,
  DAY_MS,
  type DayCell,
  dayOf,
  daysUntil,
  type EpochMs,
  firstKnownAt,
  type Interval,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  type ResponseTime,
  responseTimeFigures,
  type State,
  type Translated,
  toEpochMs,
  UPTIME_PERIODS,
  type Uptime,
  type UptimePeriod,
  upstreamResponseMs,
  uptimePeriods,
  windowOf,
} from '../../model/index.ts';
import { BAR_DAYS, barCells, cellLetters } from '../days/day-bar.ts';
import { countedComponents, isOpen } from '../model/page-state.ts';

/** Everything any kind of badge shows of a page, a group or a component. */
export interface BadgeSubject {
  readonly name: string;
  /** The same in other languages, by tag; absent: nobody translated it. */
  readonly names?: Translated;
  /** Now. */
  readonly state: State;
  /** Something of it was not heard from in time: nothing about the present may be claimed but trouble that is known. */
  readonly isStale: boolean;
  /** All of this was computed too long ago, so that not even known trouble may be claimed to go on. Absent: it is kept up to date. */
  readonly isExpired?: boolean;
  /** 0 to 1, exactly 1 only when nothing was down; null: not observed, or not shown. */
  readonly uptime: Readonly<Record<UptimePeriod, number | null>>;
  /** Over the last 24 hours; without samples, the average that upstreams give; null: they give none. */
  readonly responseTime: { readonly averageMs: number; readonly p95Ms: number | null } | null;
  /** Averages of equal stretches of the last 24 hours, oldest first; null is a gap and not a zero. */
  readonly responseSeries: readonly (number | null)[];
  /** A letter for the state of each day, as in bars: oldest first, the last one is today; usually 90. */
  readonly days: string;
  readonly openIncidents: number;
  /** Incidents that began in the last 30 days. */
  readonly incidents30d: number;
  /** When the last incident that is over ended; null: none is known. */
  readonly lastIncidentEndedAt: EpochMs | null;
  /** When the next announced maintenance begins; null: none is announced. */
  readonly nextMaintenanceAt: EpochMs | null;
  /** IANA zone that times are written in. */
  readonly timezone: string;
  /** The instant that all of this is said of. */
  readonly now: EpochMs;
}

// The days of several components as one row of days.

/** A component's time line with its day cells, the same days for all. */
interface ComponentDays {
  readonly component: Pick<ComponentModel, 'timeline'>;
  readonly cells: readonly DayCell[];
}

/**
 * A letter for each day, as in bars: the combined state of the components that were there by then.
 *
 * A component that was never heard of before a day says nothing about it; silence after its first sighting does, so a
 * day on which one of two was not heard from is not green.
 */
export function combinedDays(members: readonly ComponentDays[], dayCount: number): string {
  const [first] = members;
  if (first === undefined) return joinDays(members, dayCount);
  const known = combined.getOrInsertComputed(first.cells, () => []);
  const same = known.find((one) => isAbout(one, members) && one.letters.length === dayCount);
  if (same !== undefined) return same.letters;
  const letters = joinDays(members, dayCount);
  known.push({ cells: members.map(({ cells }) => cells), letters });
  return letters;
}

/** By the cells of the first: they are the same in every language of a page, and for its list as for its badges. */
const combined = new WeakMap<readonly DayCell[], Combined[]>();

interface Combined {
  readonly cells: readonly (readonly DayCell[])[];
  readonly letters: string;
}

function isAbout({ cells }: Combined, members: readonly ComponentDays[]): boolean {
  return cells.length === members.length && cells.every((one, index) => one === members[index]?.cells);
}

function joinDays(members: readonly ComponentDays[], dayCount: number): string {
  const joined = members.map(({ component, cells }) => ({
    cells,
    since: firstKnownAt(component.timeline) ?? Infinity,
  }));
  const [only] = joined;
  // Of most subjects there is one, and its bar has the letters already.
  if (only !== undefined && joined.length === 1) {
    const silent = only.cells.filter(({ interval }) => interval.to <= only.since).length;
    return LOOKS.unknown.letter.repeat(silent) + cellLetters(only.cells).slice(silent).toLowerCase();
  }
  let letters = '';
  for (let index = 0; index < dayCount; index += 1) {
    const states: State[] = [];
    for (const { cells, since } of joined) {
      const cell = cells[index];
      if (cell !== undefined && cell.interval.to > since) states.push(cell.state);
    }
    letters += LOOKS[combinedState(states)].letter;
  }
  return letters;
}

/** Points of the response-time badge: one for half an hour. */
const RESPONSE_POINTS = 48;
const RECENT_MS = 30 * DAY_MS;

/** By their ids in addresses. */
type NamedSubjects = readonly { readonly id: string; readonly subject: BadgeSubject }[];

export interface BadgeSubjects {
  readonly page: BadgeSubject;
  /** Groups that have a component, in the order of the page. */
  readonly groups: NamedSubjects;
  readonly components: NamedSubjects;
}

/** Everything that any badge of the page shows; plain data, to be kept with a release. */
export function badgeSubjects(model: PageModel): BadgeSubjects {
  const days = daysUntil(dayOf(model.asOf, model.settings.timezone), BAR_DAYS);
  const measured = model.components.map(
    (component): Measured => ({
      component,
      uptimes: uptimePeriods(component.timeline, model.asOf),
      cells: barCells(component, days, model),
    }),
  );
  const counted = new Set(countedComponents(model.components));
  const { title, titles } = model.definition;
  const groups = model.groups
    .map((group) => ({ group, members: measured.filter(({ component }) => component.definition.groupId === group.id) }))
    .filter(({ members }) => members.length > 0);
  return {
    page: {
      ...badgeSubject(
        model,
        { name: title, names: titles },
        measured.filter(({ component }) => counted.has(component)),
      ),
      state: model.state,
      isStale: model.isStale,
      ...wantedEvents(model, () => true),
    },
    groups: groups.map(({ group, members }) => ({ id: group.id, subject: badgeSubject(model, group, members) })),
    components: measured.map((one) => ({
      id: one.component.definition.id,
      subject: badgeSubject(model, { ...one.component.definition, name: one.component.name }, [one]),
    })),
  };
}

/** What is counted once for each component, however many subjects it is part of. */
interface Measured extends ComponentDays {
  readonly component: ComponentModel;
  readonly uptimes: Readonly<Record<UptimePeriod, Uptime>>;
}

function badgeSubject(
  model: PageModel,
  { name, names }: { readonly name: string; readonly names?: Translated | undefined },
  members: readonly Measured[],
): BadgeSubject {
  const ids = new Set(members.map(({ component }) => component.definition.id));
  const lastDay = windowOf('24h', model.asOf);
  const samples = members.flatMap(({ component }) => component.responseTimes);
  const figures = responseTimeFigures(samples, lastDay);
  return {
    name,
    ...(names === undefined ? {} : { names }),
    state: combinedState(members.map(({ component }) => component.state)),
    isStale: members.some(({ component }) => component.isStale),
    uptime: uptimeRatios(model, members),
    responseTime: figures ?? upstreamAverage(model, members),
    responseSeries: drawSeries(samples, lastDay),
    days: combinedDays(members, BAR_DAYS),
    ...wantedEvents(model, ({ componentIds }) => componentIds.some((id) => ids.has(id))),
    timezone: model.settings.timezone,
    now: model.asOf,
  };
}

const NO_SERIES: BadgeSubject['responseSeries'] = Array.from({ length: RESPONSE_POINTS }, () => null);

function drawSeries(samples: readonly ResponseTime[], window: Interval): BadgeSubject['responseSeries'] {
  if (samples.length === 0) return NO_SERIES;
  return bucketed(samples, window, RESPONSE_POINTS).map(({ figures }) => figures?.averageMs ?? null);
}

function upstreamAverage({ asOf }: PageModel, members: readonly Measured[]): BadgeSubject['responseTime'] {
  const averages = members.flatMap(({ component }) => upstreamResponseMs(component, asOf) ?? []);
  if (averages.length === 0) return null;
  return { averageMs: averages.reduce((sum, ms) => sum + ms, 0) / averages.length, p95Ms: null };
}

function uptimeRatios({ settings }: PageModel, members: readonly Measured[]): BadgeSubject['uptime'] {
  const ratioOf = (period: UptimePeriod): number | null =>
    settings.showUptime ? combinedUptime(members.map(({ uptimes }) => uptimes[period])).ratio : null;
  const periods = Object.keys(UPTIME_PERIODS) as UptimePeriod[];
  return Object.fromEntries(periods.map((period) => [period, ratioOf(period)])) as BadgeSubject['uptime'];
}

type Events = Pick<BadgeSubject, 'openIncidents' | 'incidents30d' | 'lastIncidentEndedAt' | 'nextMaintenanceAt'>;

function wantedEvents(model: PageModel, isWanted: (event: PageIncident | PageMaintenance) => boolean): Events {
  const { asOf } = model;
  const incidents = model.incidents.filter(isWanted);
  const ended = incidents.flatMap(({ endedAt }) => (endedAt !== null && endedAt <= asOf ? [endedAt] : []));
  const coming = model.maintenances
    .filter(isWanted)
    .flatMap(({ windows }) => windows.flatMap(({ from }) => (from > asOf ? [from] : [])));
  return {
    openIncidents: incidents.filter((incident) => isOpen(incident)).length,
    incidents30d: incidents.filter(({ startedAt }) => startedAt > asOf - RECENT_MS && startedAt <= asOf).length,
    lastIncidentEndedAt: extreme(ended, Math.max),
    nextMaintenanceAt: extreme(coming, Math.min),
  };
}

function extreme(instants: readonly EpochMs[], choose: (...values: number[]) => number): EpochMs | null {
  return instants.length === 0 ? null : toEpochMs(instants.reduce((a, b) => toEpochMs(choose(a, b))));
}
