/**
 * What a page of Uptime Kuma means: each monitor is in the state of its newest beat, while that is new. Pinned incidents and
 * maintenance don't say which monitors they are about.
 */

import type { z } from 'zod';
import type {
  Incident,
  IncidentImpact,
  Learned,
  Maintenance,
  MonitorDetail,
  MonitorId,
  MonitorObservation,
  Problem,
  Update,
} from '../../../model/observation.ts';
import type { State } from '../../../model/state.ts';
import { type EpochMs, later } from '../../../model/time.ts';
import { createIncident, createMaintenance, endMissing } from '../entries.ts';
import {
  externalIdOf,
  note,
  parseItem,
  parseItems,
  projectMonitorLists,
  uniqueById,
  unknownMonitor,
} from '../items.ts';
import { inOrder, lastChangeAt, type Measurement, presentState, projectPast } from '../measurements.ts';
import { parseInstant, unknownWord } from '../wire.ts';
import {
  BeatSchema,
  GroupSchema,
  ID_FIELD,
  IncidentSchema,
  MaintenanceSchema,
  type Metric,
  type Monitor,
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

/** The beats of one monitor. */
interface Pulse {
  readonly state: State;
  readonly beats: readonly Measurement[];
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
}

/** Beats that cannot all be read tell nothing of now: the newest may be among them. */
function readPulse(list: unknown, place: string, now: EpochMs): Pulse {
  if (list !== undefined && !Array.isArray(list)) {
    const problem: Problem = { kind: 'dropped', place, message: 'not a list of heartbeats' };
    return { state: 'unknown', beats: [], problems: [problem], itemsTotal: 1 };
  }
  const items = (list ?? []).filter((item) => item !== 0 && item !== '0');
  const { items: read, problems } = parseItems(BeatSchema, items, place);
  const words: Problem[] = [];
  const beats = inOrder(
    read.map(({ status, time, ping }): Measurement => {
      const state = STATUS_STATES.get(status);
      if (state === undefined) words.push(unknownWord(`${place}.status`, status));
      return { at: time, state: state ?? 'unknown', responseTimeMs: ping ?? null, isRetried: status === PENDING };
    }),
  );
  const state = problems.length > 0 ? 'unknown' : presentState(beats, now);
  return { state, beats, problems: [...problems, ...words], itemsTotal: items.length };
}

interface Projected {
  readonly monitors: readonly MonitorObservation[];
  /** Of each monitor: response times, and the states of its beats. */
  readonly details: readonly MonitorDetail[];
  readonly changedAt: NonNullable<Learned['changedAt']>;
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
}

/** The monitors of all groups, sorted by id. Never throws. */
export function projectPage(
  groups: readonly unknown[],
  heartbeats: Readonly<Record<string, unknown>>,
  { upstreamId, now }: { readonly upstreamId: string; readonly now: EpochMs },
): Projected {
  const details: MonitorDetail[] = [];
  const changedAt: Record<MonitorId, EpochMs> = {};
  const unreadable: Problem[] = [];
  let itemsTotal = groups.length;
  const lists = groups.flatMap((group, index) => {
    const place = `publicGroupList[${index}]`;
    const parsed = parseItem(GroupSchema, group, place);
    if ('item' in parsed) return [{ items: parsed.item.monitorList, place: `${place}.monitorList` }];
    unreadable.push(parsed.problem);
    return [];
  });
  const project = (monitor: Monitor): { monitor: MonitorObservation; problems: readonly Problem[] } => {
    const beats = Object.hasOwn(heartbeats, monitor.id) ? heartbeats[monitor.id] : undefined;
    const pulse = readPulse(beats, `heartbeatList.${monitor.id}`, now);
    itemsTotal += pulse.itemsTotal;
    const observed: MonitorObservation = {
      ...unknownMonitor(upstreamId, monitor.id, monitor.type ?? 'monitor'),
      name: monitor.name,
      target: monitor.url,
      state: pulse.state,
      isPublic: true,
    };
    details.push(projectPast(observed.id, pulse.beats, now));
    const at = lastChangeAt(pulse.beats);
    if (at !== null && pulse.state !== 'unknown') changedAt[observed.id] = at;
    return { monitor: observed, problems: pulse.problems };
  };
  const { monitors, problems } = projectMonitorLists<Monitor>(
    lists.map(({ items, place }) => ({
      place,
      items,
      schema: MonitorSchema,
      idField: ID_FIELD,
      project,
      placeholder: (externalId) => ({ ...unknownMonitor(upstreamId, externalId, 'monitor'), isPublic: true }),
    })),
  );
  const first = new Map(details.toReversed().map((detail) => [detail.id, detail]));
  return {
    monitors,
    details: monitors.flatMap(({ id }) => first.get(id) ?? []),
    changedAt,
    problems: [...unreadable, ...problems],
    itemsTotal: lists.reduce((sum, { items }) => sum + items.length, itemsTotal),
  };
}

/**
 * Monitors that are on no page, by their metric: never public. Version 1 gives them no id; its name is one then.
 *
 * @param shown  ids and names of the monitors of the page
 */
export function projectMetrics(
  metrics: readonly Metric[],
  { upstreamId, shown }: { readonly upstreamId: string; readonly shown: ReadonlySet<string> },
): { monitors: MonitorObservation[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const monitors = metrics.flatMap(({ labels, value }): MonitorObservation[] => {
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
  return { monitors, problems };
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

type PinnedIncident = z.output<typeof IncidentSchema>;

interface PostsOptions {
  readonly upstreamId: string;
  /** All monitors of the page. */
  readonly monitors: readonly MonitorId[];
  readonly now: EpochMs;
  /** What is known of those that were open, by id there. */
  readonly open: ReadonlyMap<string, Incident>;
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
  { upstreamId, monitors, now, open }: PostsOptions,
): { incidents: Incident[]; problems: Problem[]; itemsTotal: number; isSure: boolean } {
  const items = [...(incidents ?? []), ...(incident == null ? [] : [incident])];
  const pinned = parseItems(IncidentSchema, items, 'incidents');
  const past = parseItems(IncidentSchema, history, 'incident-history');
  const words: Problem[] = [];
  const toIncident = (item: PinnedIncident, endedAt: EpochMs | null): Incident => {
    const { id, title, content, style, createdDate } = item;
    const impact = typeof style === 'string' && Object.hasOwn(IMPACTS, style) ? IMPACTS[style] : undefined;
    if (impact === undefined) words.push(unknownWord(`incidents.${id}.style`, style));
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
  const unique = uniqueById(pinned.items.map((item) => toIncident(item, null)));
  const isSure = pinned.problems.length === 0 && (incidents != null || incident !== undefined);
  const pinnedIds = new Set(pinned.items.map(({ id }) => id));
  const unpinned = isSure
    ? past.items
        .filter(({ id }) => !pinnedIds.has(id))
        .map((item) => toIncident(item, later(item.createdDate, item.lastUpdatedDate ?? item.createdDate)))
    : [];
  const listed = new Set([...unique.items, ...unpinned].map(({ id }) => externalIdOf(id)));
  const ended = isSure ? endMissing(open, listed, { upstreamId, now, endId: 'unpinned' }) : [];
  return {
    incidents: uniqueById([...unique.items, ...unpinned, ...ended]).items,
    problems: [
      ...pinned.problems,
      ...past.problems.map((problem): Problem => ({ ...problem, kind: 'note' })),
      ...words,
      ...unique.problems,
    ],
    itemsTotal: items.length,
    isSure,
  };
}

/** Windows that run or come next; which monitors are in one, their beats say. Never throws. */
export function projectMaintenances(
  { maintenanceList }: Page,
  { upstreamId, monitors }: Pick<PostsOptions, 'upstreamId' | 'monitors'>,
): { maintenances: Maintenance[]; problems: Problem[]; itemsTotal: number } {
  const { items, problems } = parseItems(MaintenanceSchema, maintenanceList, 'maintenanceList');
  const unreadable: Problem[] = [];
  const windows = items.flatMap(({ id, title, description, timezone, timeslotList }) =>
    (timeslotList ?? []).flatMap(({ startDate, endDate }): Maintenance[] => {
      const [startsAt, endsAt] = [startDate, endDate].map((text) => parseInstant(text, timezone ?? 'UTC'));
      if (startsAt == null || endsAt == null || endsAt <= startsAt) {
        unreadable.push(note(`maintenanceList.${id}`, 'one of its windows is unreadable'));
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
  const unique = uniqueById(windows);
  return {
    maintenances: unique.items,
    problems: [...problems, ...unreadable, ...unique.problems],
    itemsTotal: maintenanceList.length,
  };
}
