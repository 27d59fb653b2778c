/** What a page of Uptime Kuma and its beats mean: each monitor is in the state of its newest beat, while that is new. */

import type { MonitorDetail, MonitorObservation, Problem } from '../../../model/observation.ts';
import type { Span } from '../../../model/span.ts';
import { combinedState, type State } from '../../../model/state.ts';
import { type EpochMs, HOUR_MS, MINUTE_MS, toEpochMs } from '../../../model/time.ts';
import { note, parseItem, parseItems, projectMonitorLists, unknownMonitor } from '../items.ts';
import { unknownWord } from '../wire.ts';
import { type Beat, BeatSchema, GroupSchema, ID_FIELD, type Metric, type Monitor, MonitorSchema } from './schema.ts';

/** Pending: it failed and is tried again, so that nothing is decided. */
export const STATUS_STATES: ReadonlyMap<unknown, State> = new Map<unknown, State>([
  [0, 'major_outage'],
  [1, 'operational'],
  [2, 'unknown'],
  [3, 'maintenance'],
]);

/** A beat holds for as many of its intervals … */
const INTERVALS_MAX = 3;
/** … and for what its answer is cached there and kept here. */
const CACHED_MS = 3 * MINUTE_MS;
/** The interval of a monitor that has had one beat only. */
const INTERVAL_DEFAULT_MS = MINUTE_MS;
/** The longest that it can be set to and still be told from a monitor that stopped. */
const INTERVAL_MAX_MS = 24 * HOUR_MS;
/** A beat further ahead is of another zone or a wrong clock. */
const AHEAD_MAX_MS = 5 * MINUTE_MS;

/** The beats of one monitor. */
interface Pulse {
  readonly state: State;
  /** Oldest first. */
  readonly beats: readonly Beat[];
  readonly intervalMs: number;
  readonly problems: readonly Problem[];
  readonly itemsTotal: number;
}

function stateOfBeat({ status }: Pick<Beat, 'status'>): State | null {
  return STATUS_STATES.get(status) ?? null;
}

/** Beats that cannot all be read tell nothing: the newest may be among them. */
function pulseOf(list: unknown, place: string, now: EpochMs): Pulse {
  const items = Array.isArray(list) ? list.filter((item) => item !== 0 && item !== '0') : [];
  const { items: read, problems } = parseItems(BeatSchema, items, place);
  const beats = read.toSorted((a, b) => a.time - b.time);
  const newest = beats.at(-1);
  const silent = { state: 'unknown' as const, beats, intervalMs: intervalOf(beats), itemsTotal: items.length };
  if (list !== undefined && !Array.isArray(list))
    return { ...silent, itemsTotal: 1, problems: [{ kind: 'dropped', place, message: 'not a list of beats' }] };
  if (problems.length > 0 || newest === undefined) return { ...silent, problems };
  const state = combinedState(
    beats.filter(({ time }) => time === newest.time).map((beat) => stateOfBeat(beat) ?? 'unknown'),
  );
  if (stateOfBeat(newest) === null) return { ...silent, problems: [unknownWord(`${place}.status`, newest.status)] };
  if (newest.time > now + AHEAD_MAX_MS)
    return { ...silent, problems: [note(place, 'its newest beat is in the future')] };
  if (now - newest.time > INTERVALS_MAX * silent.intervalMs + CACHED_MS) return { ...silent, problems: [] };
  return { ...silent, state, problems: [] };
}

/** The usual time between two beats: the middle one of the last twenty. */
function intervalOf(beats: readonly Beat[]): number {
  const gaps = beats
    .slice(-21)
    .map(({ time }, index, last) => time - (last[index - 1]?.time ?? time))
    .filter((gap) => gap > 0)
    .toSorted((a, b) => a - b);
  return Math.min(gaps[Math.floor(gaps.length / 2)] ?? INTERVAL_DEFAULT_MS, INTERVAL_MAX_MS);
}

export interface Projected {
  readonly monitors: readonly MonitorObservation[];
  /** Of each monitor: response times, and the states of its beats. */
  readonly details: readonly MonitorDetail[];
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
  const told: Problem[] = [];
  let itemsTotal = groups.length;
  const lists = groups.flatMap((group, index) => {
    const place = `publicGroupList[${index}]`;
    const parsed = parseItem(GroupSchema, group, place);
    if ('item' in parsed) return [{ items: parsed.item.monitorList, place: `${place}.monitorList` }];
    told.push(parsed.problem);
    return [];
  });
  const project = (monitor: Monitor): { monitor: MonitorObservation; problems: readonly Problem[] } => {
    const beats = Object.hasOwn(heartbeats, monitor.id) ? heartbeats[monitor.id] : undefined;
    const pulse = pulseOf(beats, `heartbeatList.${monitor.id}`, now);
    itemsTotal += pulse.itemsTotal;
    const observed: MonitorObservation = {
      ...unknownMonitor(upstreamId, monitor.id, monitor.type ?? 'monitor'),
      name: monitor.name,
      target: monitor.url,
      state: pulse.state,
      isPublic: true,
    };
    details.push(detailOf(observed, pulse, now));
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
    problems: [...told, ...problems],
    itemsTotal: lists.reduce((sum, { items }) => sum + items.length, itemsTotal),
  };
}

/** Each beat holds until the next, or for one interval where none came. */
function detailOf({ id }: MonitorObservation, { beats, intervalMs }: Pulse, now: EpochMs): MonitorDetail {
  const spans: Span[] = [];
  for (const [index, beat] of beats.entries()) {
    const state = stateOfBeat(beat) ?? 'unknown';
    const next = beats[index + 1]?.time ?? now;
    const to = toEpochMs(Math.min(next - beat.time > INTERVALS_MAX * intervalMs ? beat.time + intervalMs : next, now));
    if (state === 'unknown' || to <= beat.time) continue;
    const last = spans.at(-1);
    if (last?.to === beat.time && last.state === state) spans[spans.length - 1] = { ...last, to };
    else spans.push({ state, from: beat.time, to });
  }
  return {
    id,
    fetchedAt: now,
    uptime: null,
    responseTimes: beats.flatMap(({ time, ping }) =>
      ping === null || ping === undefined || ping < 0 || time > now ? [] : [{ at: time, ms: Math.round(ping) }],
    ),
    reportedSpans: spans,
    reportedDays: [],
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
