/**
 * A page's model as it was at the last heartbeat. On a page of fifty components somebody has news every few minutes; what
 * only grows older meanwhile is computed to the last heartbeat and stays as it is until the next, so that one change costs
 * one page and not fifty.
 */

import {
  type ComponentModel,
  cutTimeline,
  type EpochMs,
  MINUTE_MS,
  type PageModel,
  toEpochMs,
} from '../../model/index.ts';
import { incidentChangedAt } from '../incident/events.ts';

/** Files are drawn anew this often even when nothing happens, so that a reader can tell a live page from a dead one. */
export const HEARTBEAT_MS = 15 * MINUTE_MS;

/** The page's last heartbeat that is not after the model's `asOf`. */
export function lastHeartbeat({ asOf, definition }: PageModel): EpochMs {
  return heartbeatBefore(asOf, definition.slug);
}

/** The last heartbeat of a page that is not after `at`. Each page has its own, so that many do not come due at one instant. */
export function heartbeatBefore(at: EpochMs, slug: string): EpochMs {
  return toEpochMs(at - ((at - beatPhase(slug)) % HEARTBEAT_MS));
}

/** Where in the interval the page's heartbeats are: the same in every process, and as good as random over pages (FNV-1a). */
function beatPhase(slug: string): number {
  let mixed = 0x811c9dc5;
  for (const character of slug) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return mixed % HEARTBEAT_MS;
}

/** The same model with figures, time lines and freshness up to `heartbeat`. States stay those of the present. */
export function modelAt(model: PageModel, heartbeat: EpochMs): PageModel {
  if (heartbeat === model.asOf) return model;
  const earliest = (at: EpochMs): EpochMs => toEpochMs(Math.min(at, heartbeat));
  return {
    ...model,
    asOf: heartbeat,
    staleAfter: toEpochMs(model.staleAfter - (model.asOf - heartbeat)),
    dataFrom: model.dataFrom === null ? null : earliest(model.dataFrom),
    sources: model.sources.map((source) => ({
      ...source,
      monitorsAt: source.monitorsAt === null ? null : earliest(source.monitorsAt),
      incidentsAt: source.incidentsAt === null ? null : earliest(source.incidentsAt),
    })),
    components: model.components.map((component) => componentAt(component, heartbeat)),
  };
}

type Cut = Pick<ComponentModel, 'timeline' | 'responseTimes'>;

/** What was cut last of each line, which a component has in common with itself in other languages. */
const cuts = new WeakMap<
  Cut['timeline'],
  Pick<Cut, 'responseTimes'> & { readonly heartbeat: EpochMs; readonly cut: Cut }
>();

function componentAt(component: ComponentModel, heartbeat: EpochMs): ComponentModel {
  const { timeline, responseTimes } = component;
  const known = cuts.get(timeline);
  if (known?.heartbeat === heartbeat && known.responseTimes === responseTimes) return { ...component, ...known.cut };
  // As in the page's own model, what goes on at that instant is part of the line: it colours the day, whatever it lasted.
  const to = toEpochMs(heartbeat + 1);
  const cut = {
    timeline: cutTimeline(timeline, { from: timeline[0]?.from ?? heartbeat, to }),
    responseTimes: responseTimes.filter(({ at }) => at < heartbeat),
  };
  cuts.set(timeline, { heartbeat, responseTimes, cut });
  return { ...component, ...cut };
}

/** Ids of the components that have news since `heartbeat`: another state, or word of an incident or a maintenance of theirs. */
export function componentsWithNews(model: PageModel, heartbeat: EpochMs): ReadonlySet<string> {
  const { components, incidents, maintenances, asOf } = model;
  return new Set([
    ...components
      .filter(({ isStale, since }) => isStale || (since !== null && since > heartbeat))
      .map(({ definition }) => definition.id),
    ...incidents.filter((one) => incidentChangedAt(one, asOf) > heartbeat).flatMap(({ componentIds }) => componentIds),
    ...maintenances.filter(({ changedAt }) => changedAt > heartbeat).flatMap(({ componentIds }) => componentIds),
  ]);
}
