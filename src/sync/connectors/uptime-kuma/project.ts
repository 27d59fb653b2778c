/**
 * What a page of Uptime Kuma means: each monitor is in the state of its newest beat, while that is new. Pinned incidents and
 * maintenance don't say which monitors they are about.
 */

import type { z } from 'zod';
import {
  type Incident,
  type IncidentImpact,
  type Learned,
  type Maintenance,
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  type Problem,
  toMonitorId,
  type Update,
} from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import { type EpochMs, later } from '../../../model/time.ts';
import { createIncident, createMaintenance, endMissing } from '../entries.ts';
import {
  asNotes,
  externalIdOf,
  note,
  parseItem,
  parseItems,
  projectMonitorLists,
  uniqueById,
  unknownMonitor,
} from '../items.ts';
import { inOrder, lastChangeAt, type Measurement, presentState, projectPast } from '../measurements.ts';
import { lookUp, parseInstant, unknownWord } from '../wire.ts';
import {
  BeatSchema,
  GroupSchema,
  IncidentSchema,
  MaintenanceSchema,
  type Metric,
  MonitorSchema,
  type Page,
} from './schema.ts';

/** It failed and is tried again, so that nothing is decided. */
const PENDING = 2;

export const STATUS_STATES: ReadonlyMap<unknown, State> = new Map<unknown, State>([
  [0, 'major_outage'],
  [1, 'operational'],
  [PENDING, 'unknown'],
  [3, 'maintenance'],
]);

/** The beats of one monitor. Where not all can be read, they tell nothing of now: the newest may be among the others. */
function readPulse(
  list: unknown,
  place: string,
  { now, problems }: { readonly now: EpochMs; readonly problems: Problem[] },
): { readonly state: State; readonly beats: readonly Measurement[]; readonly itemsTotal: number } {
  if (list !== undefined && !Array.isArray(list)) {
    problems.push({ kind: 'dropped', place, message: 'not a list of heartbeats' });
    return { state: 'unknown', beats: [], itemsTotal: 1 };
  }
  const items = (list ?? []).filter((item) => item !== 0 && item !== '0');
  const read = parseItems(BeatSchema, items, place, problems);
  const beats = inOrder(
    read.map(({ status, time, ping }): Measurement => {
      const state = STATUS_STATES.get(status);
      if (state === undefined) problems.push(unknownWord(`${place}.status`, status));
      return { at: time, state: state ?? 'unknown', responseTimeMs: ping ?? null, isRetried: status === PENDING };
    }),
  );
  return { state: read.length < items.length ? 'unknown' : presentState(beats, now), beats, itemsTotal: items.length };
}

/** The monitors of all groups, sorted by id, with the states and response times of their beats. Never throws. */
export function projectPage(
  groups: readonly unknown[],
  heartbeats: Readonly<Record<string, unknown>>,
  { upstreamId, now, problems }: Pick<PostsOptions, 'upstreamId' | 'now' | 'problems'>,
): Required<Pick<Learned, 'monitors' | 'details' | 'changedAt' | 'itemsTotal'>> {
  const details = new Map<MonitorId, MonitorDetail>();
  const changedAt: Record<MonitorId, EpochMs> = {};
  let itemsTotal = groups.length;
  const project = (monitor: z.output<typeof MonitorSchema>): Partial<MonitorObservation> => {
    const id = toMonitorId(upstreamId, monitor.id);
    const sent = Object.hasOwn(heartbeats, monitor.id) ? heartbeats[monitor.id] : undefined;
    const { state, beats, ...pulse } = readPulse(sent, `heartbeatList.${monitor.id}`, { now, problems });
    itemsTotal += pulse.itemsTotal;
    details.getOrInsertComputed(id, () => projectPast(id, beats, now));
    const at = lastChangeAt(beats);
    if (at !== null && state !== 'unknown') changedAt[id] = at;
    return { name: monitor.name, kind: monitor.type ?? 'monitor', target: monitor.url, state };
  };
  const lists = groups.flatMap((group, index) => {
    const place = `publicGroupList[${index}]`;
    const items = parseItem(GroupSchema, group, place, problems)?.monitorList ?? [];
    itemsTotal += items.length;
    const about = { kind: 'monitor', isPublic: true, schema: MonitorSchema, project };
    return { ...about, items, place: `${place}.monitorList` };
  });
  const monitors = projectMonitorLists(upstreamId, lists, problems);
  return { monitors, details: monitors.flatMap(({ id }) => details.get(id) ?? []), changedAt, itemsTotal };
}

/**
 * Monitors that are on no page, by their metric: never public. Version 1 gives them no id; its name is one then.
 *
 * @param shown  ids and names of the monitors of the page
 */
export function projectMetrics(
  metrics: readonly Metric[],
  {
    upstreamId,
    shown,
    problems,
  }: Pick<PostsOptions, 'upstreamId' | 'problems'> & { readonly shown: ReadonlySet<string> },
): MonitorObservation[] {
  return metrics.flatMap(({ labels, value }): MonitorObservation[] => {
    const name = labels['monitor_name'] ?? '';
    const id = labels['monitor_id'] ?? name;
    if (id === '' || shown.has(id) || (labels['monitor_id'] === undefined && shown.has(name))) return [];
    const state = STATUS_STATES.get(value);
    if (state === undefined) problems.push(unknownWord(`metrics.${id.slice(0, 60)}`, String(value)));
    return [
      {
        ...unknownMonitor(upstreamId, id.slice(0, 200), labels['monitor_type'] ?? 'monitor'),
        name: name === '' ? id : name.slice(0, 500),
        state: state ?? 'unknown',
        isPublic: false,
      },
    ];
  });
}

/** Colours that an incident is written in; it says nothing else of how bad it is. */
export const IMPACTS: Readonly<Record<string, IncidentImpact>> = {
  info: 'none',
  primary: 'none',
  light: 'none',
  dark: 'none',
  warning: 'minor',
  danger: 'major',
};

interface PostsOptions {
  readonly upstreamId: string;
  /** All monitors of the page. */
  readonly monitors: readonly MonitorId[];
  readonly now: EpochMs;
  /** What is known of those that were open, by id there. */
  readonly open: ReadonlyMap<string, Incident>;
  readonly problems: Problem[];
}

/**
 * Incidents that are pinned, and those that were. One that was open and isn't pinned any more is over when the history says, or
 * as of now where that says nothing of it. Never throws.
 *
 * @param history  the newest incidents, pinned or not; empty where it was not read
 */
export function projectIncidents(
  { incidents, incident }: Page,
  history: readonly unknown[],
  { upstreamId, monitors, now, open, problems }: PostsOptions,
): { incidents: Incident[]; itemsTotal: number; isSure: boolean } {
  const items = [...(incidents ?? []), ...(incident == null ? [] : [incident])];
  const pinned = parseItems(IncidentSchema, items, 'incidents', problems);
  const unread: Problem[] = [];
  const past = parseItems(IncidentSchema, history, 'incident-history', unread);
  problems.push(...asNotes(unread));
  const toIncident = (item: z.output<typeof IncidentSchema>, endedAt: EpochMs | null): Incident => {
    const { id, title, content, style, createdDate } = item;
    const impact = lookUp(IMPACTS, style);
    if (impact === undefined) problems.push(unknownWord(`incidents.${id}.style`, style));
    const end: Update[] = endedAt === null ? [] : [{ id: 'unpinned', at: endedAt, status: 'resolved', body: '' }];
    return createIncident({
      id: `${upstreamId}/incident/${id}`,
      title,
      impact: impact ?? 'minor',
      startedAt: createdDate,
      endedAt,
      monitors,
      updates: [{ id: 'pinned', at: createdDate, status: 'investigating', body: content ?? '' }, ...end],
      // Ids of rows that were deleted are given again.
      bornAt: createdDate,
    });
  };
  const unique = uniqueById(
    pinned.map((item) => toIncident(item, null)),
    problems,
  );
  const isSure = pinned.length === items.length && (incidents != null || incident !== undefined);
  if (!isSure) return { incidents: unique, itemsTotal: items.length, isSure };
  const pinnedIds = new Set(pinned.map(({ id }) => id));
  const unpinned = past
    .filter(({ id }) => !pinnedIds.has(id))
    .map((item) => toIncident(item, later(item.createdDate, item.lastUpdatedDate ?? item.createdDate)));
  const listed = new Set([...unique, ...unpinned].map(({ id }) => externalIdOf(id)));
  const ended = endMissing(open, listed, { upstreamId, now, endId: 'unpinned' });
  return { incidents: uniqueById([...unique, ...unpinned, ...ended]), itemsTotal: items.length, isSure };
}

/** Windows that run or come next; which monitors are in one, their beats say. Never throws. */
export function projectMaintenances(
  { maintenanceList }: Page,
  { upstreamId, monitors, problems }: Pick<PostsOptions, 'upstreamId' | 'monitors' | 'problems'>,
): Maintenance[] {
  const items = parseItems(MaintenanceSchema, maintenanceList, 'maintenanceList', problems);
  const windows = items.flatMap(({ id, title, description, timezone, timeslotList }) =>
    (timeslotList ?? []).flatMap(({ startDate, endDate }): Maintenance[] => {
      const [startsAt, endsAt] = [startDate, endDate].map((text) => parseInstant(text, timezone ?? 'UTC'));
      if (startsAt == null || endsAt == null || endsAt <= startsAt) {
        problems.push(note(`maintenanceList.${id}`, 'one of its windows is unreadable'));
        return [];
      }
      return [
        createMaintenance({
          id: `${upstreamId}/maintenance/${id}/${startsAt}`,
          title,
          startsAt,
          endsAt,
          monitors,
          ...(description === null ? {} : { body: description }),
          covers: false,
        }),
      ];
    }),
  );
  return uniqueById(windows, problems);
}
