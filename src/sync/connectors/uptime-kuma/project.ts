/**
 * The JSON behind a status page of Uptime Kuma, which isn't documented, and what it means: each monitor is in the state of its newest
 * beat, while that is new. Pinned incidents and maintenance don't say which monitors they are about.
 */

import { z } from 'zod';
import {
  type Incident,
  type IncidentImpact,
  type Maintenance,
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
  type Origin,
  parseItem,
  parseItems,
  projectMonitorLists,
  uniqueById,
  unknownMonitor,
} from '../items.ts';
import { createHistory, type Measurement } from '../measurements.ts';
import {
  IdSchema,
  instantSchema,
  ListSchema,
  lookUp,
  NameSchema,
  NumberSchema,
  parseInstant,
  stateFromCode,
  TextSchema,
  toLink,
  unknownWord,
} from '../wire.ts';

/** Its times are UTC and do not say so. */
const UtcSchema = instantSchema('UTC', 'not a date and time');

export const PageSchema = z.object({
  publicGroupList: z.array(z.unknown()),
  /** Newer versions; before that one `incident`, which is null when there is none. */
  incidents: z.array(z.unknown()).nullish(),
  incident: z.unknown().optional(),
  maintenanceList: ListSchema,
});
export type Page = z.output<typeof PageSchema>;

const GroupSchema = z.object({ monitorList: z.array(z.unknown()) });

const MonitorSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  type: z.string().max(60).nullish().catch(null),
  url: z.string().nullish().catch(null).transform(toLink),
});

export const HeartbeatsSchema = z.object({ heartbeatList: z.record(z.string(), z.unknown()) });

/** The number 0 stands for a stretch without any beat. */
const BeatSchema = z.object({
  status: z.union([NumberSchema, z.unknown()]),
  time: UtcSchema,
  ping: NumberSchema.nullish().catch(null),
});

export const IncidentSchema = z.object({
  id: IdSchema,
  title: NameSchema,
  content: TextSchema,
  style: z.unknown().optional(),
  createdDate: UtcSchema,
  lastUpdatedDate: UtcSchema.nullish().catch(null),
});

/** Pinned incidents and those that were, the newest; since version 2. */
export const IncidentHistorySchema = z.object({ incidents: z.array(z.unknown()) });

const SlotSchema = z.object({ startDate: z.string(), endDate: z.string() });
const MaintenanceSchema = z.object({
  id: IdSchema,
  title: NameSchema,
  description: TextSchema,
  timezone: z.string().nullish().catch(null),
  timeslotList: z.array(SlotSchema).nullish().catch(null),
});

const SAMPLE = /^monitor_status\{(.*)\}\s+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)",?/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/** The samples of `monitor_status` in the Prometheus text format; a page that does not know that metric is no answer. */
export const MetricsSchema = z.string().transform((text, context) => {
  const lines = text.split('\n');
  if (!lines.some((line) => line.startsWith('# HELP monitor_status '))) {
    context.addIssue({ code: 'custom', message: 'there is no metric monitor_status' });
    return z.NEVER;
  }
  return lines.flatMap((line) => {
    const [, inside = '', value] = SAMPLE.exec(line) ?? [];
    if (value === undefined) return [];
    const labels = [...inside.matchAll(LABEL)].map(([, name = '', quoted = '']) => [
      name,
      quoted.replaceAll(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter),
    ]);
    return { labels: Object.fromEntries(labels) as Readonly<Record<string, string>>, value: Number(value) };
  });
});
/** Samples of the metric `monitor_status`. */
export type Metrics = z.output<typeof MetricsSchema>;

/** It failed and is tried again, so that nothing is decided. */
const PENDING = 2;

export const STATUS_STATES: ReadonlyMap<unknown, State> = new Map<unknown, State>([
  [0, 'major_outage'],
  [1, 'operational'],
  [PENDING, 'unknown'],
  [3, 'maintenance'],
]);

/** The monitors of all groups, sorted by id, with the states and response times of their beats. Never throws. */
export function projectPage(groups: readonly unknown[], heartbeats: Readonly<Record<string, unknown>>, origin: Origin) {
  const { upstreamId, problems } = origin;
  const history = createHistory(origin.now);
  let itemsTotal = groups.length;
  const project = ({ id: idThere, name, type, url }: z.output<typeof MonitorSchema>): Partial<MonitorObservation> => {
    const place = `heartbeatList.${idThere}`;
    const list = Object.hasOwn(heartbeats, idThere) ? heartbeats[idThere] : [];
    if (!Array.isArray(list)) problems.push({ kind: 'dropped', place, message: 'not a list of heartbeats' });
    const items: readonly unknown[] = Array.isArray(list) ? list.filter((item) => item !== 0 && item !== '0') : [list];
    itemsTotal += items.length;
    const read = Array.isArray(list) ? parseItems(BeatSchema, items, place, problems) : [];
    const beats = read.map(({ status, time, ping }): Measurement => {
      const state = stateFromCode(STATUS_STATES, status, `${place}.status`, problems);
      return { at: time, state, responseTimeMs: ping ?? null, isRetried: status === PENDING };
    });
    const state = history.add(toMonitorId(upstreamId, idThere), beats, read.length === items.length);
    return { name, kind: type ?? 'monitor', target: url, state };
  };
  const lists = groups.flatMap((group, index) => {
    const place = `publicGroupList[${index}]`;
    const items = parseItem(GroupSchema, group, place, problems)?.monitorList ?? [];
    itemsTotal += items.length;
    const about = { kind: 'monitor', isPublic: true, schema: MonitorSchema, project };
    return { ...about, items, place: `${place}.monitorList` };
  });
  const monitors = projectMonitorLists(origin, lists);
  return { monitors, details: history.detailsOf(monitors), changedAt: history.changedAt, itemsTotal };
}

/**
 * Monitors that are on no page, by their metric: never public. Version 1 gives them no id; its name is one then.
 *
 * @param shown  ids and names of the monitors of the page
 */
export function projectMetrics(
  metrics: Metrics,
  shown: ReadonlySet<string>,
  { upstreamId, problems }: Origin,
): MonitorObservation[] {
  return metrics.flatMap(({ labels, value }): MonitorObservation | [] => {
    const name = labels['monitor_name'] ?? '';
    const id = labels['monitor_id'] ?? name;
    if (id === '' || shown.has(id) || (labels['monitor_id'] === undefined && shown.has(name))) return [];
    const state = STATUS_STATES.get(value);
    if (state === undefined) problems.push(unknownWord(`metrics.${id.slice(0, 60)}`, String(value)));
    return {
      ...unknownMonitor(upstreamId, id.slice(0, 200), labels['monitor_type'] ?? 'monitor'),
      name: name === '' ? id : name.slice(0, 500),
      state: state ?? 'unknown',
      isPublic: false,
    };
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

interface PageOrigin extends Origin {
  /** All monitors of the page. */
  readonly monitors: readonly MonitorId[];
}

/**
 * Incidents that are pinned, and those that were. One that was open and isn't pinned any more is over when the history says, or
 * as of now where that says nothing of it. Never throws.
 *
 * @param history  the newest incidents, pinned or not; empty where it was not read
 * @param open     what is known of those that were open, by id there
 */
export function projectIncidents(
  { incidents, incident }: Page,
  history: readonly unknown[],
  open: ReadonlyMap<string, Incident>,
  { upstreamId, monitors, now, problems }: PageOrigin,
) {
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
export function projectMaintenances({ maintenanceList }: Page, origin: PageOrigin): Maintenance[] {
  const { upstreamId, monitors, problems } = origin;
  const items = parseItems(MaintenanceSchema, maintenanceList, 'maintenanceList', problems);
  const windows = items.flatMap(({ id, title, description, timezone, timeslotList }) =>
    (timeslotList ?? []).flatMap(({ startDate, endDate }): Maintenance | [] => {
      const [startsAt, endsAt] = [startDate, endDate].map((text) => parseInstant(text, timezone ?? 'UTC'));
      if (startsAt == null || endsAt == null || endsAt <= startsAt) {
        problems.push(note(`maintenanceList.${id}`, 'one of its windows is unreadable'));
        return [];
      }
      return createMaintenance({
        id: `${upstreamId}/maintenance/${id}/${startsAt}`,
        ...{ title, startsAt, endsAt, monitors },
        ...(description === null ? {} : { body: description }),
        covers: false,
      });
    }),
  );
  return uniqueById(windows, problems);
}
