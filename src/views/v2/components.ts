/** The documents of the Statuspage v2 shape, field for field: every array is always there, every absent fact is null. */

import {
  type ComponentModel,
  combinedState,
  dayOf,
  type EpochMs,
  isWorse,
  type PageModel,
  STATES_BY_IMPACT,
  type State,
  toEpochMs,
  toIso,
} from '../../model/index.ts';
import { countedComponents, incidentChangedAt, isOpen } from '../model/page-state.ts';
import { listSections } from '../model/sections.ts';
import { shortId } from '../text/addresses.ts';

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

/** The page's id in the v2 shape. */
export function v2PageId(model: PageModel): string {
  return shortId('page', model.definition.id);
}

/** A component's id in the v2 shape, from its id in addresses. */
export function v2ComponentId(model: PageModel, id: string): string {
  return shortId('component', model.definition.id, id);
}

/** A group's id in the v2 shape, from its id in addresses. */
export function v2GroupId(model: PageModel, id: string): string {
  return shortId('group', model.definition.id, id);
}

/** The components of one page, made once for all documents. */
export type V2ComponentSet = ReturnType<typeof v2ComponentSet>;

/** All components of the page and the groups that have any. */
export function v2ComponentSet(model: PageModel) {
  const changes = listChanges(model);
  /** Groups and components in the order of the page, each group before its components; empty groups are left out. */
  const all: V2Component[] = [];
  /** By the component's id in addresses; no groups. */
  const byId = new Map<string, V2Component>();
  /** `Group - Name`, or the name alone, by the component's id in addresses. */
  const fullNames = new Map<string, string>();
  let topLevel = 0;
  for (const { group, members } of listSections(model)) {
    const groupId = group && v2GroupId(model, group.id);
    if (group !== null)
      all.push({
        ...v2Entry(model, { id: v2GroupId(model, group.id), name: group.name, position: ++topLevel }, members, changes),
        group: true,
        components: members.map(({ definition }) => v2ComponentId(model, definition.id)),
      });
    for (const [index, member] of members.entries()) {
      const { definition, plainName: name, description } = member;
      const position = group === null ? ++topLevel : index + 1;
      const own = { id: v2ComponentId(model, definition.id), name, position };
      const made = { ...v2Entry(model, own, [member], changes), description, group_id: groupId };
      all.push(made);
      byId.set(definition.id, made);
      fullNames.set(definition.id, group === null ? name : `${group.name} - ${name}`);
    }
  }
  return { all, byId, fullNames };
}

type Changes = ReadonlyMap<string, EpochMs>;

/** When each component came into its state or was last written about in an open incident, by its id. */
function listChanges(model: PageModel): Changes {
  const changes = new Map(
    model.components.map(({ definition, since, knownSince }) => [definition.id, since ?? knownSince]),
  );
  for (const incident of model.incidents) {
    if (!isOpen(incident)) continue;
    const at = incidentChangedAt(incident, model.asOf);
    for (const id of incident.componentIds) if (at > (changes.get(id) ?? at)) changes.set(id, at);
  }
  return changes;
}

/** A component or a group; `components`: ids of those of a group, absent on components as in the original. */
export type V2Component = ReturnType<typeof v2Entry> & { readonly components?: readonly string[] };

/** @param members  the component itself, or those of a group */
function v2Entry(
  model: PageModel,
  { id, name, position }: { readonly id: string; readonly name: string; readonly position: number },
  members: readonly ComponentModel[],
  changes: Changes,
) {
  const earliest = toEpochMs(Math.min(...members.map(({ knownSince }) => knownSince)));
  const changed = members.map(({ definition, knownSince }) => changes.get(definition.id) ?? knownSince);
  return {
    id,
    name,
    status: componentStatus(combinedState(members.map(({ state }) => state))),
    created_at: toIso(earliest),
    updated_at: toIso(toEpochMs(Math.max(...changed))),
    // In the page's zone; null on a group that is empty.
    start_date: dayOf(earliest, model.settings.timezone) as string | null,
    // From 1, among the components of its group or, outside groups, among groups and components together.
    position,
    description: null as string | null,
    showcase: true,
    group_id: null as string | null,
    page_id: v2PageId(model),
    group: false,
    only_show_if_degraded: false,
  };
}
