/** What was written on a v2 page: incidents and maintenances with their updates. */

import {
  INCIDENT_STATUSES,
  type Incident,
  type IncidentImpact,
  type IncidentStatus,
  isOverStatus,
  type Maintenance,
  type MonitorId,
  type Problem,
  toMonitorId,
  type Update,
} from '../../../model/observation.ts';
import type { EpochMs } from '../../../model/time.ts';
import { parseItem, uniqueById } from '../items.ts';
import { unknownWord } from '../wire.ts';
import * as wire from './schema.ts';

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
  /** The monitors that are taken from this page. */
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
    const monitors = monitorsOf(event, options) ?? [...options.monitors];
    if (monitors.length === 0) return null;
    const status = incidentStatus(event.status, place, told);
    const startedAt = event.started_at ?? event.created_at;
    const updates = updatesOf(event, place, { words: INCIDENT_STATUSES, told });
    return {
      id: `${options.upstreamId}/${event.id}`,
      title: event.name,
      status,
      impact: impactOf(event.impact, place, told),
      startedAt,
      endedAt: isOverStatus(status) ? endOf(event, updates, startedAt) : null,
      monitors,
      components: [],
      pages: null,
      affectedState: null,
      isOutage: false,
      updates,
    } satisfies Incident;
  });
  return { incidents: items, problems };
}

/** Maintenances about one of the monitors, as incidents are. Never throws. */
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
    const monitors = monitorsOf(event, options) ?? [...options.monitors];
    if (monitors.length === 0) return null;
    if (!MAINTENANCE_STATUSES.includes(String(status))) told.push(unknownWord(`${place}.status`, status));
    const endedAt = status === 'completed' ? (event.resolved_at ?? until) : until;
    return {
      id: `${options.upstreamId}/${event.id}`,
      title: event.name,
      startsAt,
      endsAt: endedAt > startsAt && endedAt < until ? endedAt : until,
      monitors,
      components: [],
      pages: null,
      updates: updatesOf(event, place, { words: MAINTENANCE_STATUSES, told }),
      // A component that is under maintenance says so itself.
      covers: false,
    } satisfies Maintenance;
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
function monitorsOf(
  { components }: wire.Incident | wire.Maintenance,
  { upstreamId, monitors }: EventsOptions,
): MonitorId[] | null {
  if (components == null || components.length === 0) return null;
  const named = new Set(components.map(({ id }) => toMonitorId(upstreamId, id)));
  return [...monitors].filter((id) => named.has(id));
}

/** A status that nobody knows is not over. */
function incidentStatus(word: unknown, place: string, told: Problem[]): IncidentStatus {
  const known = INCIDENT_STATUSES.find((status) => status === word);
  if (known === undefined) told.push(unknownWord(`${place}.status`, word));
  return known ?? 'investigating';
}

function impactOf(word: unknown, place: string, told: Problem[]): IncidentImpact {
  const known = typeof word === 'string' && Object.hasOwn(IMPACTS, word) ? IMPACTS[word] : undefined;
  if (known === undefined) told.push(unknownWord(`${place}.impact`, word));
  return known ?? 'minor';
}

/** Oldest first. */
function updatesOf(
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

function endOf(event: wire.Incident, updates: readonly Update[], startedAt: EpochMs): EpochMs {
  const end = event.resolved_at ?? updates.find(({ status }) => status === 'resolved')?.at ?? event.updated_at;
  return end != null && end > startedAt ? end : startedAt;
}
