/** Which components an incident moved from which state to which, as far as the record shows it. */

import {
  type ComponentModel,
  type EpochMs,
  type IncidentStatus,
  type PageIncident,
  type PageModel,
  type PageUpdate,
  type State,
  stateAt,
  toEpochMs,
} from '../../model/index.ts';
import { type V2ComponentSet, v2ComponentId } from './components.ts';
import type { V2AffectedComponent } from './types.ts';
import { componentStatus } from './words.ts';

/**
 * For each update of an incident, by its index: its components with their state before and after, as their time lines have
 * it; null when it names none. Before the first update is just before the incident began.
 */
export function affectedComponents(
  { model, components }: { readonly model: PageModel; readonly components: V2ComponentSet },
  { componentIds, startedAt, updates }: PageIncident,
): (index: number) => V2AffectedComponent[] | null {
  const affected = componentIds.flatMap((id) => model.components.filter(({ definition }) => definition.id === id));
  if (affected.length === 0) return () => null;
  const states = affected.map((component) => statesAlong(component, startedAt, updates));
  return (index) =>
    affected.map((component, nth) => ({
      code: v2ComponentId(model, component.definition.id),
      name: components.fullNames.get(component.definition.id) ?? component.name,
      old_status: componentStatus(states[nth]?.[index] ?? 'unknown'),
      new_status: componentStatus(states[nth]?.[index + 1] ?? 'unknown'),
    }));
}

/** The state before the first update, then the one after each, by the component's time line. */
function statesAlong(
  { timeline }: ComponentModel,
  startedAt: EpochMs,
  updates: readonly PageUpdate<IncidentStatus>[],
): State[] {
  const before = toEpochMs(Math.min(startedAt, updates[0]?.at ?? startedAt) - 1);
  return [before, ...updates.map(({ at }) => at)].map((at) => stateAt(timeline, at));
}
