/**
 * The state of several components as one, and since when it is that; and the figures that upstreams count themselves.
 */

import {
  type ComponentDefinition,
  type ComponentModel,
  combinedState,
  type EpochMs,
  fillGaps,
  later,
  type PageModel,
  responseTimeFigures,
  type State,
  type TimelineSpan,
  toEpochMs,
  windowOf,
} from '../../model/index.ts';
import { incidentChangedAt } from '../incident/events.ts';
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

/** Its uptime, 0 to 1; null: it gives neither a figure nor counts of checks. */
export function upstreamRatio({ upstreamUptime }: Pick<ComponentModel, 'upstreamUptime'>): number | null {
  if (upstreamUptime === null) return null;
  const { uptimeRatio, checksTotal, checksUp } = upstreamUptime;
  if (uptimeRatio !== null) return uptimeRatio;
  return checksTotal === null || checksUp === null || checksTotal === 0 ? null : checksUp / checksTotal;
}

/** Its average response time in ms, where it gives no samples of the last day; null: none, or it is not heard from. */
export function upstreamResponseMs(
  { isStale, responseTimes, upstreamUptime }: ComponentModel,
  asOf: EpochMs,
): number | null {
  if (isStale || responseTimeFigures(responseTimes, windowOf('24h', asOf)) !== null) return null;
  return upstreamUptime?.responseTimeAverageMs ?? null;
}
