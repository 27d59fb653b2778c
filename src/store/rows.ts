/**
 * Parses stored documents back into observations, and reads the stored past of monitors in few statements. A row that does not
 * parse is STORE_CORRUPT: a bug or a damaged disk.
 */

import { z } from 'zod';
import { StatusError } from '../errors.ts';
import {
  ACCESS_TYPES,
  ANNOUNCEMENT_LEVELS,
  type Announcement,
  FREQUENCIES,
  INCIDENT_IMPACTS,
  INCIDENT_STATUSES,
  type Incident,
  type Maintenance,
  type MonitorId,
  type MonitorObservation,
  type NotificationChannel,
  type PageDefinition,
  type ResponseTime,
  THEMES,
  type UpstreamUptime,
} from '../model/observation.ts';
import type { ReportedDay, Span } from '../model/overlap.ts';
import type { PageKey } from '../model/slugs.ts';
import { STATES, type State } from '../model/state.ts';
import type { Day, EpochMs } from '../model/time.ts';
import { inParts, type Reader, type SqlValue, type Values } from './database.ts';

const InstantSchema = z.number().int() as unknown as z.ZodType<EpochMs>;
const MonitorIdSchema = z.string() as unknown as z.ZodType<MonitorId>;
const OwnerSchema = z.object({ page: z.string() as unknown as z.ZodType<PageKey>, isPrivate: z.boolean() });
const StateSchema = z.enum(STATES);
const AffectedSchema = z.object({ id: z.string(), state: StateSchema.nullable() });
const TranslatedSchema = z.record(z.string(), z.string()).exactOptional();

const UpdateSchema = z.object({
  id: z.string(),
  at: InstantSchema,
  status: z.string().nullable(),
  body: z.string(),
  bodies: TranslatedSchema,
  impacts: z.array(AffectedSchema).exactOptional(),
  notify: z.literal(false).exactOptional(),
});

const MonitorSchema: z.ZodType<MonitorObservation> = z.object({
  id: MonitorIdSchema,
  name: z.string(),
  description: z.string().nullable(),
  kind: z.string(),
  target: z.string().nullable(),
  state: StateSchema,
  isPublic: z.boolean().nullable(),
  createdAt: InstantSchema.nullable(),
});

const IncidentSchema: z.ZodType<Incident> = z.object({
  id: z.string(),
  title: z.string(),
  titles: TranslatedSchema,
  status: z.enum(INCIDENT_STATUSES),
  impact: z.enum(INCIDENT_IMPACTS),
  startedAt: InstantSchema,
  endedAt: InstantSchema.nullable(),
  monitors: z.array(MonitorIdSchema),
  components: z.array(AffectedSchema),
  pages: z.array(z.string()).nullable(),
  affectedState: StateSchema.nullable(),
  isOutage: z.boolean(),
  updates: z.array(UpdateSchema),
  isOverride: z.literal(true).exactOptional(),
  affectsUptime: z.boolean().exactOptional(),
  bornAt: InstantSchema.exactOptional(),
  owner: OwnerSchema.exactOptional(),
});

const RecurrenceSchema = z.object({
  rule: z.string(),
  every: z.enum(FREQUENCIES),
  interval: z.number(),
  weekdays: z.array(z.number()),
  windows: z.array(z.object({ from: InstantSchema, to: InstantSchema })),
});

const MaintenanceSchema: z.ZodType<Maintenance> = z.object({
  id: z.string(),
  title: z.string(),
  titles: TranslatedSchema,
  startsAt: InstantSchema,
  endsAt: InstantSchema,
  announcedFor: InstantSchema.exactOptional(),
  monitors: z.array(MonitorIdSchema),
  components: z.array(z.string()),
  pages: z.array(z.string()).nullable(),
  updates: z.array(UpdateSchema),
  body: z.string().exactOptional(),
  bodies: TranslatedSchema,
  repeats: RecurrenceSchema.exactOptional(),
  covers: z.literal(false).exactOptional(),
  notify: z.literal(false).exactOptional(),
  bornAt: InstantSchema.exactOptional(),
  owner: OwnerSchema.exactOptional(),
});

const AnnouncementSchema: z.ZodType<Announcement> = z.object({
  id: z.string(),
  title: z.string(),
  titles: TranslatedSchema,
  body: z.string(),
  bodies: TranslatedSchema,
  level: z.enum(ANNOUNCEMENT_LEVELS),
  from: InstantSchema,
  to: InstantSchema.nullable(),
  pages: z.array(z.string()).nullable(),
  owner: OwnerSchema.exactOptional(),
});

const PageDefinitionSchema: z.ZodType<PageDefinition> = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  homepageUrl: z.string().nullable(),
  contactUrl: z.string().nullable(),
  icon: z.string().nullable(),
  customDomain: z.string().nullable(),
  access: z.enum(ACCESS_TYPES),
  emailDomains: z.array(z.string()),
  published: z.boolean(),
  theme: z.enum(THEMES),
  groups: z.array(
    z.object({ id: z.string(), name: z.string(), order: z.number(), defaultOpen: z.boolean().optional() }),
  ),
  components: z.array(
    z.object({
      id: z.string(),
      type: z.enum(['monitor', 'static']),
      monitor: MonitorIdSchema.nullable(),
      name: z.string().nullable(),
      description: z.string().nullable(),
      showsDetails: z.boolean().exactOptional(),
      groupId: z.string().nullable(),
      order: z.number(),
      groupOrder: z.number(),
    }),
  ),
  presentation: z
    .object({
      allowIndex: z.boolean().optional(),
      locale: z.string().optional(),
      locales: z.array(z.string()).optional(),
      showUptime: z.boolean().optional(),
      showsAllPlaced: z.boolean().optional(),
    })
    .optional(),
});

const ChannelSchema: z.ZodType<NotificationChannel> = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  monitors: z.array(MonitorIdSchema).nullable(),
});

const UpstreamUptimeSchema: z.ZodType<UpstreamUptime> = z.object({
  periodDays: z.number().nullable(),
  checksTotal: z.number().nullable(),
  checksUp: z.number().nullable(),
  uptimeRatio: z.number().nullable(),
  responseTimeAverageMs: z.number().nullable(),
  places: z
    .array(
      z.object({ place: z.string(), at: InstantSchema, state: StateSchema, responseTimeMs: z.number().nullable() }),
    )
    .exactOptional(),
  certificateEndsAt: InstantSchema.exactOptional(),
});

export const parseMonitor = documentParser('monitor', MonitorSchema);
export const parseIncident = documentParser('incident', IncidentSchema);
export const parseMaintenance = documentParser('maintenance', MaintenanceSchema);
export const parseAnnouncements = documentParser('announcements', z.array(AnnouncementSchema));
export const parseDefinitions = documentParser('page definitions', z.array(PageDefinitionSchema));
export const parseChannels = documentParser('notification channels', z.array(ChannelSchema));
const parseUpstreamUptime = documentParser('uptime', UpstreamUptimeSchema.nullable());

/** An instant column; null stays null. */
export function parseInstant(value: unknown): EpochMs | null {
  return value === null || value === undefined ? null : (Number(value) as EpochMs);
}

export function documentParser<T>(what: string, schema: z.ZodType<T>): (text: unknown) => T {
  return (text) => {
    try {
      return schema.parse(JSON.parse(String(text)));
    } catch (cause) {
      throw new StatusError({
        code: 'STORE_CORRUPT',
        message: `A stored ${what} is unreadable. Restore a backup, or move the database aside to rebuild it from the upstreams.`,
        cause,
      });
    }
  };
}

const STATE_BY_NAME: ReadonlyMap<string, State> = new Map(STATES.map((state) => [state, state]));

interface Draft {
  observed: Span[];
  reported: Span[];
  reportedDays: ReportedDay[];
  responseTimes: ResponseTime[];
  uptime: UpstreamUptime | null;
}

/**
 * Everything about `ids` that reaches past `from`; lists sorted by time; one entry per id, empty if nothing is known.
 */
export async function readPasts(reader: Reader, ids: readonly MonitorId[], from: EpochMs) {
  const drafts = new Map<MonitorId, Draft>();
  for (const id of ids)
    drafts.set(id, { observed: [], reported: [], reportedDays: [], responseTimes: [], uptime: null });
  for (const some of inParts(ids)) await readSome(reader, some, from, drafts);
  return drafts;
}

async function readSome(
  reader: Reader,
  ids: readonly MonitorId[],
  from: EpochMs,
  drafts: ReadonlyMap<MonitorId, Draft>,
): Promise<void> {
  const list = ids.map(() => '?').join(', ');
  const fromDay = new Date(from).toISOString().slice(0, 10);
  const each = async (sql: string, params: readonly SqlValue[], take: (draft: Draft, row: Values) => void) => {
    for (const row of await reader.lists(sql, params)) {
      const draft = drafts.get(String(row[0]) as MonitorId);
      if (draft !== undefined) take(draft, row);
    }
  };

  await each(
    `SELECT span.monitor, span.state, span.from_at, COALESCE(span.to_at, upstream.monitors_at)
     FROM span JOIN monitor ON monitor.id = span.monitor JOIN upstream ON upstream.id = monitor.upstream
     WHERE span.monitor IN (${list}) AND (span.to_at IS NULL OR span.to_at > ?) ORDER BY span.monitor, span.from_at`,
    [...ids, from],
    ({ observed }, row) => observed.push(toSpan(row)),
  );
  await each(
    `SELECT monitor, state, from_at, to_at FROM reported_span WHERE monitor IN (${list}) AND to_at > ? ORDER BY monitor, from_at`,
    [...ids, from],
    ({ reported }, row) => reported.push(toSpan(row)),
  );
  await each(
    `SELECT monitor, day, operational, degraded, major_outage FROM reported_day
     WHERE monitor IN (${list}) AND day >= ? ORDER BY monitor, day`,
    [...ids, fromDay],
    ({ reportedDays }, [, day, operational, degraded, majorOutage]) =>
      reportedDays.push({
        day: String(day) as Day,
        operational: Number(operational),
        degraded: Number(degraded),
        major_outage: Number(majorOutage),
      }),
  );
  await each(
    `SELECT monitor, at, ms FROM response_time WHERE monitor IN (${list}) AND at > ? ORDER BY monitor, at`,
    [...ids, from],
    ({ responseTimes }, [, at, ms]) => responseTimes.push({ at: Number(at) as EpochMs, ms: Number(ms) }),
  );
  await each(`SELECT monitor, uptime FROM detail WHERE monitor IN (${list})`, ids, (draft, [, uptime]) => {
    draft.uptime = parseUpstreamUptime(uptime ?? 'null');
  });
}

function toSpan([monitor, name, from, to]: Values): Span {
  // Shared strings: the row's own would stay in memory as long as the span.
  const state = STATE_BY_NAME.get(String(name));
  if (state === undefined) {
    throw new StatusError({
      code: 'STORE_CORRUPT',
      message: `A stored span of ${String(monitor)} has the unknown state ${String(name)}. Restore a backup, or move the database aside to rebuild it from the upstreams.`,
    });
  }
  return { state, from: Number(from) as EpochMs, to: Number(to) as EpochMs };
}
