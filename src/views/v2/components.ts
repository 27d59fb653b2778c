/** Components and groups in the Statuspage v2 shape. */

import {
  type ComponentModel,
  combinedState,
  dayOf,
  type EpochMs,
  type GroupDefinition,
  type PageModel,
  toEpochMs,
  toIso,
} from '../../model/index.ts';
import { incidentChangedAt, isOpen } from '../incident/events.ts';
import { listSections } from '../model/sections.ts';
import { shortId } from '../text/addresses.ts';
import { componentStatus } from './types.ts';

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
export interface V2ComponentSet {
  /** Groups and components in the order of the page, each group before its components; empty groups are left out. */
  readonly all: readonly V2Component[];
  /** By the component's id in addresses; no groups. */
  readonly byId: ReadonlyMap<string, V2Component>;
  /** `Group - Name`, or the name alone, by the component's id in addresses. */
  readonly fullNames: ReadonlyMap<string, string>;
}

/** All components of the page and the groups that have any. */
export function v2ComponentSet(model: PageModel): V2ComponentSet {
  const changes = listChanges(model);
  const all: V2Component[] = [];
  const byId = new Map<string, V2Component>();
  const fullNames = new Map<string, string>();
  let topLevel = 0;
  for (const { group, members } of listSections(model)) {
    if (group !== null) all.push(v2Group(model, { group, members, changes, position: ++topLevel }));
    for (const [index, member] of members.entries()) {
      const position = group === null ? ++topLevel : index + 1;
      const made = v2Component(model, { component: member, group, changes, position });
      all.push(made);
      byId.set(member.definition.id, made);
      fullNames.set(member.definition.id, group === null ? member.plainName : `${group.name} - ${member.plainName}`);
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

interface ComponentParts {
  readonly component: ComponentModel;
  readonly group: GroupDefinition | null;
  readonly changes: Changes;
  readonly position: number;
}

/** A component or a group; `components`: ids of those of a group, absent on components as in the original. */
export type V2Component = ReturnType<typeof v2Component> & { readonly components?: readonly string[] };

function v2Component(model: PageModel, { component, group, changes, position }: ComponentParts) {
  const { definition, plainName: name, state, description } = component;
  return {
    id: v2ComponentId(model, definition.id),
    name,
    status: componentStatus(state),
    ...componentDates(model, [component], changes),
    // From 1, among the components of its group or, outside groups, among groups and components together.
    position,
    description,
    showcase: true,
    group_id: group === null ? null : v2GroupId(model, group.id),
    page_id: v2PageId(model),
    group: false,
    only_show_if_degraded: false,
  };
}

interface GroupParts {
  readonly group: GroupDefinition;
  readonly members: readonly ComponentModel[];
  readonly changes: Changes;
  readonly position: number;
}

function v2Group(model: PageModel, { group, members, changes, position }: GroupParts): V2Component {
  return {
    id: v2GroupId(model, group.id),
    name: group.name,
    status: componentStatus(combinedState(members.map(({ state }) => state))),
    ...componentDates(model, members, changes),
    position,
    description: null,
    showcase: true,
    group_id: null,
    page_id: v2PageId(model),
    group: true,
    only_show_if_degraded: false,
    components: members.map(({ definition }) => v2ComponentId(model, definition.id)),
  };
}

function componentDates({ settings }: PageModel, members: readonly ComponentModel[], changes: Changes) {
  const earliest = toEpochMs(Math.min(...members.map(({ knownSince }) => knownSince)));
  const changed = members.map(({ definition, knownSince }) => changes.get(definition.id) ?? knownSince);
  return {
    created_at: toIso(earliest),
    updated_at: toIso(toEpochMs(Math.max(...changed))),
    // In the page's zone; null on a group that is empty.
    start_date: dayOf(earliest, settings.timezone) as string | null,
  };
}
