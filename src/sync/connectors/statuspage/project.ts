/**
 * Answers of the Statuspage v2 API (only what is read is named), and what they mean: each component that is no group is a monitor;
 * incidents and maintenance carry their updates.
 */

import { z } from 'zod';
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
import { note, type Origin, parseItem, parseItems, projectMonitorLists, uniqueById } from '../items.ts';
import {
  IdSchema,
  InstantSchema,
  ListSchema,
  lookUp,
  NameSchema,
  type StateWords,
  stateFromWord,
  TextSchema,
  unknownWord,
} from '../wire.ts';

/** States now, what is open, and what is planned or under way. Some services leave the last list out when it is empty. */
export const SummarySchema = z.object({
  components: z.array(z.unknown()),
  incidents: z.array(z.unknown()),
  scheduled_maintenances: ListSchema,
});

export const IncidentsSchema = z.object({ incidents: z.array(z.unknown()) });
export const MaintenancesSchema = z.object({ scheduled_maintenances: z.array(z.unknown()) });

const ComponentSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  status: z.unknown().optional(),
  description: TextSchema,
  group: z.boolean().nullish().catch(null),
  group_id: IdSchema.nullish().catch(null),
  created_at: InstantSchema.nullish().catch(null),
});
type Component = z.output<typeof ComponentSchema>;

const UpdateSchema = z.object({
  id: IdSchema,
  status: z.unknown().optional(),
  body: TextSchema,
  created_at: InstantSchema,
  display_at: InstantSchema.nullish().catch(null),
});

const EventSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  status: z.unknown().optional(),
  updated_at: InstantSchema.nullish().catch(null),
  resolved_at: InstantSchema.nullish().catch(null),
  incident_updates: z.array(UpdateSchema).nullish(),
  /** Null: it cannot be read which. */
  components: z
    .array(z.object({ id: IdSchema }))
    .nullish()
    .catch(null),
});

const IncidentSchema = EventSchema.extend({
  impact: z.unknown().optional(),
  created_at: InstantSchema,
  started_at: InstantSchema.nullish().catch(null),
});

const MaintenanceSchema = EventSchema.extend({ scheduled_for: InstantSchema, scheduled_until: InstantSchema });
type StoryItem = z.output<typeof IncidentSchema> | z.output<typeof MaintenanceSchema>;

/** What of an open incident says whether a component that is "operational" can be believed. */
const AlarmSchema = z.object({
  status: z.unknown().optional(),
  impact: z.unknown().optional(),
  components: z.array(z.object({ id: IdSchema })),
});

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

/**
 * The components that are wanted as monitors, sorted by id. Never throws.
 *
 * @param wanted     names (alone, or `Group - Name`) or ids; undefined: all
 * @param incidents  the open ones as received
 */
export function projectComponents(
  items: readonly unknown[],
  { wanted, incidents }: { readonly wanted: readonly string[] | undefined; readonly incidents: readonly unknown[] },
  { upstreamId, problems }: Origin,
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
  const monitors = projectMonitorLists({ upstreamId, problems }, [list]);
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

interface PageOrigin extends Origin {
  /** The monitors of this page. */
  readonly monitors: ReadonlySet<MonitorId>;
}

/** Lists of items by their place in the answers; an incident may come in several. */
type Lists = Readonly<Record<string, readonly unknown[]>>;

/** Incidents about one of the monitors, sorted by id; one that names no component is about the whole page. Never throws. */
export function projectIncidents(lists: Lists, origin: PageOrigin): Incident[] {
  const { upstreamId, problems } = origin;
  return projectEvents(lists, IncidentSchema, problems, (event, place) => {
    const monitors = affectedMonitors(event, origin);
    if (monitors.length === 0) return null;
    // Unknown statuses count as open.
    const status = INCIDENT_STATUSES.find((known) => known === event.status) ?? 'investigating';
    if (status !== event.status) problems.push(unknownWord(`${place}.status`, event.status));
    const impact = lookUp(IMPACTS, event.impact);
    if (impact === undefined) problems.push(unknownWord(`${place}.impact`, event.impact));
    const startedAt = event.started_at ?? event.created_at;
    const updates = projectUpdates(event, place, { words: INCIDENT_STATUSES, problems });
    return createIncident({
      id: `${upstreamId}/${event.id}`,
      title: event.name,
      impact: impact ?? 'minor',
      endedAt: isOverStatus(status) ? findEnd(event, updates, startedAt) : null,
      ...{ status, startedAt, monitors, updates },
    });
  });
}

/** Maintenance of the monitors, in the same way. Never throws. */
export function projectMaintenances(lists: Lists, origin: PageOrigin): Maintenance[] {
  const { upstreamId, problems } = origin;
  return projectEvents(lists, MaintenanceSchema, problems, (event, place) => {
    const { scheduled_for: startsAt, scheduled_until: until, status } = event;
    if (until < startsAt) {
      problems.push({ kind: 'dropped', place, message: 'it ends before it begins' });
      return null;
    }
    const monitors = affectedMonitors(event, origin);
    if (monitors.length === 0) return null;
    if (!MAINTENANCE_STATUSES.includes(String(status))) problems.push(unknownWord(`${place}.status`, status));
    const endedAt = status === 'completed' ? (event.resolved_at ?? until) : until;
    return createMaintenance({
      id: `${upstreamId}/${event.id}`,
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
  lists: Lists,
  schema: z.ZodType<T>,
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
function affectedMonitors({ components }: StoryItem, { upstreamId, monitors }: PageOrigin): MonitorId[] {
  if (components == null || components.length === 0) return [...monitors];
  const named = new Set(components.map(({ id }) => toMonitorId(upstreamId, id)));
  return [...monitors].filter((id) => named.has(id));
}

/** Oldest first. */
function projectUpdates(
  { incident_updates: updates }: StoryItem,
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

function findEnd(event: z.output<typeof IncidentSchema>, updates: readonly Update[], startedAt: EpochMs): EpochMs {
  const end = event.resolved_at ?? updates.find(({ status }) => status === 'resolved')?.at ?? event.updated_at;
  return end != null && end > startedAt ? end : startedAt;
}
