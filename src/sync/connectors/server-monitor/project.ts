/** What the server-monitor API's answers mean. Naive times are wall clock times in `zone`. */

import {
  type Incident,
  type Maintenance,
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  type Problem,
  type ResponseTime,
  toMonitorId,
  type UpstreamUptime,
} from '../../../model/observation.ts';
import type { Span } from '../../../model/overlap.ts';
import { DAY_MS, type EpochMs, type Interval, toEpochMs } from '../../../model/time.ts';
import { createIncident, createMaintenance } from '../entries.ts';
import { compareIds, parseItems, projectMonitorLists, uniqueById, unknownMonitor } from '../items.ts';
import { createDetail } from '../measurements.ts';
import { FlagSchema, NumberSchema, parseInstant, type StateWords, stateFromWord, unknownWord } from '../wire.ts';
import {
  ID_FIELD,
  type IncidentItem,
  IncidentSchema,
  LOG_MS_FIELDS,
  LOG_TIME_FIELDS,
  LogRecordSchema,
  type MaintenanceItem,
  MaintenanceSchema,
  type Monitor,
  type MonitorAnswer,
  MonitorSchema,
  type Uptime,
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
  return createIncident({
    id: `${upstreamId}/${item.id}`,
    title: item.title ?? item.monitor_name ?? `Incident ${item.id}`,
    impact: 'critical',
    startedAt,
    endedAt: end,
    monitors: [toMonitorId(upstreamId, item.monitor_id)],
    affectedState: 'major_outage',
    isOutage: true,
    updates: [
      { id: 'start', at: startedAt, status: 'investigating', body: item.description ?? '' },
      ...(end === null ? [] : [{ id: 'end', at: end, status: 'resolved', body: '' }]),
    ],
    // By its digits: what instant they mean changes where the zone is only known as the offset of today.
    ...bornAt(item),
  });
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
    return createMaintenance({
      id: `${origin.upstreamId}/maintenance-${item.id}`,
      title: item.title ?? 'Maintenance',
      startsAt,
      endsAt,
      monitors: [...new Set(item.monitorIds)].toSorted(compareIds).map((id) => toMonitorId(origin.upstreamId, id)),
      ...(item.description === null ? {} : { body: item.description }),
    });
  });
  return { maintenances: uniqueById(maintenances).items, problems };
}

/** Everything that one answer of `/monitors/{id}` says of its monitor. */
export function projectDetail(
  answer: MonitorAnswer,
  origin: Origin,
  facts: {
    readonly fetchedAt: EpochMs;
    /** Every outage of this monitor in the window of its uptime figures; null: its past has been told before. */
    readonly outages: readonly Interval[] | null;
  },
): MonitorDetail {
  const { monitor } = answer.data;
  const uptime = monitor.uptime ?? null;
  const createdAt = typeof monitor.created_at === 'string' ? parseInstant(monitor.created_at, origin.zone) : null;
  return createDetail(toMonitorId(origin.upstreamId, monitor.id), facts.fetchedAt, {
    // Of no checks at all the figures are zeros that mean nothing.
    uptime: uptime === null || uptime.total_checks === 0 ? null : projectUptime(uptime),
    responseTimes: projectLogs(monitor.logs ?? answer.data.logs ?? [], origin.zone),
    reportedSpans:
      uptime === null || facts.outages === null
        ? []
        : reportedSpans(uptime, { createdAt, now: facts.fetchedAt, outages: facts.outages }),
  });
}

function projectUptime(uptime: Uptime): UpstreamUptime {
  return {
    periodDays: uptime.period_days,
    checksTotal: uptime.total_checks ?? null,
    checksUp: uptime.up_checks ?? null,
    uptimeRatio: typeof uptime.uptime_percentage === 'number' ? uptime.uptime_percentage / 100 : null,
    responseTimeAverageMs: uptime.avg_response_time ?? null,
  };
}

/** Response times out of log records of a shape that is not documented; milliseconds, oldest first. */
function projectLogs(logs: readonly unknown[], zone: string): ResponseTime[] {
  const byInstant = new Map<EpochMs, number>();
  for (const log of logs) {
    const record = LogRecordSchema.safeParse(log);
    if (!record.success) continue;
    const time = LOG_TIME_FIELDS.map((field) => record.data[field]).find((value) => typeof value === 'string');
    const at = time === undefined ? null : parseInstant(time, zone);
    const ms = LOG_MS_FIELDS.map((field) => NumberSchema.safeParse(record.data[field])).find(
      (value) => value.success,
    )?.data;
    if (at !== null && ms !== undefined && ms >= 0) byInstant.set(at, Math.max(ms, byInstant.get(at) ?? 0));
  }
  return [...byInstant].map(([at, ms]) => ({ at, ms })).toSorted((a, b) => a.at - b.at);
}

/**
 * The time before our first look: up wherever the upstream checked and recorded no incident, back to the monitor's
 * creation or the start of the uptime window, whichever is later.
 *
 * Nothing is claimed when no check took place, and nothing when checks failed that no incident explains: that time
 * stays unknown. Outages themselves are left out here; incidents carry them.
 */
function reportedSpans(
  uptime: Uptime,
  { createdAt, now, outages }: { createdAt: EpochMs | null; now: EpochMs; outages: readonly Interval[] },
): Span[] {
  const total = uptime.total_checks ?? 0;
  const up = uptime.up_checks ?? 0;
  const from = toEpochMs(Math.max(createdAt ?? 0, now - uptime.period_days * DAY_MS));
  const inside = outages
    .filter((outage) => outage.to > from && outage.from < now)
    .toSorted((a, b) => a.from - b.from || a.to - b.to);
  if (total <= 0 || up <= 0 || from >= now) return [];
  if (up < total && inside.length === 0) return [];
  const spans: Span[] = [];
  let at = from;
  for (const outage of inside) {
    if (outage.from > at) spans.push({ state: 'operational', from: at, to: outage.from });
    at = toEpochMs(Math.max(at, outage.to));
  }
  if (at < now) spans.push({ state: 'operational', from: at, to: now });
  return spans;
}

/** The outages of one monitor, open ones until `now`. */
export function outagesOf(incidents: readonly Incident[], id: MonitorId, now: EpochMs): Interval[] {
  return incidents
    .filter((incident) => incident.monitors.includes(id))
    .map((incident) => ({ from: incident.startedAt, to: incident.endedAt ?? now }));
}
