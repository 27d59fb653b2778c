/** The time line of a component, and its state, from everything that is known of it. */

import {
  type ComponentDefinition,
  DAY_MS,
  declaredSpans,
  type EpochMs,
  fallsOf,
  firstKnownAt,
  type Incident,
  type Interval,
  lastRunFrom,
  type MonitorId,
  type MonitorObservation,
  type MonitorPast,
  type PageMaintenance,
  type PageSettings,
  reportedSpans,
  type Sightings,
  type SourceFreshness,
  type Span,
  type TimelineSpan,
  timelineOf,
  toEpochMs,
  upstreamOf,
} from '../../model/index.ts';

/** What the lines of a page's components are laid from. */
export interface LineInputs {
  /** Of the page's definition. */
  readonly pageId: string;
  readonly settings: PageSettings;
  readonly monitors: ReadonlyMap<MonitorId, MonitorObservation>;
  readonly pasts: ReadonlyMap<MonitorId, MonitorPast>;
  readonly sources: readonly SourceFreshness[];
  /** Those on this page, as they are known at `asOf`, by the ids of the components that they are about. */
  readonly about: ReadonlyMap<string, readonly Incident[]>;
  readonly maintenances: readonly PageMaintenance[];
  /** When components were first defined, by their id; `asOf` where that is not known. */
  readonly firstSeenAt: ReadonlyMap<string, EpochMs>;
  readonly asOf: EpochMs;
}

export type LaidComponent = ReturnType<typeof layComponent>;

export function layComponent(definition: ComponentDefinition, inputs: LineInputs) {
  const { settings, monitors, pasts, asOf } = inputs;
  const monitor = definition.monitor === null ? undefined : monitors.get(definition.monitor);
  const past = definition.monitor === null ? undefined : pasts.get(definition.monitor);
  const sightings = listSightings(definition, past, inputs);
  const timeline = drawLine(definition, { past, sightings }, inputs);
  const firstSeenAt = seenFrom(definition, inputs);
  const plainName = definition.name ?? monitor?.name ?? definition.id;
  return {
    component: {
      definition,
      name: plainName,
      plainName,
      description: definition.description ?? (definition.showsDetails === true ? (monitor?.description ?? null) : null),
      target: settings.showTargets ? (monitor?.target ?? null) : null,
      state: timeline.at(-1)?.state ?? 'unknown',
      since: lastRunFrom(timeline),
      isStale: isStale(definition, inputs),
      timeline,
      knownSince: toEpochMs(Math.min(firstSeenAt, firstKnownAt(timeline) ?? asOf, asOf)),
      responseTimes: past?.responseTimes ?? [],
      upstreamUptime: past?.uptime ?? null,
    },
    // When it went down, by what monitors saw.
    falls: definition.monitor === null ? [] : fallsOf(sightings, asOf),
  };
}

/** What monitors and their upstreams saw of it, and when that was to be expected. */
function listSightings(
  definition: ComponentDefinition,
  past: MonitorPast | undefined,
  { monitors, sources, about, maintenances, asOf }: LineInputs,
): Sightings {
  const isListed = definition.monitor !== null && monitors.has(definition.monitor);
  const source = isListed ? findSource(definition, sources) : undefined;
  return {
    observed: heldUntil(past?.observed ?? [], { source, until: after(asOf) }),
    outages: (about.get(definition.id) ?? [])
      .filter(({ isOutage }) => isOutage)
      .map(({ startedAt, endedAt }): Interval => ({ from: startedAt, to: endedAt ?? after(asOf) })),
    maintenances: maintenances
      .filter(({ componentIds, covers }) => covers !== false && componentIds.includes(definition.id))
      .flatMap(({ windows }) => windows),
  };
}

function drawLine(
  definition: ComponentDefinition,
  { past, sightings }: { readonly past: MonitorPast | undefined; readonly sightings: Sightings },
  inputs: LineInputs,
): readonly TimelineSpan[] {
  const { pageId, settings, about, asOf } = inputs;
  const { observed, outages } = sightings;
  const reported = reportedSpans(
    { observed, reported: past?.reported ?? [], reportedDays: past?.reportedDays ?? [] },
    asOf,
  );
  const declared = (about.get(definition.id) ?? [])
    .filter(({ isOutage }) => !isOutage)
    .flatMap((incident) => declaredSpans(incident, { id: `${pageId}/${definition.id}` }, after(asOf)));
  const watched = definition.monitor === null ? watchedIntervals(definition, inputs) : [];
  const known = [...observed.slice(0, 1), ...reported.slice(0, 1), ...outages, ...declared, ...watched];
  // A window may be entered afterwards, for a day before anything else is known.
  const first = [...known, ...sightings.maintenances].reduce<number>(
    (earliest, { from }) => Math.min(earliest, from),
    asOf,
  );
  const from = toEpochMs(Math.max(asOf - settings.historyDays * DAY_MS, first));
  return timelineOf({ ...sightings, reported, declared, watched }, { from, to: after(asOf) });
}

/** A time line includes the instant that it is laid to, so that what begins then is seen. */
function after(asOf: EpochMs): EpochMs {
  return toEpochMs(asOf + 1);
}

/** People would have said if something was wrong, from the definition of a component to the last word from upstreams. */
function watchedIntervals(definition: ComponentDefinition, inputs: LineInputs): Interval[] {
  const { sources, asOf } = inputs;
  const silent = sources.filter(({ isIncidentsStale }) => isIncidentsStale);
  const to = silent.reduce<number>((last, { incidentsAt }) => Math.min(last, incidentsAt ?? 0), after(asOf));
  return [{ from: seenFrom(definition, inputs), to: toEpochMs(to) }];
}

/** Not later than now, though it was recorded before the clock was set back. */
function seenFrom({ id }: ComponentDefinition, { firstSeenAt, asOf }: LineInputs): EpochMs {
  return toEpochMs(Math.min(firstSeenAt.get(id) ?? asOf, asOf));
}

function isStale(definition: ComponentDefinition, { sources }: LineInputs): boolean {
  return definition.monitor === null
    ? sources.some(({ isIncidentsStale }) => isIncidentsStale)
    : findSource(definition, sources)?.isMonitorsStale !== false;
}

function findSource({ monitor }: ComponentDefinition, sources: readonly SourceFreshness[]) {
  return monitor === null ? undefined : sources.find(({ upstreamId }) => upstreamId === upstreamOf(monitor));
}

/**
 * A state heard in time, of a monitor that is listed still, holds until the next answer is due: without this, every page
 * would end in a sliver of unknown.
 */
function heldUntil(
  observed: readonly Span[],
  { source, until }: { readonly source: SourceFreshness | undefined; readonly until: EpochMs },
): readonly Span[] {
  const last = observed.at(-1);
  if (last === undefined || source === undefined || source.isMonitorsStale || source.monitorsAt === null)
    return observed;
  if (last.to < source.monitorsAt || last.to >= until) return observed;
  return [...observed.slice(0, -1), { ...last, to: until }];
}
