/**
 * What monitors of UptimeRobot mean, and what their logs tell of the past. Credentials that monitors are checked with are not
 * named here, so they are never kept.
 */

import { z } from 'zod';
import {
  type MonitorDetail,
  type MonitorId,
  type MonitorObservation,
  type Problem,
  toMonitorId,
} from '../../../model/observation.ts';
import type { Span } from '../../../model/overlap.ts';
import type { State } from '../../../model/state.ts';
import { type EpochMs, SECOND_MS, toEpochMs } from '../../../model/time.ts';
import type { PullContext } from '../../connector.ts';
import { note, parseItems, projectMonitorLists } from '../items.ts';
import { createDetail, toSpans } from '../measurements.ts';
import { CountSchema, IdSchema, NameSchema, NumberSchema, stateFromCode, toLink } from '../wire.ts';

/** 2100: what is later is a mistake. */
const SECONDS_MAX = 4_102_444_800;
/** Seconds since 1970. */
const SecondsSchema = NumberSchema.pipe(z.number().min(0).max(SECONDS_MAX)).transform(
  (seconds): EpochMs => toEpochMs(Math.round(seconds * SECOND_MS)),
);

/** What is refused comes with status 200 as well. */
export const MonitorsAnswerSchema = z.union([
  z.object({
    stat: z.literal('ok'),
    pagination: z.object({ total: CountSchema }).nullish().catch(null),
    monitors: z.array(z.unknown()),
  }),
  z.object({
    stat: z.literal('fail'),
    error: z.object({ type: z.string(), message: z.string().nullish().catch(null) }),
  }),
]);
export type MonitorsAnswer = z.output<typeof MonitorsAnswerSchema>;

const MonitorSchema = z.object({
  id: IdSchema,
  friendly_name: NameSchema,
  url: z.string().nullish().catch(null).transform(toLink),
  type: NumberSchema.nullish().catch(null),
  status: z.union([NumberSchema, z.unknown()]).optional(),
  create_datetime: SecondsSchema.nullish().catch(null),
  logs: z.array(z.unknown()).nullish().catch(null),
});

const LogSchema = z.object({
  type: NumberSchema,
  datetime: SecondsSchema,
  duration: NumberSchema.pipe(z.number().min(0)),
});
type Log = z.output<typeof LogSchema>;

/** 8, "seems down", is tried again before it counts. */
export const STATUS_STATES: ReadonlyMap<unknown, State> = new Map<unknown, State>([
  [0, 'paused'],
  [1, 'unknown'],
  [2, 'operational'],
  [8, 'unknown'],
  [9, 'major_outage'],
]);

const KINDS: ReadonlyMap<unknown, string> = new Map([
  [1, 'http'],
  [2, 'keyword'],
  [3, 'ping'],
  [4, 'port'],
  [5, 'heartbeat'],
]);

const LOG_STATES: ReadonlyMap<number, State> = new Map([
  [1, 'major_outage'],
  [2, 'operational'],
  [98, 'operational'],
  [99, 'paused'],
]);

/** Monitors sorted by id, with the past of those whose logs came. Never throws. */
export function projectMonitors(items: readonly unknown[], { upstreamId, now }: PullContext) {
  const problems: Problem[] = [];
  const details = new Map<MonitorId, MonitorDetail>();
  const project = (one: z.output<typeof MonitorSchema>, place: string): Partial<MonitorObservation> => {
    const state = stateFromCode(STATUS_STATES, one.status, `${place}.status`, problems);
    if (one.logs != null) {
      const entries = parseItems(LogSchema, one.logs, '');
      const unread = one.logs.length - entries.length;
      if (unread > 0) problems.push(note(`${place}.logs`, `${unread} entries are unreadable`));
      const id = toMonitorId(upstreamId, one.id);
      details.set(id, projectLogs(id, entries, now));
    }
    const kind = KINDS.get(one.type) ?? 'monitor';
    return { name: one.friendly_name, kind, target: one.url, state, createdAt: one.create_datetime ?? null };
  };
  const list = { place: 'monitors', items, kind: 'monitor', schema: MonitorSchema, project };
  const monitors = projectMonitorLists({ upstreamId, problems }, [list]);
  return { monitors, details: monitors.flatMap(({ id }) => details.get(id) ?? []), problems };
}

/** Each entry of a log begins a state and says how long it lasted; it ends with the next at the latest. */
function projectLogs(id: MonitorId, logs: readonly Log[], now: EpochMs): MonitorDetail {
  const inOrder = logs.filter(({ datetime }) => datetime < now).toSorted((a, b) => a.datetime - b.datetime);
  const pieces = inOrder.map(({ type, datetime, duration }, index): Span => {
    const next = inOrder[index + 1]?.datetime ?? now;
    const to = toEpochMs(Math.min(datetime + duration * SECOND_MS, next, now));
    return { state: LOG_STATES.get(type) ?? 'unknown', from: datetime, to };
  });
  return createDetail(id, now, { reportedSpans: toSpans(pieces) });
}
