/** The documents of the Statuspage v2 shape, field for field: every array is always there, every absent fact is null. */

import { isWorse, type PageModel, STATES_BY_IMPACT, type State } from '../../model/index.ts';
import { isOpen } from '../incident/events.ts';
import { countedComponents } from '../model/page-state.ts';

// Our seven states in the five words of Statuspage, which has none for "not known": never green, never red.

const COMPONENT_STATUS = {
  operational: 'operational',
  degraded: 'degraded_performance',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
  maintenance: 'under_maintenance',
  paused: 'under_maintenance',
  unknown: 'degraded_performance',
} as const satisfies Record<State, string>;

/** The Statuspage word for a component's state. */
export function componentStatus(state: State) {
  return COMPONENT_STATUS[state];
}

const PAGE_STATUS: Readonly<Record<State, V2Status>> = {
  operational: { indicator: 'none', description: 'All Systems Operational' },
  degraded: { indicator: 'minor', description: 'Partially Degraded Service' },
  partial_outage: { indicator: 'major', description: 'Partial System Outage' },
  major_outage: { indicator: 'critical', description: 'Major Service Outage' },
  maintenance: { indicator: 'maintenance', description: 'Service Under Maintenance' },
  paused: { indicator: 'maintenance', description: 'Checks Paused' },
  unknown: { indicator: 'minor', description: 'Status Unknown' },
};

/**
 * The page's status. Its indicator is never `none` while data is stale, a component is not operational, or an incident
 * with an impact is open, whatever the blended state; the description says which.
 */
export function pageStatus(model: PageModel): V2Status {
  const blended = PAGE_STATUS[model.state];
  const status = blended.indicator === 'none' ? notQuiteOperational(model, blended) : blended;
  if (!model.isStale) return status;
  const indicator = status.indicator === 'none' ? 'minor' : status.indicator;
  return { indicator, description: `${status.description} (data may be out of date)` };
}

function notQuiteOperational(model: PageModel, operational: V2Status): V2Status {
  const counted = countedComponents(model.components);
  const worst = counted.reduce<State>(
    (state, component) => (isWorse(component.state, state) ? component.state : state),
    STATES_BY_IMPACT[STATES_BY_IMPACT.length - 1] ?? 'paused',
  );
  if (isWorse(worst, 'operational')) return PAGE_STATUS[worst];
  const ids = new Set(counted.map(({ definition }) => definition.id));
  const open = model.incidents.find(
    ({ componentIds, ...incident }) =>
      isOpen(incident) &&
      incident.impact !== 'none' &&
      (componentIds.length === 0 || componentIds.some((id) => ids.has(id))),
  );
  return open === undefined ? operational : { indicator: 'minor', description: 'Operational, With an Open Incident' };
}

interface V2Status {
  readonly indicator: 'none' | 'minor' | 'major' | 'critical' | 'maintenance';
  readonly description: string;
}
