/** Incidents as they are known at an instant, and what of a page they are about. */

import {
  type EpochMs,
  earlier,
  type Incident,
  isOverStatus,
  later,
  type MonitorId,
  type PageDefinition,
} from '../../model/index.ts';

/** An incident, and when it was first seen here; absent: before anything else. */
export interface SeenIncident extends Incident {
  readonly firstSeenAt?: EpochMs;
}

/**
 * What is known of an incident at `asOf`: nothing is said later, and it is over when its status says so or its end has
 * come. One that is over has an end that is not in the future.
 */
export function incidentAt(incident: SeenIncident, asOf: EpochMs): SeenIncident {
  const updates = incident.updates.every(({ at }) => at <= asOf)
    ? incident.updates
    : incident.updates.filter(({ at }) => at <= asOf);
  const { startedAt, endedAt } = incident;
  const hasEnded = endedAt !== null && endedAt <= asOf;
  if (!hasEnded && !isOverStatus(incident.status)) return { ...incident, updates };
  const lastSaidAt = later(startedAt, updates.at(-1)?.at ?? startedAt);
  return {
    ...incident,
    updates,
    status: isOverStatus(incident.status) ? incident.status : 'resolved',
    endedAt: later(startedAt, earlier(endedAt ?? lastSaidAt, asOf)),
  };
}

/** Where the components of a page are in its definition: incidents name them, or their monitors. */
function indexComponents({ id, components }: PageDefinition) {
  const byName = new Map<string, number[]>();
  const byMonitor = new Map<MonitorId, number[]>();
  for (const [place, component] of components.entries()) {
    byName.getOrInsertComputed(`${id}/${component.id}`, () => []).push(place);
    if (component.monitor !== null) byMonitor.getOrInsertComputed(component.monitor, () => []).push(place);
  }
  return { byName, byMonitor };
}

/** Of thousands of incidents, each is matched with the same components several times. */
const indexes = new WeakMap<PageDefinition, ReturnType<typeof indexComponents>>();

/** Ids of the page's components that an incident or a maintenance is about, in the order of the definition. */
export function matchComponents(
  definition: PageDefinition,
  about: { readonly monitors: readonly MonitorId[]; readonly components: Incident['components'] },
): readonly string[] {
  const { byName, byMonitor } = indexes.getOrInsertComputed(definition, indexComponents);
  const places = new Set([
    ...about.components.flatMap(({ id }) => byName.get(id) ?? []),
    ...about.monitors.flatMap((monitor) => byMonitor.get(monitor) ?? []),
  ]);
  return [...places].sort((a, b) => a - b).flatMap((place) => definition.components[place]?.id ?? []);
}

/** Whether something that names its pages, or none and then shows wherever a component of it does, is on a page. */
export function isOnPage(
  { id, slug }: PageDefinition,
  pages: readonly string[] | null,
  componentIds: readonly string[],
): boolean {
  return pages === null ? componentIds.length > 0 : pages.includes(id) || pages.includes(slug);
}
