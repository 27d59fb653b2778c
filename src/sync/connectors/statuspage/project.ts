/** What a v2 page means: each component that is no group is a monitor; incidents and maintenance carry their updates. */

import {
  INCIDENT_STATUSES,
  type Incident,
  type IncidentImpact,
  type IncidentStatus,
  isOverStatus,
  type Maintenance,
  type MonitorId,
  type MonitorObservation,
  type Problem,
  toMonitorId,
  type Update,
} from '../../../model/observation.ts';
import type { EpochMs } from '../../../model/time.ts';
import { createIncident, createMaintenance } from '../entries.ts';
import { parseItem, parseItems, projectMonitorLists, uniqueById, unknownMonitor } from '../items.ts';
import { type StateWords, stateFromWord, unknownWord } from '../wire.ts';
import * as wire from './schema.ts';
import { AlarmSchema, type Component, ComponentSchema, ID_FIELD } from './schema.ts';

export const STATE_WORDS = {
  operational: 'operational',
  degraded_performance: 'degraded',
  partial_outage: 'partial_outage',
  major_outage: 'major_outage',
  // incident.io's word.
  full_outage: 'major_outage',
  under_maintenance: 'maintenance',
} as const satisfies StateWords;

/** Impacts inside which a component may well be operational; any other word may be worse. */
const CALM_IMPACTS: ReadonlySet<unknown> = new Set(['none', 'minor', 'major', 'maintenance']);
const OVER: ReadonlySet<unknown> = new Set(['resolved', 'postmortem']);

interface ComponentsOptions {
  readonly upstreamId: string;
  /** Names (alone, or `Group - Name`) or ids; undefined: all. */
  readonly wanted: readonly string[] | undefined;
  /** The open incidents as received. */
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
  const doubt = findDoubt(incidents);
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
function findDoubt(incidents: readonly unknown[]): (componentId: string) => boolean {
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

const MAINTENANCE_STATUSES: readonly string[] = ['scheduled', 'in_progress', 'verifying', 'completed'];
/** An incident of another impact has some; which cannot be told. */
const IMPACTS: Readonly<Record<string, IncidentImpact>> = {
  none: 'none',
  minor: 'minor',
  major: 'major',
  critical: 'critical',
  maintenance: 'none',
};
/** Words for the status and the impact of what is written. */
export const EVENT_STATUSES: readonly string[] = [...INCIDENT_STATUSES, ...MAINTENANCE_STATUSES];
export const IMPACT_WORDS: readonly string[] = Object.keys(IMPACTS);

interface EventsOptions {
  readonly upstreamId: string;
  /** The monitors of this page. */
  readonly monitors: ReadonlySet<MonitorId>;
}

/**
 * Incidents about one of the monitors, sorted by id; one that names no component is about the whole page. Never throws.
 *
 * @param lists  by their place in the answers; an incident may come in several
 */
export function projectIncidents(
  lists: Readonly<Record<string, readonly unknown[]>>,
  options: EventsOptions,
): { incidents: Incident[]; problems: Problem[] } {
  const { items, problems } = projectEvents(lists, wire.IncidentSchema, (event, place, told) => {
    const monitors = affectedMonitors(event, options) ?? [...options.monitors];
    if (monitors.length === 0) return null;
    const status = incidentStatus(event.status, place, told);
    const startedAt = event.started_at ?? event.created_at;
    const updates = projectUpdates(event, place, { words: INCIDENT_STATUSES, told });
    return createIncident({
      id: `${options.upstreamId}/${event.id}`,
      title: event.name,
      status,
      impact: readImpact(event.impact, place, told),
      startedAt,
      endedAt: isOverStatus(status) ? findEnd(event, updates, startedAt) : null,
      monitors,
      updates,
    });
  });
  return { incidents: items, problems };
}

/** Maintenance of the monitors, in the same way. Never throws. */
export function projectMaintenances(
  lists: Readonly<Record<string, readonly unknown[]>>,
  options: EventsOptions,
): { maintenances: Maintenance[]; problems: Problem[] } {
  const { items, problems } = projectEvents(lists, wire.MaintenanceSchema, (event, place, told) => {
    const { scheduled_for: startsAt, scheduled_until: until, status } = event;
    if (until < startsAt) {
      told.push({ kind: 'dropped', place, message: 'it ends before it begins' });
      return null;
    }
    const monitors = affectedMonitors(event, options) ?? [...options.monitors];
    if (monitors.length === 0) return null;
    if (!MAINTENANCE_STATUSES.includes(String(status))) told.push(unknownWord(`${place}.status`, status));
    const endedAt = status === 'completed' ? (event.resolved_at ?? until) : until;
    return createMaintenance({
      id: `${options.upstreamId}/${event.id}`,
      title: event.name,
      startsAt,
      endsAt: endedAt > startsAt && endedAt < until ? endedAt : until,
      monitors,
      updates: projectUpdates(event, place, { words: MAINTENANCE_STATUSES, told }),
      // Components in maintenance report that themselves.
      covers: false,
    });
  });
  return { maintenances: items, problems };
}

/** The events of all lists, each once and sorted; of one that comes twice the first list's counts. */
function projectEvents<T, Event extends { readonly id: string }>(
  lists: Readonly<Record<string, readonly unknown[]>>,
  schema: Parameters<typeof parseItem<T>>[0],
  project: (item: T, place: string, told: Problem[]) => Event | null,
): { items: Event[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const events: Event[] = [];
  const known = new Set<string>();
  for (const [list, items] of Object.entries(lists)) {
    const parsed = items.flatMap((item, index) => {
      const place = `${list}[${index}]`;
      const one = parseItem(schema, item, place);
      if ('item' in one) return project(one.item, place, problems) ?? [];
      problems.push(one.problem);
      return [];
    });
    const unique = uniqueById(parsed);
    problems.push(...unique.problems);
    events.push(...unique.items.filter(({ id }) => !known.has(id)));
    for (const { id } of unique.items) known.add(id);
  }
  return { items: uniqueById(events).items, problems };
}

/** Those of our monitors that it names; null: it names no component, or which cannot be read. */
function affectedMonitors(
  { components }: wire.Incident | wire.Maintenance,
  { upstreamId, monitors }: EventsOptions,
): MonitorId[] | null {
  if (components == null || components.length === 0) return null;
  const named = new Set(components.map(({ id }) => toMonitorId(upstreamId, id)));
  return [...monitors].filter((id) => named.has(id));
}

/** Unknown statuses count as open. */
function incidentStatus(word: unknown, place: string, told: Problem[]): IncidentStatus {
  const known = INCIDENT_STATUSES.find((status) => status === word);
  if (known === undefined) told.push(unknownWord(`${place}.status`, word));
  return known ?? 'investigating';
}

function readImpact(word: unknown, place: string, told: Problem[]): IncidentImpact {
  const known = typeof word === 'string' && Object.hasOwn(IMPACTS, word) ? IMPACTS[word] : undefined;
  if (known === undefined) told.push(unknownWord(`${place}.impact`, word));
  return known ?? 'minor';
}

/** Oldest first. */
function projectUpdates(
  { incident_updates: updates }: wire.Incident | wire.Maintenance,
  place: string,
  { words, told }: { readonly words: readonly string[]; readonly told: Problem[] },
): Update[] {
  const unique = uniqueById(
    (updates ?? []).map(({ id, status, body, created_at: createdAt, display_at: displayAt }): Update => {
      const isKnown = typeof status === 'string' && words.includes(status);
      if (!isKnown) told.push(unknownWord(`${place}.incident_updates.status`, status));
      return { id, at: displayAt ?? createdAt, status: isKnown ? status : null, body: body ?? '' };
    }),
  );
  told.push(...unique.problems);
  return unique.items.toSorted((a, b) => a.at - b.at);
}

function findEnd(event: wire.Incident, updates: readonly Update[], startedAt: EpochMs): EpochMs {
  const end = event.resolved_at ?? updates.find(({ status }) => status === 'resolved')?.at ?? event.updated_at;
  return end != null && end > startedAt ? end : startedAt;
}
