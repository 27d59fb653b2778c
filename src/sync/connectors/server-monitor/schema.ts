/** What the server-monitor API answers: strict about the envelope, lenient about items; only fields that we read. */

import { z } from 'zod';
import type { MonitorObservation, Problem } from '../../../model/observation.ts';
import { ask, type Pull, type Query } from '../../connector.ts';
import { idIn, itemKey, note } from '../items.ts';
import {
  BaseUrlSchema,
  CountSchema,
  endpointAddress,
  FlagSchema,
  IdSchema,
  ListSchema,
  NameSchema,
  NumberSchema,
  parseInstant,
  SecretSchema,
  TextSchema,
  unknownWord,
} from '../wire.ts';

/** The data of a success: `{ success: true, data }`. A 200 that says `success: false` is no answer. */
function envelope<T>(data: z.ZodType<T>) {
  return z.object({ success: z.literal(true), data }).transform((answer) => answer.data);
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

type StatusAnswer = z.output<typeof StatusAnswerSchema>;

/** `+02:00` of a time that ends with it; `+00:00` for Z. */
export function utcOffset(timestamp: string): string {
  const [, hours = '+00', minutes = '00'] = OFFSET.exec(timestamp) ?? [];
  return `${hours}:${minutes}`;
}

const MonitorsAnswerSchema = envelope(z.object({ monitors: z.array(z.unknown()), count: z.unknown().optional() }));
type MonitorsAnswer = z.output<typeof MonitorsAnswerSchema>;

export const MonitorSchema = z.object({
  id: IdSchema,
  name: NameSchema,
  type: z.string().catch('monitor'),
  target: TextSchema,
  status: z.unknown().optional(),
  is_active: z.unknown().optional(),
  created_at: z.string().nullish(),
});

export const IncidentsAnswerSchema = envelope(
  z.object({
    incidents: z.array(z.unknown()),
    pagination: z.object({ total: CountSchema, total_pages: CountSchema.nullish() }),
  }),
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
export const LOG_TIME_FIELDS = 'checked_at created_at timestamp time date at'.split(' ');
export const LOG_MS_FIELDS = 'response_time response_time_ms responseTime latency duration_ms ms'.split(' ');

export const TestAnswerSchema = envelope(z.object({ client_id: IdSchema.nullish().catch(null) }));

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
      ...(item.monitor_id == null ? [] : [item.monitor_id]),
      ...item.monitors.flatMap((monitor) => IdSchema.safeParse(monitor).data ?? idIn(monitor) ?? []),
    ],
  }));

// How questions are put to the server monitor, and the states of all monitors: the list, held against what `/status`
// counts.

export const OptionsSchema = z.strictObject({
  baseUrl: BaseUrlSchema.describe('Address of the API, without /status.'),
  apiKey: SecretSchema.describe('API key, as ${NAME} or ${file:…}.'),
  auth: z
    .enum(['x-api-key', 'bearer'])
    .default('x-api-key')
    .describe('How the key is sent: in the header X-API-Key, or as Authorization: Bearer.'),
  type: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Only monitors of this type, as named by the upstream. Default: all.'),
  compareStatus: z
    .boolean()
    .default(true)
    .describe('Compare the counts in /status with the list. While they differ, monitors that are up show as unknown.'),
  timezone: z
    .string()
    .refine((zone) => parseInstant('2026-01-01T00:00:00', zone) !== null, 'an IANA time zone')
    .optional()
    .describe('Time zone (IANA) of times without an offset. Default: the offset of the response’s timestamp.'),
  maintenance: z.boolean().default(false).describe('Also read /maintenance, which is undocumented and may be missing.'),
});
export type Options = z.output<typeof OptionsSchema>;

/** One read of the API, the key in its header. */
export function query<T>(
  { baseUrl, auth, apiKey }: Options,
  path: string,
  asked: Pick<Query<T>, 'name' | 'priority' | 'schema'>,
  search?: Parameters<typeof endpointAddress>[2],
): Query<T> {
  return {
    ...asked,
    url: endpointAddress(baseUrl, path, search),
    headers: auth === 'bearer' ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey },
  };
}

const WORDS = ['up', 'down', 'pending', 'paused'] as const;

/** Reads both, and both again when they differ, since a state may change in between. */
export function* readStates(options: Options): Pull<Comparison & { status: StatusAnswer; items: readonly unknown[] }> {
  const first = yield* readOnce(options);
  return first.isDifferent ? yield* readOnce(options) : first;
}

function* readOnce(options: Options): ReturnType<typeof readStates> {
  const status = yield* ask(query(options, '/status', { name: 'status', schema: StatusAnswerSchema }));
  const search = options.type === undefined ? {} : { type: options.type };
  const listed = yield* ask(
    query(options, '/monitors', { name: 'list monitors', schema: MonitorsAnswerSchema }, search),
  );
  // The summary counts all monitors, and these are some of them.
  const isPartial = options.type !== undefined || !options.compareStatus;
  const compared = isPartial ? NO_DIFFERENCE : compare(status.payload, listed.payload);
  return { status: status.payload, items: listed.payload.monitors, ...compared };
}

/** What is well as unknown, where that cannot be relied on. */
export function withoutWellness(monitors: readonly MonitorObservation[]): MonitorObservation[] {
  return monitors.map((monitor) => (monitor.state === 'operational' ? { ...monitor, state: 'unknown' } : monitor));
}

/** `isContradicted`: the summary knows of trouble, or of monitors, that the list lacks: nothing of the list is taken to be well. */
type Comparison = Readonly<ReturnType<typeof compare>>;

const NO_DIFFERENCE: Comparison = { problems: [], isDifferent: false, isContradicted: false };

function compare({ status }: StatusAnswer, { monitors, count }: MonitorsAnswer) {
  const problems: Problem[] = [];
  const differences: Problem[] = [];
  let isContradicted = false;
  const differs = (place: string, message: string, hides: boolean): void => {
    differences.push(note(place, message));
    isContradicted ||= hides;
  };
  const countIn = (place: string, value: unknown): number | null => {
    const parsed = CountSchema.nullish().safeParse(value);
    if (!parsed.success) problems.push(note(place, 'not a number, so the counts were not compared'));
    return parsed.data ?? null;
  };
  const items = [...new Map(monitors.map((item) => [itemKey(item), item])).values()];
  for (const [place, value] of [
    ['monitors.count', count],
    ['status.total', status.total],
  ] as const) {
    const count = countIn(place, value);
    if (count !== null && count !== items.length && count !== monitors.length)
      differs(place, `counts ${count}, the list has ${items.length}`, true);
  }
  const readings = countStates(items);
  for (const word of WORDS) {
    const told = countIn(`status.${word}`, status[word]);
    if (told === null || readings.some((counts) => counts[word] === told)) continue;
    const most = Math.max(...readings.map((counts) => counts[word]));
    const isTrouble = word === 'down' || word === 'pending';
    differs(`status.${word}`, `counts ${told}, the list has ${most}`, isTrouble && told > most);
  }
  const overall = status.overall_status ?? 'unsaid';
  if (overall === 'degraded' && readings.every(({ down, pending }) => down + pending === 0))
    differs('status.overall_status', 'says degraded, but no monitor in the list is down or pending', true);
  else if (overall === 'operational' && readings.every(({ down }) => down > 0))
    differs('status.overall_status', 'says operational, but monitors in the list are down', false);
  else if (!['operational', 'degraded', 'unsaid'].includes(String(overall)))
    problems.push(unknownWord('status.overall_status', overall));
  return { problems: [...problems, ...differences], isDifferent: differences.length > 0, isContradicted };
}

/** How many items have each word. Whether one that is not active counts as paused or by its word is not documented. */
function countStates(items: readonly unknown[]): readonly Readonly<Record<(typeof WORDS)[number], number>>[] {
  return [true, false].map((pausesInactive) => {
    const counts = { up: 0, down: 0, pending: 0, paused: 0 };
    for (const item of items) {
      const { status, is_active: active } = (item ?? {}) as { status?: unknown; is_active?: unknown };
      const isPaused = pausesInactive && FlagSchema.safeParse(active).data === false;
      const word = isPaused ? 'paused' : WORDS.find((known) => known === status);
      if (word !== undefined) counts[word] += 1;
    }
    return counts;
  });
}
