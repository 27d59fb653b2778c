/**
 * A page's model as it was at the last beat. On a page of fifty components somebody has news every few minutes; what
 * only grows older meanwhile is computed to the last beat and stays as it is until the next, so that one change costs
 * one page and not fifty.
 */

import { type ComponentModel, cutTimeline, type EpochMs, type PageModel, toEpochMs } from '../model/index.ts';
import { incidentChangedAt, maintenanceChangedAt } from './event-times.ts';
import { stateSince } from './last-change.ts';

/** The page's last beat that is not after the model's `asOf`. */
export function lastBeat({ asOf, definition }: PageModel, beatMs: number): EpochMs {
  return beatBefore(asOf, definition.slug, beatMs);
}

/** The last beat of a page that is not after `at`. Each page has its own, so that many do not come due at one instant. */
export function beatBefore(at: EpochMs, slug: string, beatMs: number): EpochMs {
  return toEpochMs(at - ((at - phaseOf(slug, beatMs)) % beatMs));
}

/** Where in the interval the page's beats are: the same in every process, and as good as random over pages (FNV-1a). */
function phaseOf(slug: string, beatMs: number): number {
  let mixed = 0x811c9dc5;
  for (const character of slug) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return mixed % beatMs;
}

/** The same model with figures, time lines and freshness up to `beat`. States stay those of the present. */
export function modelAt(model: PageModel, beat: EpochMs): PageModel {
  if (beat === model.asOf) return model;
  const earliest = (at: EpochMs): EpochMs => toEpochMs(Math.min(at, beat));
  return {
    ...model,
    asOf: beat,
    staleAfter: toEpochMs(model.staleAfter - (model.asOf - beat)),
    dataFrom: model.dataFrom === null ? null : earliest(model.dataFrom),
    sources: model.sources.map((source) => ({
      ...source,
      monitorsAt: source.monitorsAt === null ? null : earliest(source.monitorsAt),
      incidentsAt: source.incidentsAt === null ? null : earliest(source.incidentsAt),
    })),
    components: model.components.map((component) => componentAt(component, beat)),
  };
}

function componentAt(component: ComponentModel, beat: EpochMs): ComponentModel {
  const { timeline, responseTimes } = component;
  return {
    ...component,
    timeline: cutTimeline(timeline, { from: timeline[0]?.from ?? beat, to: beat }),
    responseTimes: responseTimes.filter(({ at }) => at < beat),
  };
}

/** Ids of the components that have news since `beat`: another state, or word of an incident or a maintenance of theirs. */
export function componentsWithNews(model: PageModel, beat: EpochMs): ReadonlySet<string> {
  const { components, incidents, maintenances, asOf } = model;
  return new Set([
    ...components
      .filter((component) => component.isStale || stateSince(component) > beat)
      .map(({ definition }) => definition.id),
    ...incidents.filter((one) => incidentChangedAt(one, asOf) > beat).flatMap(({ componentIds }) => componentIds),
    ...maintenances.filter((one) => maintenanceChangedAt(one, asOf) > beat).flatMap(({ componentIds }) => componentIds),
  ]);
}
