/** What the server-monitor API answers: strict about the envelope, lenient about items; only fields that we read. */

import { z } from 'zod';
import { CountSchema, IdSchema, ListSchema, NameSchema, NumberSchema, TextSchema } from '../wire.ts';

/** Names an item in every list. */
export const ID_FIELD = 'id';

/** Every success: `{ success: true, data }`. A 200 that says `success: false` is no answer. */
function envelope<T>(data: z.ZodType<T>) {
  return z.object({ success: z.literal(true), data });
}

/** The end of an ISO 8601 time: the offset that the answer's naive times are in. */
const OFFSET = /(?:[zZ]|([+-]\d\d):?(\d\d))$/;

export const StatusAnswerSchema = envelope(
  z.object({
    status: z.object({
      total: z.unknown().optional(),
      up: z.unknown().optional(),
      down: z.unknown().optional(),
      pending: z.unknown().optional(),
      paused: z.unknown().optional(),
      overall_status: z.unknown().optional(),
    }),
    active_incidents: ListSchema.catch([]),
    timestamp: z.string().regex(OFFSET, 'a time with its UTC offset'),
  }),
);

export type StatusAnswer = z.output<typeof StatusAnswerSchema>;

/** `+02:00` of a time that ends with it; `+00:00` for Z. */
export function offsetOf(timestamp: string): string {
  const found = OFFSET.exec(timestamp);
  return found?.[1] === undefined ? '+00:00' : `${found[1]}:${found[2]}`;
}

export const MonitorsAnswerSchema = envelope(
  z.object({ monitors: z.array(z.unknown()), count: z.unknown().optional() }),
);
export type MonitorsAnswer = z.output<typeof MonitorsAnswerSchema>;

export const MonitorSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  type: z.string().catch('monitor'),
  target: TextSchema,
  status: z.unknown().optional(),
  is_active: z.unknown().optional(),
  created_at: z.string().nullish(),
});
export type Monitor = z.output<typeof MonitorSchema>;

const PaginationSchema = z.object({
  total: CountSchema,
  current_page: CountSchema.nullish(),
  total_pages: CountSchema.nullish(),
});

export const IncidentsAnswerSchema = envelope(
  z.object({ incidents: z.array(z.unknown()), pagination: PaginationSchema }),
);
export type IncidentsAnswer = z.output<typeof IncidentsAnswerSchema>;

export const IncidentAnswerSchema = envelope(z.object({ incident: z.unknown() }));

export const IncidentSchema = z.object({
  id: IdSchema,
  monitor_id: IdSchema,
  started_at: z.string(),
  ended_at: z.string().nullish(),
  title: NameSchema.nullish().catch(null),
  monitor_name: NameSchema.nullish().catch(null),
  description: TextSchema.catch(null),
});
export type IncidentItem = z.output<typeof IncidentSchema>;

const UptimeSchema = z.object({
  period_days: NumberSchema.pipe(z.number().positive().max(3_660)),
  total_checks: CountSchema.nullish(),
  up_checks: CountSchema.nullish(),
  uptime_percentage: NumberSchema.pipe(z.number().min(0).max(100)).nullish(),
  avg_response_time: NumberSchema.pipe(z.number().nonnegative()).nullish(),
});
export type Uptime = z.output<typeof UptimeSchema>;

/** The shape of log records is not documented: anything is taken, and what can be read is read. */
const LogsSchema = z.array(z.unknown()).nullish().catch(null);

export const MonitorAnswerSchema = envelope(
  z.object({
    monitor: MonitorSchema.extend({ uptime: UptimeSchema.nullish().catch(null), logs: LogsSchema }),
    logs: LogsSchema,
  }),
);
export type MonitorAnswer = z.output<typeof MonitorAnswerSchema>;

/** Names under which log records of monitoring systems carry their time and duration, in the order they are tried. */
export const LOG_TIME_FIELDS = ['checked_at', 'created_at', 'timestamp', 'time', 'date', 'at'] as const;
export const LOG_MS_FIELDS = [
  'response_time',
  'response_time_ms',
  'responseTime',
  'latency',
  'duration_ms',
  'ms',
] as const;
export const LogRecordSchema = z.record(z.string(), z.unknown());

export const TestAnswerSchema = envelope(
  z.object({ message: z.string().catch(''), client_id: IdSchema.nullish().catch(null) }),
);

/** `/maintenance` is not documented; read only when asked for, and by any of the usual names. */
export const MaintenanceAnswerSchema = envelope(
  z.union([
    z.array(z.unknown()),
    z.object({ maintenance: z.array(z.unknown()) }).transform((data) => data.maintenance),
    z.object({ maintenances: z.array(z.unknown()) }).transform((data) => data.maintenances),
  ]),
);

export const MaintenanceSchema = z
  .object({
    id: IdSchema,
    title: NameSchema.optional(),
    name: NameSchema.optional(),
    description: TextSchema.catch(null),
    starts_at: z.string().optional(),
    started_at: z.string().optional(),
    start_time: z.string().optional(),
    ends_at: z.string().optional(),
    ended_at: z.string().optional(),
    end_time: z.string().optional(),
    monitor_id: IdSchema.nullish(),
    monitor_ids: z.array(IdSchema).nullish(),
    monitors: ListSchema,
  })
  .transform((item) => ({
    id: item.id,
    title: item.title ?? item.name ?? null,
    description: item.description,
    startsAt: item.starts_at ?? item.started_at ?? item.start_time ?? '',
    endsAt: item.ends_at ?? item.ended_at ?? item.end_time ?? '',
    monitorIds: [
      ...(item.monitor_ids ?? []),
      ...(item.monitor_id === undefined || item.monitor_id === null ? [] : [item.monitor_id]),
      ...item.monitors.flatMap((monitor) => {
        const id = z.union([IdSchema, z.object({ id: IdSchema }).transform((value) => value.id)]).safeParse(monitor);
        return id.success ? [id.data] : [];
      }),
    ],
  }));
export type MaintenanceItem = z.output<typeof MaintenanceSchema>;
