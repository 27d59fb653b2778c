/** What monitors of UptimeRobot mean, and what their logs tell of the past. */

import type { MonitorDetail, MonitorObservation, Problem } from '../../../model/observation.ts';
import type { Span } from '../../../model/span.ts';
import type { State } from '../../../model/state.ts';
import { type EpochMs, SECOND_MS, toEpochMs } from '../../../model/time.ts';
import { note, parseItems, projectMonitorLists, unknownMonitor } from '../items.ts';
import { unknownWord } from '../wire.ts';
import { ID_FIELD, type Log, LogSchema, type Monitor, MonitorSchema } from './schema.ts';

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
export function projectMonitors(
  items: readonly unknown[],
  { upstreamId, now }: { readonly upstreamId: string; readonly now: EpochMs },
): { monitors: MonitorObservation[]; details: MonitorDetail[]; problems: Problem[] } {
  const details = new Map<string, MonitorDetail>();
  const { monitors, problems } = projectMonitorLists<Monitor>([
    {
      place: 'monitors',
      items,
      schema: MonitorSchema,
      idField: ID_FIELD,
      project: (one, place) => {
        const state = STATUS_STATES.get(one.status);
        const monitor: MonitorObservation = {
          ...unknownMonitor(upstreamId, one.id, KINDS.get(one.type) ?? 'monitor'),
          name: one.friendly_name,
          target: one.url,
          state: state ?? 'unknown',
          createdAt: one.create_datetime ?? null,
        };
        const told: Problem[] = state === undefined ? [unknownWord(`${place}.status`, one.status)] : [];
        if (one.logs != null) {
          const { items: entries, problems: unread } = parseItems(LogSchema, one.logs, `${place}.logs`);
          details.set(monitor.id, pastOf(monitor, entries, now));
          if (unread.length > 0) told.push(note(`${place}.logs`, `${unread.length} entries are unreadable`));
        }
        return { monitor, problems: told };
      },
      placeholder: (externalId) => unknownMonitor(upstreamId, externalId, 'monitor'),
    },
  ]);
  return { monitors, details: monitors.flatMap(({ id }) => details.get(id) ?? []), problems };
}

/** Each entry of a log begins a state and says how long it lasted; it ends with the next at the latest. */
function pastOf({ id }: MonitorObservation, logs: readonly Log[], now: EpochMs): MonitorDetail {
  const inOrder = logs.filter(({ datetime }) => datetime < now).toSorted((a, b) => a.datetime - b.datetime);
  const reportedSpans = inOrder.flatMap(({ type, datetime, duration }, index): Span[] => {
    const state = LOG_STATES.get(type);
    const next = inOrder[index + 1]?.datetime ?? now;
    const to = toEpochMs(Math.min(datetime + duration * SECOND_MS, next, now));
    return state === undefined || to <= datetime ? [] : [{ state, from: datetime, to }];
  });
  return { id, fetchedAt: now, uptime: null, responseTimes: [], reportedSpans, reportedDays: [] };
}
