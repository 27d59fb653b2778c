/** What the server-monitor API's answers mean. Naive times are wall clock times in `zone`. */

import {
  type Incident,
  type Maintenance,
  type MonitorObservation,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import { toEpochMs } from '../../../model/time.ts';
import { compareIds, parseItems, projectMonitorLists, uniqueById, unknownMonitor } from '../items.ts';
import { FlagSchema, parseInstant, type StateWords, stateFromWord, unknownWord } from '../wire.ts';
import {
  ID_FIELD,
  type IncidentItem,
  IncidentSchema,
  type MaintenanceItem,
  MaintenanceSchema,
  type Monitor,
  MonitorSchema,
} from './schema.ts';

/** Where the answers come from and what their times mean. */
export interface Origin {
  readonly upstreamId: string;
  /** IANA name or offset of times that carry none. */
  readonly zone: string;
}

export const STATE_WORDS: StateWords = {
  up: 'operational',
  down: 'major_outage',
  pending: 'unknown',
  paused: 'paused',
};

/** Monitors with their states, sorted by id; never throws. */
export function projectMonitors(
  items: readonly unknown[],
  origin: Origin,
): { monitors: MonitorObservation[]; problems: Problem[] } {
  return projectMonitorLists<Monitor>([
    {
      place: 'monitors',
      items,
      schema: MonitorSchema,
      idField: ID_FIELD,
      project: (item, place) => projectMonitor(item, place, origin),
      placeholder: (externalId) => unknownMonitor(origin.upstreamId, externalId, 'monitor'),
    },
  ]);
}

function projectMonitor(
  item: Monitor,
  place: string,
  { upstreamId, zone }: Origin,
): { monitor: MonitorObservation; problems: Problem[] } {
  const active = FlagSchema.optional().safeParse(item.is_active);
  const word = stateFromWord(STATE_WORDS, item.status, `${place}.status`);
  const isPaused = active.success && active.data === false;
  const state = isPaused ? 'paused' : active.success ? word.state : 'unknown';
  const problems = active.success
    ? word.problems
    : [...word.problems, unknownWord(`${place}.is_active`, item.is_active)];
  return {
    monitor: {
      ...unknownMonitor(upstreamId, item.id, item.type),
      name: item.name,
      target: item.target,
      state,
      createdAt: typeof item.created_at === 'string' ? parseInstant(item.created_at, zone) : null,
    },
    problems,
  };
}

/** Incidents as outages, sorted by id; an item seen on two pages counts once. Never throws. */
export function projectIncidents(
  items: readonly unknown[],
  origin: Origin,
): { incidents: Incident[]; problems: Problem[] } {
  const parsed = parseItems(IncidentSchema, items, 'incidents');
  const problems = [...parsed.problems];
  const incidents = parsed.items.flatMap((item) => {
    const incident = projectIncident(item, origin);
    if (incident === null)
      problems.push({ kind: 'dropped', place: `incidents.${item.id}`, message: 'its times are unreadable' });
    return incident ?? [];
  });
  // The same incident may come from two lists at slightly different times: the one that knows its end is later.
  const settled = [...Map.groupBy(incidents, (incident) => incident.id).values()].flatMap((variants) => {
    const ended = variants.filter((variant) => variant.endedAt !== null);
    return ended.length > 0 ? ended : variants;
  });
  const unique = uniqueById(settled);
  return {
    incidents: unique.items,
    problems: [...problems, ...unique.problems.filter((problem) => problem.kind !== 'note')],
  };
}

function projectIncident(item: IncidentItem, { upstreamId, zone }: Origin): Incident | null {
  const startedAt = parseInstant(item.started_at, zone);
  const isOpen = item.ended_at === undefined || item.ended_at === null;
  const endedAt = isOpen ? null : parseInstant(item.ended_at ?? '', zone);
  if (startedAt === null || (!isOpen && endedAt === null)) return null;
  const end = endedAt === null ? null : toEpochMs(Math.max(startedAt, endedAt));
  return {
    id: `${upstreamId}/${item.id}`,
    title: item.title ?? item.monitor_name ?? `Incident ${item.id}`,
    status: end === null ? 'investigating' : 'resolved',
    impact: 'critical',
    startedAt,
    endedAt: end,
    monitors: [toMonitorId(upstreamId, item.monitor_id)],
    components: [],
    pages: null,
    affectedState: 'major_outage',
    isOutage: true,
    updates: [
      { id: 'start', at: startedAt, status: 'investigating', body: item.description ?? '' },
      ...(end === null ? [] : [{ id: 'end', at: end, status: 'resolved', body: '' }]),
    ],
    // By its digits: what instant they mean changes where the zone is only known as the offset of today.
    ...bornAt(item),
  };
}

function bornAt({ started_at: startedAt }: IncidentItem): Pick<Incident, 'bornAt'> {
  const at = parseInstant(startedAt, 'UTC');
  return at === null ? {} : { bornAt: at };
}

/** Maintenance windows of an address that is not documented; what cannot be read is noted, never counted as bad. */
export function projectMaintenances(
  items: readonly unknown[],
  origin: Origin,
): { maintenances: Maintenance[]; problems: Problem[] } {
  const parsed = parseItems<MaintenanceItem>(MaintenanceSchema, items, 'maintenance');
  const problems: Problem[] = parsed.problems.map((problem) => ({ ...problem, kind: 'note' }));
  const maintenances = parsed.items.flatMap((item) => {
    const startsAt = parseInstant(item.startsAt, origin.zone);
    const endsAt = parseInstant(item.endsAt, origin.zone);
    if (startsAt === null || endsAt === null || endsAt <= startsAt) {
      problems.push({ kind: 'note', place: `maintenance.${item.id}`, message: 'its window is unreadable' });
      return [];
    }
    const maintenance: Maintenance = {
      id: `${origin.upstreamId}/maintenance-${item.id}`,
      title: item.title ?? 'Maintenance',
      startsAt,
      endsAt,
      monitors: [...new Set(item.monitorIds)].toSorted(compareIds).map((id) => toMonitorId(origin.upstreamId, id)),
      components: [],
      pages: null,
      updates: [],
      ...(item.description === null ? {} : { body: item.description }),
    };
    return maintenance;
  });
  return { maintenances: uniqueById(maintenances).items, problems };
}
