/**
 * The state of several components as one, and since when it is that; when a page and its incidents last changed.
 */

import {
  type ComponentDefinition,
  type ComponentModel,
  combinedState,
  type EpochMs,
  fillGaps,
  type Interval,
  isOverStatus,
  later,
  type PageIncident,
  type PageModel,
  type State,
  type TimelineSpan,
  toEpochMs,
} from '../../model/index.ts';
import type { Words } from '../words/index.ts';

// When what a page says last changed. Unlike the age of its data this stands still while nothing happens, so files
// that state it need no rewriting.

/**
 * The latest change of a state, an incident, a maintenance or the freshness of a source that is not after `asOf`; when
 * the page was first defined, where nothing changed since.
 */
export function lastChangeAt(model: PageModel): EpochMs {
  const { asOf } = model;
  const instants = [
    ...model.components.map(({ since }) => since),
    ...model.incidents.map((incident) => incidentChangedAt(incident, asOf)),
    ...model.maintenances.map(({ changedAt }) => changedAt),
    ...model.announcements.map(({ from }) => from),
    ...model.sources.map(({ isMonitorsStale, monitorsAt, intervalMs }) =>
      isMonitorsStale && monitorsAt !== null ? toEpochMs(monitorsAt + 2 * intervalMs) : null,
    ),
  ];
  return instants.reduce<EpochMs>(
    (latest, at) => (at !== null && at <= asOf ? later(latest, at) : latest),
    model.knownSince,
  );
}

/** The components whose state is part of the page's; all of them where none is. */
export function countedComponents<T extends { readonly definition: Pick<ComponentDefinition, 'counts'> }>(
  components: readonly T[],
): readonly T[] {
  const counted = components.filter(({ definition }) => definition.counts !== false);
  return counted.length === 0 ? components : counted;
}

/** How the figures of these components come about, a sentence each; none where uptime is not shown. */
export function countedTexts(
  { showUptime }: Pick<PageModel['settings'], 'showUptime'>,
  components: readonly { readonly definition: Pick<ComponentDefinition, 'monitor'> }[],
  words: Words,
): readonly string[] {
  if (!showUptime) return [];
  const isReported = components.some(({ definition }) => definition.monitor === null);
  return isReported ? [words.countedUptime, words.countedReported] : [words.countedUptime];
}

/** The combined state now, and when the components together came into it; null: nothing was known before. */
export function combinedPresent(components: readonly ComponentModel[]): {
  readonly state: State;
  readonly since: EpochMs | null;
} {
  const state = combinedState(components.map((component) => component.state));
  return {
    state,
    since: stateBegan(
      components.map(({ timeline }) => fillGaps(timeline)),
      state,
    ),
  };
}

/** Walks back over all time lines at once, from one change to the one before; what was not known by then is left out. */
function stateBegan(timelines: readonly (readonly TimelineSpan[])[], state: State): EpochMs | null {
  const at = timelines.map(({ length }) => length - 1);
  let since: EpochMs | null = null;
  for (;;) {
    const known = timelines.flatMap((timeline, index) => {
      const place = at[index] ?? -1;
      const span = timeline[place];
      return span === undefined || (place === 0 && span.provenance === 'none') ? [] : [{ index, span }];
    });
    const [first, ...others] = known;
    if (first === undefined || combinedState(known.map(({ span }) => span.state)) !== state) return since;
    since = others.reduce((latest, { span }) => later(latest, span.from), first.span.from);
    for (const { index, span } of known) if (span.from === since) at[index] = (at[index] ?? 0) - 1;
  }
}

// When an incident last changed, and whether it goes on.

/** Whether an incident goes on: by the status that it is told with, so that figures counted to an earlier instant reopen none. */
export function isOpen({ status }: Pick<PageIncident, 'status'>): boolean {
  return !isOverStatus(status);
}

/** Whether something that lasts from `from` to `to` (null: still) is part of a window; what begins in it is. */
export function touches(window: Interval, from: EpochMs, to: EpochMs | null): boolean {
  return from < window.to && (to === null || to > window.from || from >= window.from);
}

/** The latest instant in an incident's record that is not after `asOf`; its start when there is none. */
export function incidentChangedAt({ startedAt, endedAt, updates }: PageIncident, asOf: EpochMs): EpochMs {
  return [endedAt ?? startedAt, ...updates.map(({ at }) => at)].reduce(
    (latest, at) => (at > latest && at <= asOf ? at : latest),
    startedAt,
  );
}

/**
 * The latest instant not after `asOf` at which any of these incidents changed, or any of these windows began. What is over
 * and what goes on is the same as of either instant; 0 where there is neither.
 */
export function settledAt(
  asOf: EpochMs,
  incidents: readonly PageIncident[],
  windows: readonly Interval[] = [],
): EpochMs {
  const instants = [
    ...incidents.flatMap(({ startedAt, endedAt, updates }) => [startedAt, endedAt, ...updates.map(({ at }) => at)]),
    ...windows.map(({ from }) => from),
  ];
  return instants.reduce<EpochMs>((last, at) => (at !== null && at <= asOf ? later(last, at) : last), toEpochMs(0));
}
