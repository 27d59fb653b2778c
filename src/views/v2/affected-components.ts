/** Which components an incident moved from which state to which, as far as the record shows it. */

import {
  type ComponentModel,
  type EpochMs,
  type IncidentStatus,
  isOverStatus,
  type PageIncident,
  type PageModel,
  type State,
} from '../../model/index.ts';
import { type V2ComponentSet, v2ComponentId } from './components.ts';
import type { V2AffectedComponent } from './types.ts';
import type { StatusUpdate } from './updates.ts';
import { componentStatus } from './words.ts';

/**
 * For each update of an incident, by its index: its components with their state before and after; null when it names none.
 *
 * After an update a component is in the state the incident says it is in while it is open, or, where it does not say,
 * in that of its time line. Before the first update it is as its time line has it just before the start, and after
 * the last one of an incident that is over as its time line has it from then on.
 */
export function affectedComponents(
  { model, components }: { readonly model: PageModel; readonly components: V2ComponentSet },
  incident: PageIncident,
  updates: readonly StatusUpdate<IncidentStatus>[],
): (index: number) => V2AffectedComponent[] | null {
  const affected = incident.componentIds.flatMap((id) =>
    model.components.filter(({ definition }) => definition.id === id),
  );
  if (affected.length === 0) return () => null;
  const states = affected.map((component) => statesAlong(component, incident, updates));
  return (index) =>
    affected.map((component, nth) => ({
      code: v2ComponentId(model, component.definition.id),
      name: components.fullNames.get(component.definition.id) ?? component.name,
      old_status: componentStatus(states[nth]?.[index] ?? 'unknown'),
      new_status: componentStatus(states[nth]?.[index + 1] ?? 'unknown'),
    }));
}

/** The state before the first update, then the one after each. */
function statesAlong(
  component: ComponentModel,
  incident: PageIncident,
  updates: readonly StatusUpdate<IncidentStatus>[],
): State[] {
  const said =
    incident.components.find(({ id }) => id.slice(id.lastIndexOf('/') + 1) === component.definition.id)?.state ??
    incident.affectedState;
  const start = Math.min(incident.startedAt, updates[0]?.at ?? incident.startedAt);
  const after = updates.map(({ at, status }) => {
    const isOver = (incident.endedAt !== null && at >= incident.endedAt) || isOverStatus(status);
    return isOver || said === null ? stateAt(component, at) : said;
  });
  return [stateAt(component, start - 1), ...after];
}

/** The state of a component's time line at an instant; what lies before or after it is `unknown`. */
function stateAt({ timeline, state }: ComponentModel, at: EpochMs | number): State {
  let low = 0;
  let high = timeline.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((timeline[middle]?.to ?? at) <= at) low = middle + 1;
    else high = middle;
  }
  const span = timeline[low];
  if (span !== undefined) return span.from <= at ? span.state : 'unknown';
  return at >= (timeline.at(-1)?.to ?? at) ? state : 'unknown';
}
