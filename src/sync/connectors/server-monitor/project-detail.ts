/** What the detail of one monitor means: figures, response times, and the time before our first look. */

import {
  type Incident,
  type MonitorDetail,
  type MonitorId,
  type ResponseTime,
  toMonitorId,
  type UpstreamUptime,
} from '../../../model/observation.ts';
import type { Span } from '../../../model/span.ts';
import { DAY_MS, type EpochMs, type Interval, toEpochMs } from '../../../model/time.ts';
import { NumberSchema, parseInstant } from '../wire.ts';
import type { Origin } from './project.ts';
import { LOG_MS_FIELDS, LOG_TIME_FIELDS, LogRecordSchema, type MonitorAnswer, type Uptime } from './schema.ts';

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
  return {
    id: toMonitorId(origin.upstreamId, monitor.id),
    fetchedAt: facts.fetchedAt,
    // Of no checks at all the figures are zeros that mean nothing.
    uptime: uptime === null || uptime.total_checks === 0 ? null : projectUptime(uptime),
    responseTimes: projectLogs(monitor.logs ?? answer.data.logs ?? [], origin.zone),
    reportedSpans:
      uptime === null || facts.outages === null
        ? []
        : reportedSpans(uptime, { createdAt, now: facts.fetchedAt, outages: facts.outages }),
    reportedDays: [],
  };
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
