/** The documents of the Statuspage v2 shape, field for field: every array is always there, every absent fact is null. */

import { isWorse, type PageModel, STATES_BY_IMPACT, type State } from '../../model/index.ts';
import { isOpen } from '../incident/events.ts';
import { countedComponents } from '../model/page-state.ts';

/** Our seven states in the five words of Statuspage, which has none for "not known": never green, never red. */

const COMPONENT_STATUS: Readonly<Record<State, V2ComponentStatus>> = {
  operational: 'operational',
  degraded: 'degraded_performance',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
  maintenance: 'under_maintenance',
  paused: 'under_maintenance',
  unknown: 'degraded_performance',
};

/** The Statuspage word for a component's state. */
export function componentStatus(state: State): V2ComponentStatus {
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
  return { indicator: atLeastMinor(status.indicator), description: `${status.description} (data may be out of date)` };
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

function atLeastMinor(indicator: V2Indicator): V2Indicator {
  return indicator === 'none' ? 'minor' : indicator;
}

type V2ComponentStatus =
  | 'operational'
  | 'degraded_performance'
  | 'partial_outage'
  | 'major_outage'
  | 'under_maintenance';
type V2Indicator = 'none' | 'minor' | 'major' | 'critical' | 'maintenance';
type V2IncidentStatus = 'investigating' | 'identified' | 'monitoring' | 'resolved' | 'postmortem';
type V2MaintenanceStatus = 'scheduled' | 'in_progress' | 'verifying' | 'completed';
type V2Impact = 'none' | 'minor' | 'major' | 'critical' | 'maintenance';

export interface V2Page {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly time_zone: string;
  readonly updated_at: string;
}

interface V2Status {
  readonly indicator: V2Indicator;
  readonly description: string;
}

export interface V2Component {
  readonly id: string;
  readonly name: string;
  readonly status: V2ComponentStatus;
  readonly created_at: string;
  readonly updated_at: string;
  /** From 1, among the components of its group or, outside groups, among groups and components together. */
  readonly position: number;
  readonly description: string | null;
  readonly showcase: boolean;
  /** `YYYY-MM-DD` in the page's zone. */
  readonly start_date: string | null;
  readonly group_id: string | null;
  readonly page_id: string;
  readonly group: boolean;
  readonly only_show_if_degraded: boolean;
  /** Ids of its components; on groups only, as in the original. */
  readonly components?: readonly string[];
}

export interface V2AffectedComponent {
  readonly code: string;
  /** `Group - Name`, or the name alone. */
  readonly name: string;
  readonly old_status: V2ComponentStatus;
  readonly new_status: V2ComponentStatus;
}

export interface V2Update<Status extends string> {
  readonly id: string;
  readonly status: Status;
  readonly body: string;
  readonly incident_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly display_at: string;
  readonly affected_components: readonly V2AffectedComponent[] | null;
  readonly deliver_notifications: boolean;
  readonly custom_tweet: string | null;
  readonly tweet_id: string | null;
}

interface V2Event<Status extends string> {
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  readonly created_at: string;
  readonly updated_at: string;
  readonly monitoring_at: string | null;
  readonly resolved_at: string | null;
  readonly impact: V2Impact;
  readonly shortlink: string;
  readonly started_at: string;
  readonly page_id: string;
  /** Newest first. */
  readonly incident_updates: readonly V2Update<Status>[];
  readonly components: readonly V2Component[];
  readonly reminder_intervals: string | null;
}

export type V2Incident = V2Event<V2IncidentStatus>;

export interface V2Maintenance extends V2Event<V2MaintenanceStatus> {
  readonly scheduled_for: string;
  readonly scheduled_until: string;
}

export interface V2Summary {
  readonly page: V2Page;
  readonly components: readonly V2Component[];
  readonly incidents: readonly V2Incident[];
  readonly scheduled_maintenances: readonly V2Maintenance[];
  readonly status: V2Status;
}

export type V2StatusDocument = Pick<V2Summary, 'page' | 'status'>;
export type V2Components = Pick<V2Summary, 'page' | 'components'>;
export type V2Incidents = Pick<V2Summary, 'page' | 'incidents'>;
export type V2Maintenances = Pick<V2Summary, 'page' | 'scheduled_maintenances'>;
