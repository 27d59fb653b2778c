/** What a v2 page means: each component that is no group is a monitor; incidents and maintenance carry their updates. */

import {
  INCIDENT_STATUSES,
  type Incident,
  type IncidentImpact,
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
import { note, parseItem, parseItems, projectMonitorLists, uniqueById } from '../items.ts';
import { lookUp, type StateWords, stateFromWord, unknownWord } from '../wire.ts';
import * as wire from './schema.ts';
import { AlarmSchema, type Component, ComponentSchema } from './schema.ts';

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
  problems: Problem[],
): MonitorObservation[] {
  const listed = parseItems(ComponentSchema, items, 'components');
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
  const list = {
    place: 'components',
    items: items.filter((item) => !isGroup(item)),
    kind: 'component',
    schema: ComponentSchema,
    project: (component: Component, place: string): Partial<MonitorObservation> => {
      const state = stateFromWord(STATE_WORDS, component.status, `${place}.status`, problems);
      return {
        name: (names.get(component.name)?.length ?? 0) > 1 ? fullName(component) : component.name,
        description: component.description,
        state: state === 'operational' && doubt(component.id) ? 'unknown' : state,
        createdAt: component.created_at ?? null,
      };
    },
  };
  const monitors = projectMonitorLists(upstreamId, [list], problems);
  if (wanted === undefined) return monitors;
  const chosen = wanted.flatMap((name) => {
    const found = listed.filter((one) => one.group !== true && [one.id, one.name, fullName(one)].includes(name));
    if (found.length === 0)
      problems.push(note('components', `there is no component named ${JSON.stringify(name.slice(0, 60))}`));
    return found;
  });
  const ids = new Set(chosen.map(({ id }) => `${upstreamId}/${id}`));
  // One that cannot be read cannot be told by its name; it is kept, since it may be one of them.
  return monitors.filter(({ id }) => ids.has(id) || !listed.some((one) => `${upstreamId}/${one.id}` === id));
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
  problems: Problem[],
): Incident[] {
  return projectEvents(lists, wire.IncidentSchema, problems, (event, place) => {
    const monitors = affectedMonitors(event, options);
    if (monitors.length === 0) return null;
    // Unknown statuses count as open.
    const status = INCIDENT_STATUSES.find((known) => known === event.status) ?? 'investigating';
    if (status !== event.status) problems.push(unknownWord(`${place}.status`, event.status));
    const impact = lookUp(IMPACTS, event.impact);
    if (impact === undefined) problems.push(unknownWord(`${place}.impact`, event.impact));
    const startedAt = event.started_at ?? event.created_at;
    const updates = projectUpdates(event, place, { words: INCIDENT_STATUSES, problems });
    return createIncident({
      id: `${options.upstreamId}/${event.id}`,
      title: event.name,
      status,
      impact: impact ?? 'minor',
      startedAt,
      endedAt: isOverStatus(status) ? findEnd(event, updates, startedAt) : null,
      monitors,
      updates,
    });
  });
}

/** Maintenance of the monitors, in the same way. Never throws. */
export function projectMaintenances(
  lists: Readonly<Record<string, readonly unknown[]>>,
  options: EventsOptions,
  problems: Problem[],
): Maintenance[] {
  return projectEvents(lists, wire.MaintenanceSchema, problems, (event, place) => {
    const { scheduled_for: startsAt, scheduled_until: until, status } = event;
    if (until < startsAt) {
      problems.push({ kind: 'dropped', place, message: 'it ends before it begins' });
      return null;
    }
    const monitors = affectedMonitors(event, options);
    if (monitors.length === 0) return null;
    if (!MAINTENANCE_STATUSES.includes(String(status))) problems.push(unknownWord(`${place}.status`, status));
    const endedAt = status === 'completed' ? (event.resolved_at ?? until) : until;
    return createMaintenance({
      id: `${options.upstreamId}/${event.id}`,
      title: event.name,
      startsAt,
      endsAt: endedAt > startsAt && endedAt < until ? endedAt : until,
      monitors,
      updates: projectUpdates(event, place, { words: MAINTENANCE_STATUSES, problems }),
      // Components in maintenance report that themselves.
      covers: false,
    });
  });
}

/** The events of all lists, each once and sorted; of one that comes twice the first list's counts. */
function projectEvents<T, Event extends { readonly id: string }>(
  lists: Readonly<Record<string, readonly unknown[]>>,
  schema: Parameters<typeof parseItem<T>>[0],
  problems: Problem[],
  project: (item: T, place: string) => Event | null,
): Event[] {
  const events = new Map<string, Event>();
  for (const [list, items] of Object.entries(lists)) {
    const projected = items.flatMap((item, index) => {
      const place = `${list}[${index}]`;
      const event = parseItem(schema, item, place, problems);
      return event === undefined ? [] : (project(event, place) ?? []);
    });
    for (const event of uniqueById(projected, problems)) events.getOrInsert(event.id, event);
  }
  return uniqueById([...events.values()]);
}

/** Those of our monitors that it names; all, if it names no component, or which cannot be read. */
function affectedMonitors(
  { components }: wire.Incident | wire.Maintenance,
  { upstreamId, monitors }: EventsOptions,
): MonitorId[] {
  if (components == null || components.length === 0) return [...monitors];
  const named = new Set(components.map(({ id }) => toMonitorId(upstreamId, id)));
  return [...monitors].filter((id) => named.has(id));
}

/** Oldest first. */
function projectUpdates(
  { incident_updates: updates }: wire.Incident | wire.Maintenance,
  place: string,
  { words, problems }: { readonly words: readonly string[]; readonly problems: Problem[] },
): Update[] {
  const read = (updates ?? []).map(({ id, status, body, created_at: createdAt, display_at: displayAt }): Update => {
    const isKnown = typeof status === 'string' && words.includes(status);
    if (!isKnown) problems.push(unknownWord(`${place}.incident_updates.status`, status));
    return { id, at: displayAt ?? createdAt, status: isKnown ? status : null, body: body ?? '' };
  });
  return uniqueById(read, problems).toSorted((a, b) => a.at - b.at);
}

function findEnd(event: wire.Incident, updates: readonly Update[], startedAt: EpochMs): EpochMs {
  const end = event.resolved_at ?? updates.find(({ status }) => status === 'resolved')?.at ?? event.updated_at;
  return end != null && end > startedAt ? end : startedAt;
}
