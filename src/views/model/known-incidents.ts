/** Incidents as they are known at an instant, and what of a page they are about. */

import {
  type EpochMs,
  earlier,
  type Incident,
  isAboutComponent,
  isOverStatus,
  later,
  type MonitorId,
  type PageDefinition,
} from '../../model/index.ts';
import { namedComponent } from './component-line.ts';

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

/** Ids of the page's components that an incident or a maintenance is about, in the order of the definition. */
export function matchComponents(
  { id, components }: PageDefinition,
  about: { readonly monitors: readonly MonitorId[]; readonly components: Incident['components'] },
): readonly string[] {
  return components
    .filter((component) => isAboutComponent(about, namedComponent(id, component)))
    .map((component) => component.id);
}

/** Whether something that names its pages, or none and then shows wherever a component of it does, is on a page. */
export function isOnPage(
  { id, slug }: PageDefinition,
  pages: readonly string[] | null,
  componentIds: readonly string[],
): boolean {
  return pages === null ? componentIds.length > 0 : pages.includes(id) || pages.includes(slug);
}
