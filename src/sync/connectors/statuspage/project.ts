/** What the components of a v2 page mean: each that is no group is a monitor. */

import type { MonitorObservation, Problem } from '../../../model/observation.ts';
import { parseItems, projectMonitorLists, unknownMonitor } from '../items.ts';
import { type StateWords, stateFromWord } from '../wire.ts';
import { AlarmSchema, type Component, ComponentSchema, ID_FIELD } from './schema.ts';

export const STATE_WORDS: StateWords = {
  operational: 'operational',
  degraded_performance: 'degraded',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
  // As incident.io writes it.
  full_outage: 'major_outage',
  under_maintenance: 'maintenance',
};

/** Impacts inside which a component may well be operational; any other word may be worse. */
const CALM_IMPACTS: ReadonlySet<unknown> = new Set(['none', 'minor', 'major', 'maintenance']);
const OVER: ReadonlySet<unknown> = new Set(['resolved', 'postmortem']);

interface ComponentsOptions {
  readonly upstreamId: string;
  /** Names (alone, or `Group - Name`) or ids; undefined: all. */
  readonly wanted: readonly string[] | undefined;
  /** The open incidents, as they came. */
  readonly incidents: readonly unknown[];
}

/** The components that are wanted as monitors, sorted by id. Never throws. */
export function projectComponents(
  items: readonly unknown[],
  { upstreamId, wanted, incidents }: ComponentsOptions,
): { monitors: MonitorObservation[]; problems: Problem[] } {
  const listed = parseItems(ComponentSchema, items, 'components').items;
  const groups = new Map(listed.flatMap((one) => (one.group === true ? [[one.id, one.name]] : [])));
  const names = Map.groupBy(
    listed.filter(({ group }) => group !== true),
    ({ name }) => name,
  );
  const fullName = ({ name, group_id: groupId }: Component): string => {
    const group = groupId == null ? undefined : groups.get(groupId);
    return group === undefined ? name : `${group} - ${name}`;
  };
  const doubt = doubtOf(incidents);
  const { monitors, problems } = projectMonitorLists<Component>([
    {
      place: 'components',
      items: items.filter((item) => !isGroup(item)),
      schema: ComponentSchema,
      idField: ID_FIELD,
      project: (component, place) => {
        const { state, problems: words } = stateFromWord(STATE_WORDS, component.status, `${place}.status`);
        const monitor: MonitorObservation = {
          ...unknownMonitor(upstreamId, component.id, 'component'),
          name: (names.get(component.name)?.length ?? 0) > 1 ? fullName(component) : component.name,
          description: component.description,
          state: state === 'operational' && doubt(component.id) ? 'unknown' : state,
          createdAt: component.created_at ?? null,
        };
        return { monitor, problems: words };
      },
      placeholder: (externalId) => unknownMonitor(upstreamId, externalId, 'component'),
    },
  ]);
  if (wanted === undefined) return { monitors, problems };
  const chosen = new Map(
    wanted.map((name) => [
      name,
      listed.filter((one) => one.group !== true && [one.id, one.name, fullName(one)].includes(name)),
    ]),
  );
  const ids = new Set([...chosen.values()].flat().map(({ id }) => `${upstreamId}/${id}`));
  const missing = [...chosen].filter(([, found]) => found.length === 0).map(([name]) => name);
  return {
    // One that cannot be read cannot be told by its name; it is kept, since it may be one of them.
    monitors: monitors.filter(({ id }) => ids.has(id) || !listed.some((one) => `${upstreamId}/${one.id}` === id)),
    problems: [
      ...problems,
      ...missing.map(
        (name): Problem => ({
          kind: 'note',
          place: 'components',
          message: `there is no component named ${JSON.stringify(name.slice(0, 60))}`,
        }),
      ),
    ],
  };
}

function isGroup(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'group' in item && item.group === true;
}

/**
 * Whether the word "operational" of a component is in doubt: an open incident that is critical, or of which that cannot be
 * told, is about it, or names none.
 */
function doubtOf(incidents: readonly unknown[]): (componentId: string) => boolean {
  const named = new Set<string>();
  for (const item of incidents) {
    if (typeof item === 'object' && item !== null) {
      const { status, impact } = item as { readonly status?: unknown; readonly impact?: unknown };
      if (OVER.has(status) || CALM_IMPACTS.has(impact)) continue;
    }
    const about = AlarmSchema.safeParse(item).data?.components ?? [];
    if (about.length === 0) return () => true;
    for (const { id } of about) named.add(id);
  }
  return (componentId) => named.has(componentId);
}
